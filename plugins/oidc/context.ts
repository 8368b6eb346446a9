// The context that all endpoints of the plugin share: configuration, tables, and the way to the providers.
import { fail } from '../../core/base/errors.ts';
import type { EndpointCall } from '../../core/http/endpoint.ts';
import { onStrayError } from '../../core/base/async/last-resort.ts';
import type { PluginContext } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { type Sessions, sessionsService } from '../../core/plugin/services/sessions.ts';
import { type TransitKeys, transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import type { Config } from './config.ts';
import { openDestinations, ownListenersOf, type Destinations } from '../../core/outbound/destinations.ts';
import { fetchMetadata, MetadataCache, signInMetadata, type SignInMetadata } from '../../core/identity/discovery.ts';
import { judgeProviderError } from './provider/provider-errors.ts';
import { isLoopback, openOutbound, type Outbound } from '../../core/outbound/outbound.ts';
import { endSessions, endUngranted, type SessionsEnd } from './records/end-session.ts';
import { openTables, type Tables } from './records/tables.ts';
import type { Session } from './records/sign-ins.ts';
import type { NamedRole } from './records/role-record.ts';
import type { ServiceRecord } from './records/service-record.ts';
import { SetAsideTenants } from '../../core/outbound/set-aside.ts';

/** A tenant's service with its names. */
export type Located = {
  readonly tenantId: string;
  readonly tenantName: string;
  readonly service: string;
  readonly record: ServiceRecord;
};

export type Oidc = Pick<PluginContext<Config>, 'config' | 'store' | 'hsm' | 'clock' | 'log'> &
  Tables & {
    readonly accounts: Sessions;
    readonly transitKeys: TransitKeys;
    /** address of this appliance for people now: selects among a service's allowed-redirect-uris */
    readonly publicUrl: string;
    /** plain http to loopback hosts: as configured, else only if this appliance itself has a loopback address (R1) */
    readonly allowHttpLoopback: boolean;
    readonly destinations: Destinations;
    /** The service of a tenant; undefined for an unknown tenant and for an unknown service. */
    locate(tenantName: string, service: string): Located | undefined;
    /** Lists the roles in the order of names. */
    rolesOf(tenantId: string, service: string): readonly NamedRole[];
    /** Outbound calls with the service's trust: 15 s for all of them, or less within another Outbound. */
    openOutbound(located: Located, shorter?: { readonly totalSeconds: number; readonly within: Outbound }): Outbound;
    /** The provider's metadata, at most five minutes old. Throws LoginFailure. */
    metadataOf(located: Located, outbound: Outbound): Promise<SignInMetadata>;
    /** Makes the next login fetch the metadata again. */
    forgetMetadata(located: Located): void;
    /** The end of the sessions of a tenant that `applies` selects, with a change. */
    endSessions(tenantId: string, applies: (session: Session) => boolean): SessionsEnd;
    /** Ends the sessions of all tenants that services and roles no longer grant, because their end was interrupted. For the job. */
    endUngranted(signal: AbortSignal): Promise<void>;
  };

/** The id of no tenant. It is looked up for an unknown tenant, so that this takes as long as for a known one. */
export const noTenantId = '00000000-0000-0000-0000-000000000000';

export function makeOidc(context: PluginContext<Config>): Oidc {
  const { config, store, hsm, clock, log } = context;
  const { pendingLoginsPerAddress: perAddress, pendingLoginsPerTenant: perTenant, pendingLogins: inAll } = config;
  const tables = openTables(store, { perAddress, perTenant, inAll });
  const accounts = context.service(sessionsService);
  const listeners = context.service(listenersService);
  const destinations = openDestinations(config.providerHosts, ownListenersOf(listeners));
  const allowsHttpLoopback = (): boolean => config.allowHttpLoopback ?? isLoopback(new URL(listeners.managementUrl).hostname);
  const metadata = new MetadataCache<SignInMetadata>(clock);
  const setAside = new SetAsideTenants({ store, clock, log, component: 'oidc', table: tables.setAside });

  return {
    config,
    store,
    hsm,
    clock,
    log,
    accounts,
    transitKeys: context.service(transitKeysService),
    get publicUrl() {
      return listeners.managementUrl;
    },
    get allowHttpLoopback() {
      return allowsHttpLoopback();
    },
    destinations,
    ...tables,
    locate(tenantName, name) {
      const tenant = accounts.findTenant(tenantName);
      const record = tables.services.get([tenant?.id ?? noTenantId, name]);
      if (tenant === undefined || record === undefined) return undefined;
      return { tenantId: tenant.id, tenantName: tenant.name, service: name, record };
    },
    rolesOf: (tenantId, name) =>
      [...tables.roles.entries([tenantId, name])].map(([key, record]) => ({ name: String(key.at(-1)), ...record })),
    openOutbound({ tenantId, tenantName, service, record }, shorter) {
      onStrayError(() => setAside.add(tenantId, tenantName, service));
      const way = openOutbound({ trust: record, allowHttpLoopback: allowsHttpLoopback(), destinations, clock, ...shorter });
      return {
        ...way,
        async fetch(url, request) {
          setAside.requireNone(tenantId);
          return way.fetch(url, request);
        },
      };
    },
    async metadataOf(located, outbound) {
      try {
        return await metadata.get(cacheKeyOf(located), () => fetchMetadata(signInMetadata, located.record, outbound, allowsHttpLoopback()));
      } catch (error) {
        throw await judgeProviderError(error, 'discovery');
      }
    },
    forgetMetadata: (located) => metadata.forget(cacheKeyOf(located)),
    endSessions: (tenantId, applies) => endSessions({ store, accounts, sessions: tables.sessions }, tenantId, applies),
    endUngranted: (signal) => endUngranted({ store, accounts, ...tables }, signal),
  };
}

/** The service named in the path of an action; throws `not-found`. */
export function requireService(oidc: Oidc, call: EndpointCall): Located {
  const located = oidc.locate(call.caller.tenantName, call.params['name'] ?? '');
  if (located === undefined) throw fail('not-found', { detail: 'There is no such OIDC service.' });
  return located;
}

function cacheKeyOf({ tenantId, service, record }: Located): string {
  return `${tenantId} ${service} ${record.revision}`;
}
