// Additions of plugin `certificate-login` to the appliance, loaded by processes that serve.
import type { Job } from '../../core/base/context.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { openDestinations, closedRanges, ownListenersOf } from '../../core/outbound/destinations.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import type { Config } from './config.ts';
import type { Logins } from './context.ts';
import { dropExpired, endGrantOfCa, endGrantsOfCertificate, endRevoked } from './grants.ts';
import { explainEndpoint } from './login/explain.ts';
import { authorityOf } from './login/judge.ts';
import { loginEndpoint } from './login/login-endpoint.ts';
import { dropUnnamed, type ListTable, RevocationLists } from './revocation-lists.ts';
import { asks, Responders } from './responders.ts';
import type { RoleRecord } from './role-record.ts';
import { listsIn, roleResource } from './settings/role.ts';

/** The roles, the login, and what ends its tokens. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const { config, store, clock, log } = context;
  const table: ListTable = store.tenantTable('revocation-lists');
  const destinations = openDestinations(config.listHosts, ownListenersOf(context.service(listenersService)), { forbidden: closedRanges });
  const logins: Logins = {
    ...{ store, clock, log },
    accounts: context.service(sessionsService),
    authorities: context.service(certificateAuthorityService),
    roles: store.tenantTable('roles'),
    caGrants: store.tenantTable('ca-grants'),
    certificateGrants: store.tenantTable('certificate-grants'),
    lists: new RevocationLists({ store, clock, table, destinations }),
    responders: new Responders(clock, destinations),
  };
  logins.authorities.onEnd({
    revoked: (...certificate) => endGrantsOfCertificate(logins, ...certificate),
    removed: (...ca) => endGrantOfCa(logins, ...ca),
  });
  logins.authorities.attachLogin((tenantId, name) =>
    Iterator.from(logins.roles.entries([tenantId])).some(([, { trustCa }]) => trustCa === name),
  );
  const sweep: Job = {
    name: 'certificate-login: drop what has expired',
    everySeconds: 3_600,
    run: (signal) => dropExpired(logins, signal),
  };
  return {
    resources: [roleResource(logins)],
    endpoints: [explainEndpoint(logins), loginEndpoint(logins)],
    jobs: [
      sweep,
      { name: 'certificate-login: fetch revocation lists', everySeconds: 900, run: (signal) => fetchLists(logins, table, signal) },
    ],
  };
}

/** An attempt of a login in between is not repeated. */
const notAgainSeconds = 300;
const tenantsAtOnce = 8;

/** Fetches the lists of all roles, asks their responders again, and ends the tokens of certificates that these revoke. */
async function fetchLists(logins: Logins, table: ListTable, signal: AbortSignal): Promise<void> {
  const { store, roles } = logins;
  store.refresh();
  const fetching = Array.from(roles.entries([])).flatMap(([[tenantId], role]) =>
    role.crlUrls === undefined && !asks(role) ? [] : [{ tenantId: String(tenantId), role, urls: role.crlUrls ?? [] }],
  );
  await dropUnnamed(
    { store, table },
    new Set(fetching.flatMap(({ tenantId, urls }) => urls.map((url) => JSON.stringify([tenantId, url])))),
    signal,
  );
  // One role of a tenant after another, and tenants in turn: servers that hang keep their tenant waiting alone.
  const waiting = [...Map.groupBy(fetching, ({ tenantId }) => tenantId).values()];
  const work = async (): Promise<void> => {
    for (let tenant = waiting.shift(); tenant !== undefined && !signal.aborted; tenant = waiting.shift()) {
      const [next, ...rest] = tenant;
      if (next !== undefined) await fetchListsOf(logins, next, signal);
      if (rest.length > 0) waiting.push(rest);
    }
  };
  await Promise.all(Array.from({ length: tenantsAtOnce }, work));
}

async function fetchListsOf(
  logins: Logins,
  { tenantId, role, urls }: { readonly tenantId: string; readonly role: RoleRecord; readonly urls: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const { store, lists } = logins;
  await lists.fetch(tenantId, urls, notAgainSeconds);
  store.refresh();
  const authority = authorityOf(logins, tenantId, role);
  const all = [...listsIn(role.crl ?? ''), ...lists.of(tenantId, urls)];
  if (authority !== undefined) await endRevoked(logins, [tenantId, role], authority, all, signal);
}
