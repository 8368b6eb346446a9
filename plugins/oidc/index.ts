// OIDC login: people sign in at their identity provider, roles turn claims into policies.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { configSchema, type Config } from './config.ts';
import { oidcErrors } from './failures.ts';
import { orderByAddress } from './records/tables.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'oidc',
  contract: 1,
  config: configSchema,
  errors: oidcErrors,
  uses: [sessionsService, listenersService, transitKeysService],
  migrations: [{ version: 1, level: 1, describe: 'order sign-ins under way by address', run: orderByAddress }],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
