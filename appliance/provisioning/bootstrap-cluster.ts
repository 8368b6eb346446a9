// The first appliance of a cluster: a store that stood alone until now, or a new one, becomes the shared store.
import type { Configuration } from '../../core/config/config.ts';
import type { Clock, Log } from '../../core/base/context.ts';
import type { HsmConfig } from '../../hsm/api.ts';
import { wrapClusterKeys } from '../cluster/keys/cluster-keys.ts';
import type { ClusterWay } from '../cluster/cluster-way.ts';
import { refusingHsmErrors } from '../tokens/hsm-config.ts';
import { openRuntime } from '../runtime.ts';
import { StartRefused } from '../start-refused.ts';
import { WrappingRotation } from '../wrapping-keys/rotation.ts';

/**
 * Makes the shared store from the store in the data directory, which is made first if it does not exist, with the store key and a canary
 * under the token's wrapping key. After an interruption the next start does it again. Throws StartRefused if another appliance was first.
 */
export async function bootstrapCluster(
  configuration: Configuration,
  hsmConfig: HsmConfig,
  cluster: ClusterWay,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const alone = await openRuntime(configuration, hsmConfig, log);
  let keys: Uint8Array;
  try {
    // It makes the canary under the wrapping key in use: earlier ones may be gone.
    const rotation = new WrappingRotation({ ...alone, clock });
    const rotating = hsmConfig.tokens.find(({ name, group }) => rotation.state(group ?? name).state === 'rewrapping');
    if (rotating !== undefined) {
      throw new StartRefused(
        `cluster: the wrapping key of token ${rotating.name} is being rotated: start once without cluster, and again when the rotation has ended`,
      );
    }
    keys = await refusingHsmErrors(() => wrapClusterKeys(alone.hsm, configuration.data));
  } finally {
    await alone.close();
  }
  try {
    await cluster.bootstrap(keys);
  } catch (error) {
    throw new StartRefused(`cluster: ${(error as Error).message}`, { cause: error });
  }
}
