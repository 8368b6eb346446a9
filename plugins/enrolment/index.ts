// Plugin `enrolment`: the listener of enrolment protocols beside EST, with what relying parties fetch from a CA. Off unless it is configured.
import { definePlugin } from '../../core/plugin/plugin.ts';
import { enrolmentListenerService } from '../../core/plugin/services/enrolment-listener.ts';
import { listenersService } from '../../core/plugin/services/listeners.ts';
import { type Config, configSchema } from './config.ts';

const load = () => import('./provision.ts');

export default definePlugin<Config>({
  name: 'enrolment',
  contract: 1,
  config: configSchema,
  provides: [enrolmentListenerService],
  uses: [listenersService],
  preload: load,
  provision: async (context) => (await load()).provision(context),
});
