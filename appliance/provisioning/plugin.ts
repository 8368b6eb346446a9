// The part of the appliance that provides the credential of the first login, until somebody has used it.
import { z } from 'zod';
import { type AnyPlugin, definePlugin, type PluginContext } from '../../core/plugin/plugin.ts';
import { bootstrapJob, withdrawBootstrapOf } from './bootstrap.ts';

/** `store`: without a prefix. `bootstrapFile`: absent where a first start writes the root token. */
export function provisioningPlugin(store: PluginContext<unknown>['store'], bootstrapFile: string | undefined): AnyPlugin {
  return definePlugin({
    name: 'provisioning',
    contract: 1,
    config: z.unknown(),
    provision: ({ clock }) => ({
      jobs: bootstrapFile === undefined ? [] : [bootstrapJob(store, clock, bootstrapFile)],
      dropAppliance: (transaction, appliance) => withdrawBootstrapOf(transaction, store, appliance),
    }),
  });
}
