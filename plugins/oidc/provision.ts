// What plugin `oidc` adds to the appliance, loaded by processes that serve.
import type { WriteTransaction } from '../../core/store/store.ts';
import { endStaleSessions, signInWay } from './session/browser-session.ts';
import { callbackEndpoint } from './login/callback.ts';
import { checkRecords } from './check.ts';
import { commandLineEndpoints } from './cli-login/command-line.ts';
import { explainEndpoint } from './diagnose/explain.ts';
import { confirmEndpoints } from './cli-login/approval.ts';
import { Limiter } from './limiter.ts';
import { makeOidc, type Oidc } from './context.ts';
import { keptFailureMs } from './report.ts';
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
    check: () => checkRecords(oidc),
    jobs: [
      {
        name: 'oidc: drop what has expired',
        everySeconds: 60,
        run: () => oidc.store.write((transaction) => dropStale(transaction, oidc)),
      },
    ],
  };
}

function dropStale(transaction: WriteTransaction, oidc: Oidc): void {
  const nowMs = oidc.clock.now().epochMilliseconds;
  oidc.pending.removeExpired(transaction, nowMs);
  oidc.cliLogins.removeExpired(transaction, nowMs);
  endStaleSessions(transaction, oidc, nowMs);
  for (const [key, { untilMs }] of Array.from(transaction.entries(oidc.setAside, []))) {
    if (nowMs >= untilMs) transaction.delete(oidc.setAside, key);
  }
  for (const [key, failed] of Array.from(transaction.entries(oidc.failures, []))) {
    if (nowMs >= failed.atMs + keptFailureMs) transaction.delete(oidc.failures, key);
  }
}
