// The part of the appliance for those who watch it: metrics and activity. Health is the platform's, which has no other source.
import { z } from 'zod';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { once } from '../../core/base/async/once.ts';
import { monitoringEndpoints, type MonitoringParts } from './endpoints.ts';
import { gaugeMeasurer } from './metrics/gauges.ts';

type Parts = MonitoringParts & {
  readonly store: OpenStore;
  /** all plugins, once they have started */
  readonly running: () => Pick<RunningPlugins, 'gauges'>;
};

export function monitoringPlugin(parts: Parts): AnyPlugin {
  const { store, running } = parts;
  return definePlugin({
    name: 'monitoring',
    contract: 1,
    config: z.unknown(),
    provision({ clock }) {
      const measurer = once(() => gaugeMeasurer({ store, clock, gauges: running().gauges }));
      return { endpoints: monitoringEndpoints(parts, () => measurer()()) };
    },
  });
}
