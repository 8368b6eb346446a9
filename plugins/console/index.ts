// The console: a browser application made from the API description, its sign-in, and the session that its requests carry.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { configSchema, type Config } from './config.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'console',
  contract: 1,
  config: configSchema,
  uses: [sessionsService, listenersService],
  tables: { sessions: { of: 'all', fills: true } },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
