// Login by certificate: devices and programs log in with a certificate of a CA that a role names, and get tokens that work with it alone.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { configSchema, type Config } from './config.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'certificate-login',
  contract: 1,
  config: configSchema,
  uses: [sessionsService, certificateAuthorityService, listenersService],
  tables: {
    'ca-grants': { of: 'all', fills: true },
    'certificate-grants': { of: 'all', fills: true },
    'revocation-lists': { of: 'all', fills: true },
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
