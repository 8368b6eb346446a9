// Plugin `acme`: servers enrol by ACME (RFC 8555) at the CAs that have it on, over the listener of enrolment protocols.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { type Config, configSchema } from './config.ts';
import { acmeErrors } from './errors.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'acme',
  contract: 1,
  config: configSchema,
  errors: acmeErrors,
  uses: [listenersService, certificateAuthorityService, enrolmentListenerService],
  tables: {
    accounts: { of: 'all', fills: true },
    'account-keys': { of: 'all', fills: true },
    unproven: { of: 'all', fills: true },
    'open-accounts': { of: 'all', fills: true },
    orders: { of: 'all', fills: true },
    'open-orders': { of: 'all', fills: true },
    certificates: { of: 'all', fills: true },
    proofs: { of: 'all', fills: true },
    nonces: { of: 'all', fills: true },
    'nonce-keys': { of: 'all', fills: true },
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
