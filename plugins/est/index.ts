// Plugin `est`: the EST listener (RFC 7030), from which devices obtain and renew certificates of the CAs.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { type Config, configSchema } from './config.ts';
import { estErrors } from './errors.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'est',
  contract: 1,
  config: configSchema,
  errors: estErrors,
  uses: [listenersService, certificateAuthorityService],
  async serveSealed({ est, identity, log }) {
    const { openSealedEstListener } = await import('./listener/sealed-listener.ts');
    return openSealedEstListener({ ...est, identity, log });
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
