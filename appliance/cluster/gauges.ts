// Gauges of this appliance about its cluster: the members, how far everyone has followed, and the age of their heartbeats.
import { gaugesOf } from '../../core/plugin/gauges.ts';
import type { Gauge } from '../../core/plugin/plugin.ts';
import type { ClusterState, ClusterWay, SeenAppliance } from './cluster-way.ts';
import { behindOf, readCluster } from './state-endpoint.ts';

/** Without samples for an appliance that stands alone, and while the process that follows the others starts again. */
export function clusterGauges(cluster: ClusterWay | undefined): readonly Gauge[] {
  const ofEach = (name: string, help: string, value: (member: SeenAppliance, position: number) => number) => ({
    ...{ name, help, labels: ['appliance'] },
    samples: (state: ClusterState | undefined) =>
      (state?.members ?? [])
        .filter((member) => member.state !== 'removed')
        .map((member) => ({ labels: { appliance: member.name }, value: value(member, state?.position ?? 0) })),
  });
  return gaugesOf(
    async () => (cluster === undefined ? undefined : readCluster(cluster).catch(() => undefined)),
    [
      ofEach('keystored_cluster_member_in', '1 for an appliance of the cluster that may answer, as this one sees it', ({ state }) =>
        state === 'in' ? 1 : 0,
      ),
      ofEach('keystored_cluster_member_behind_revisions', 'Revisions that an appliance lacked at its last heartbeat', behindOf),
      ofEach(
        'keystored_cluster_member_silent_seconds',
        'Time since the last heartbeat of an appliance was seen',
        ({ silentMs }) => silentMs / 1_000,
      ),
    ],
  );
}
