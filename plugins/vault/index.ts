// The API of Vault as a view of this one: every route is an alias of an endpoint, and nothing is decided, counted or recorded here.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { certificateAuthorityService } from '../../core/plugin/services/certificate-authority.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { configSchema, type Config } from './config.ts';
import { sealedSys } from './sealed-sys.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'vault',
  contract: 1,
  config: configSchema,
  uses: [transitKeysService, certificateAuthorityService, sessionsService],
  // If no tenant has the API, its paths are unknown.
  sealedAnswers: ({ tenants }) => (Object.keys(tenants).length === 0 ? [] : sealedSys),
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
