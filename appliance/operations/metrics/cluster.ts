// What this appliance sees of its cluster: who is in, how far everyone has followed, how long ago they gave a sign of life.
import { Gauge, type Registry } from 'prom-client';
import type { ClusterWay } from '../../state/cluster-way.ts';
import { behindOf, readCluster } from '../cluster-endpoint.ts';

/** Adds the series, without samples for an appliance that stands alone, and while the process that follows the others starts again. */
export async function measureCluster(registry: Registry, cluster: ClusterWay | undefined): Promise<void> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['appliance'], registers: [registry] });
  const isIn = gauge('keystored_cluster_member_in', '1 for an appliance of the cluster that may answer, as this one sees it');
  const behind = gauge('keystored_cluster_member_behind_revisions', 'Revisions that an appliance lacked at its last sign of life');
  const silent = gauge('keystored_cluster_member_silent_seconds', 'Time since the last sign of life of an appliance was seen');
  const state = cluster === undefined ? undefined : await readCluster(cluster).catch(() => undefined);
  for (const member of state?.members ?? []) {
    if (member.state === 'removed') continue;
    const labels = { appliance: member.name };
    isIn.set(labels, member.state === 'in' ? 1 : 0);
    behind.set(labels, behindOf(member, state?.position ?? 0));
    silent.set(labels, member.silentMs / 1_000);
  }
}
