// The context that all endpoints of the plugin share: configuration, tables, keys, and the way to the issuers.
import { onStrayError } from '../../core/base/async/last-resort.ts';
import { fail } from '../../core/base/errors.ts';
import type { EndpointCall } from '../../core/http/endpoint.ts';
import { openDestinations, ownListenersOf } from '../../core/outbound/destinations.ts';
import { isLoopback, openOutbound, type Outbound } from '../../core/outbound/outbound.ts';
import { SetAsideTenants } from '../../core/outbound/set-aside.ts';
import type { PluginContext } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { type Sessions, sessionsService } from '../../core/plugin/services/sessions.ts';
import type { Config } from './config.ts';
import { fetchKeys } from './keys/fetch-keys.ts';
import { IssuerKeys, type LocatedIssuer } from './keys/issuer-keys.ts';
import { openTables, type Tables } from './tables.ts';

export type Jwt = Pick<PluginContext<Config>, 'store' | 'clock' | 'log'> &
  Tables & {
    readonly accounts: Sessions;
    /** plain http to loopback hosts: as configured, else only if this appliance itself has a loopback address */
    readonly allowHttpLoopback: boolean;
    readonly issuerKeys: IssuerKeys;
    /** Outbound calls with the issuer's trust: 5 s for each, 15 s for all. */
    openOutbound(located: LocatedIssuer): Outbound;
    /** The issuer of a tenant; undefined without one. */
    locate(tenant: { readonly id: string; readonly name: string }, issuer: string): LocatedIssuer | undefined;
  };

export function makeJwt(context: PluginContext<Config>): Jwt {
  const { config, store, clock, log } = context;
  const tables = openTables(store);
  const accounts = context.service(sessionsService);
  const listeners = context.service(listenersService);
  const destinations = openDestinations(config.providerHosts, ownListenersOf(listeners));
  const allowsHttpLoopback = (): boolean => config.allowHttpLoopback ?? isLoopback(new URL(listeners.managementUrl).hostname);
  const setAside = new SetAsideTenants({ store, clock, log, component: 'jwt', table: tables.setAside });

  function open({ tenantId, tenantName, issuer, record }: LocatedIssuer): Outbound {
    onStrayError(() => setAside.add(tenantId, tenantName, issuer));
    const way = openOutbound({ trust: record, allowHttpLoopback: allowsHttpLoopback(), destinations, clock });
    return {
      ...way,
      async fetch(url, request) {
        setAside.requireNone(tenantId);
        return way.fetch(url, request);
      },
    };
  }
  const fetch = (located: LocatedIssuer) => fetchKeys(located.record, open(located), allowsHttpLoopback());

  return {
    store,
    clock,
    log,
    accounts,
    ...tables,
    get allowHttpLoopback() {
      return allowsHttpLoopback();
    },
    issuerKeys: new IssuerKeys({ store, clock, table: tables.keys, fetch }),
    openOutbound: open,
    locate({ id, name }, issuer) {
      const record = tables.issuers.get([id, issuer]);
      return record && { tenantId: id, tenantName: name, issuer, record };
    },
  };
}

/** The issuer named in the path of an action; throws `not-found`. */
export function requireIssuer(jwt: Jwt, { caller, params }: EndpointCall): LocatedIssuer {
  const located = jwt.locate({ id: caller.tenantId, name: caller.tenantName }, params['name'] ?? '');
  if (located === undefined) throw fail('not-found', { detail: 'There is no such JWT issuer.' });
  return located;
}

/** Tells whether workloads may log in by an issuer: one without roles needs no keys. */
export function hasRoles({ roles }: Pick<Jwt, 'roles'>, { tenantId, issuer }: LocatedIssuer): boolean {
  return Iterator.from(roles.keys([tenantId, issuer], { limit: 1 })).next().done !== true;
}
