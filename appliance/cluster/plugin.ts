// The part of the appliance about the other members: their list, their joining and leaving, and their work for the shared keys.
import { z } from 'zod';
import type { Job } from '../../core/base/context.ts';
import { type AnyPlugin, definePlugin } from '../../core/plugin/plugin.ts';
import { provide } from '../../core/plugin/service.ts';
import { type Appliances, appliancesService } from '../../core/plugin/services/appliances.ts';
import type { Hsm } from '../../hsm/api.ts';
import type { ClusterWay } from './cluster-way.ts';
import { tokenTypesJob } from './keys/agreed-types.ts';
import { carryingPartJob, oldKeysJob } from './keys/transfer-part.ts';
import { type CarryingParts, withdrawalJob } from './keys/key-transfer.ts';
import { cutRotationJob } from '../wrapping-keys/rewrapping.ts';
import { storeKeyCopyJob } from './keys/shared-store-key.ts';
import { clusterGauges } from './gauges.ts';
import { clusterPart } from './health.ts';
import { migrationJob } from './migration-job.ts';
import { clusterEndpoints, type ClusterParts, readCluster } from './state-endpoint.ts';

export type ClusterPluginParts = ClusterParts & {
  readonly hsm: Hsm;
  /** of the data */
  readonly directory: string;
  /** The longest time from reading a record until the token has opened its keys. */
  readonly settleMs: number;
  /** present if each appliance has a token */
  readonly carrying?: CarryingParts | undefined;
};

export function clusterPlugin(parts: ClusterPluginParts): AnyPlugin {
  const { cluster, membership } = parts;
  return definePlugin({
    name: 'cluster',
    contract: 1,
    config: z.unknown(),
    provides: [appliancesService],
    provision: ({ clock }) => ({
      services: [provide(appliancesService, appliancesOf(cluster))],
      endpoints: clusterEndpoints(parts),
      jobs: cluster === undefined ? [] : jobsOf({ ...parts, clock, cluster }),
      gauges: clusterGauges(cluster),
      health: () => (cluster === undefined ? [] : [clusterPart(cluster, membership.lostCredentials)]),
    }),
  });
}

/** Each appliance also sees to its own copy of the key of the store, and to its own token. */
function jobsOf(parts: ClusterPluginParts & Pick<CarryingParts, 'clock' | 'cluster'>): readonly Job[] {
  const { store, running, directory, carrying } = parts;
  return [
    migrationJob(store, running),
    cutRotationJob(parts),
    storeKeyCopyJob(parts, directory),
    ...(carrying === undefined
      ? []
      : [carryingPartJob(carrying), oldKeysJob({ ...parts, ...carrying }), withdrawalJob(carrying), tokenTypesJob(parts)]),
  ];
}

/** Those that were not removed: the state lists one whose removal was interrupted. */
function appliancesOf(cluster: ClusterWay | undefined): Appliances {
  return {
    async list() {
      const { members } = cluster === undefined ? { members: [] } : await readCluster(cluster);
      return members
        .filter(({ state }) => state !== 'removed')
        .map(({ id, name, state }) => ({ id, name, isIn: state === 'in' }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
  };
}
