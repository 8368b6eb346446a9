// The transit plugin: named, versioned keys whose material is used in the token only, and the actions on them.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { appliancesService } from '../../core/plugin/services/appliances.ts';
import { custodyStatementsService } from '../../core/plugin/services/custody-statements.ts';
import { sessionsService } from '../../core/plugin/services/sessions.ts';
import { transitKeysService } from '../../core/plugin/services/transit-keys.ts';
import { wrappingKeysService } from '../../core/plugin/services/wrapping-keys.ts';
import { type Config, configSchema } from './records/config.ts';
import { transitErrors } from './errors.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'transit',
  contract: 1,
  config: configSchema,
  needs: ['aes-256', 'secret-256'],
  errors: transitErrors,
  provides: [transitKeysService],
  uses: [appliancesService, custodyStatementsService, sessionsService, wrappingKeysService],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
