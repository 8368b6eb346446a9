// Additions of plugin `certificate-login` to the appliance, loaded by processes that serve.
import type { Job } from '../../core/base/context.ts';
import type { PluginContext, PluginInstance } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import type { Logins } from './context.ts';
import { dropExpired, endGrantOfCa, endGrantsOfCertificate } from './grants.ts';
import { explainEndpoint } from './login/explain.ts';
import { loginEndpoint } from './login/login-endpoint.ts';
import { roleResource } from './settings/role.ts';

/** The roles, the login, and what ends its tokens. */
export function provision(context: PluginContext<unknown>): PluginInstance {
  const { store, clock, log } = context;
  const logins: Logins = {
    ...{ store, clock, log },
    accounts: context.service(sessionsService),
    authorities: context.service(certificateAuthorityService),
    roles: store.tenantTable('roles'),
    caGrants: store.tenantTable('ca-grants'),
    certificateGrants: store.tenantTable('certificate-grants'),
  };
  logins.authorities.onEnd({
    revoked: (...certificate) => endGrantsOfCertificate(logins, ...certificate),
    removed: (...ca) => endGrantOfCa(logins, ...ca),
  });
  const sweep: Job = {
    name: 'certificate-login: drop what has expired',
    everySeconds: 3_600,
    run: (signal) => dropExpired(logins, signal),
  };
  return {
    resources: [roleResource(logins)],
    endpoints: [explainEndpoint(logins), loginEndpoint(logins)],
    jobs: [sweep],
  };
}
