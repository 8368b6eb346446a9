// Plugin `ca`: certificate authorities whose keys are in the HSM, the revocation status of what they issued, and a service for enrolment.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { memberCertificatesService } from '../../core/plugin/services/member-certificates.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { type Config, configSchema } from './status/config.ts';
import { caErrors } from './errors.ts';
import { tableNames } from './records/records.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'ca',
  contract: 1,
  config: configSchema,
  needs: ['ecdsa-p256'],
  errors: caErrors,
  provides: [certificateAuthorityService, memberCertificatesService],
  uses: [custodyStatementsService, listenersService, wrappingKeysService],
  inherits: { from: 'est', tables: tableNames },
  tables: {
    // A start makes the CA of the listeners, with the certificates it issues.
    cas: { of: 'all', fills: 'appliance' },
    certificates: { of: 'all', fills: true },
    'certificate-keys': { of: 'all', fills: true },
    crls: { of: 'all', fills: true, published: 'newest' },
    'last-crls': { of: 'all', fills: true },
    'unclaimed-keys': { of: 'all', fills: true },
    enrolments: { of: 'all', fills: true },
    'pending-enrolments': { of: 'all', fills: true },
    'enrolment-failures': { of: 'all', fills: true },
    'secret-failures': { of: 'all', fills: true },
    'listener-identity': { of: 'each' },
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
