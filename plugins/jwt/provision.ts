// Additions of plugin `jwt` to the appliance, loaded by processes that serve.
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { checkRecords } from './check.ts';
import type { Config } from './config.ts';
import { makeJwt } from './context.ts';
import { explainEndpoint } from './diagnose/explain.ts';
import { testIssuerEndpoint } from './diagnose/test-issuer.ts';
import { gaugesOf } from './gauges.ts';
import { jobsOf } from './jobs.ts';
import { loginEndpoint } from './login/login-endpoint.ts';
import { issuerResource } from './settings/issuer.ts';
import { roleResource } from './settings/role.ts';

/** Resources and endpoints of logins, and the jobs that fetch keys and drop what has expired. */
export function provision(context: PluginContext<Config>): PluginInstance {
  const jwt = makeJwt(context);
  return {
    resources: [issuerResource(jwt), roleResource(jwt)],
    endpoints: [testIssuerEndpoint(jwt), explainEndpoint(jwt), loginEndpoint(jwt)],
    approverSources: [{ name: 'jwt', idOf: (tenantId, name) => jwt.roles.get([tenantId, ...partsOf(name)])?.grant }],
    jobs: jobsOf(jwt),
    gauges: gaugesOf(jwt),
    check: () => checkRecords(jwt),
  };
}

/** Issuer and role of a name `issuer/role`. */
function partsOf(name: string): readonly string[] {
  const slash = name.indexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}
