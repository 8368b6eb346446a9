// JWT login: workloads log in with the identity that their platform signs for them, roles turn claims into policies.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { configSchema, type Config } from './config.ts';
import { jwtErrors } from './errors.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'jwt',
  contract: 1,
  config: configSchema,
  errors: jwtErrors,
  uses: [sessionsService, listenersService],
  tables: {
    keys: { of: 'all', fills: true },
    used: { of: 'all', fills: true },
    'failed-logins': { of: 'all', fills: true },
    'set-aside': { of: 'all', fills: true },
  },
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
