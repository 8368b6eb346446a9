// Additions of plugin `oidc` to the appliance, loaded by processes that serve.
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, Table, WriteTransaction } from '../../core/store/store.ts';
import { endStaleSessions, signInWay } from './session/browser-session.ts';
import { callbackEndpoint } from './login/callback.ts';
import { checkRecords } from './check.ts';
import { commandLineEndpoints } from './cli-login/command-line.ts';
import { explainEndpoint } from './diagnose/explain.ts';
import { confirmEndpoints } from './cli-login/approval.ts';
import { Limiter } from './limiter.ts';
import { makeOidc, type Oidc } from './context.ts';
import { keptFailureMs } from './report.ts';
import { rootTokenNotices } from './settings/root-token-notice.ts';
import { roleResource } from './settings/role.ts';
import { serviceResource } from './settings/service.ts';
import { sessionEndpoints } from './session/session-pages.ts';
import { startEndpoints } from './login/start.ts';
import { diagnoseEndpoint } from './diagnose/diagnose-service.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import type { Config } from './config.ts';

/** Resources and endpoints of sign-ins, and the job that drops what has expired. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const oidc = makeOidc(context);
  oidc.accounts.browsers.offer(signInWay(oidc));
  const limiter = new Limiter(context.clock, context.config.startsPerMinute);
  return {
    resources: [serviceResource(oidc), roleResource(oidc)],
    endpoints: [
      diagnoseEndpoint(oidc),
      explainEndpoint(oidc),
      ...startEndpoints(oidc, limiter),
      callbackEndpoint(oidc),
      ...confirmEndpoints(oidc),
      ...sessionEndpoints(oidc),
      ...commandLineEndpoints(oidc, limiter),
    ],
    approverSources: [{ name: 'oidc', idOf: (tenantId, name) => oidc.roles.get([tenantId, ...partsOf(name)])?.grant }],
    notices: (_tenant, caller) => rootTokenNotices(caller),
    check: () => checkRecords(oidc),
    jobs: [
      {
        name: 'oidc: drop what has expired',
        everySeconds: 60,
        run: (signal) => dropStale(oidc, signal),
      },
    ],
  };
}

async function dropStale(oidc: Oidc, signal: AbortSignal): Promise<void> {
  const nowMs = oidc.clock.now().epochMilliseconds;
  oidc.store.refresh();
  for (const underWay of [oidc.pending, oidc.cliLogins]) await dropExpired(oidc, underWay, nowMs, signal);
  await endStaleSessions(oidc, nowMs, signal);
  await oidc.endUngranted(signal);
  await dropWhere(oidc, oidc.setAside, ({ untilMs }) => nowMs >= untilMs, signal);
  await dropWhere(oidc, oidc.failures, ({ atMs }) => nowMs >= atMs + keptFailureMs, signal);
}

/** Transactions that are queued together, for one commit. */
const together = 20;

async function dropExpired(
  oidc: Oidc,
  underWay: Pick<Oidc['pending'], 'removeExpired'>,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (let mayBeMore = true; mayBeMore && !signal.aborted;) {
    const pieces = Array.from({ length: together }, () => oidc.store.write((transaction) => underWay.removeExpired(transaction, nowMs)));
    mayBeMore = (await Promise.all(pieces)).every(Boolean);
  }
}

async function dropWhere<T>({ store }: Oidc, table: Table<T>, isOver: (record: T) => boolean, signal: AbortSignal): Promise<void> {
  const keys = Array.from(table.entries([])).flatMap(([key, record]) => (isOver(record) ? [key] : []));
  const drop = (transaction: WriteTransaction, key: StoreKey): void => {
    const record = transaction.get(table, key);
    if (record !== undefined && isOver(record)) transaction.delete(table, key);
  };
  await writeInPieces(store, keys, drop, signal);
}

/** Service and role of a name `service/role`; names of roles may have slashes. */
function partsOf(name: string): readonly string[] {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}
