// Plugin `kmip`: storage, databases and hypervisors fetch their keys by KMIP. Its objects leave the appliance in clear; that is what they are for.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { type Config, configSchema } from './config.ts';
import { kmipErrors } from './errors.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'kmip',
  contract: 1,
  config: configSchema,
  needs: ['aes-256'],
  errors: kmipErrors,
  uses: [listenersService, sessionsService, certificateAuthorityService, transitKeysService, wrappingKeysService],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
