// What the appliance as a whole is like, measured by the process that is asked: store, disk, clock, and what plugins measure.
import { Gauge, Registry } from 'prom-client';
import type { Clock } from '../../../core/base/context.ts';
import type { Gauge as DescribedGauge } from '../../../core/plugin/plugin.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import { openTenants } from '../../../core/access/tenants.ts';
import type { ClusterWay } from '../../state/cluster-way.ts';
import { findingParts } from '../../findings/findings.ts';
import { readDisk, readStoreBytes } from '../../state/disk.ts';
import type { Backups } from '../../backup/run/backups.ts';
import type { ReportParts } from '../../shipping/report.ts';
import { measureShipping } from '../../shipping/metrics.ts';
import type { Snapshot } from './process.ts';
import { measureBackups } from './backup.ts';
import { measureCluster } from './cluster.ts';

export type StateParts = {
  readonly store: OpenStore;
  /** knows whether it can be trusted */
  readonly clock: Clock;
  readonly directory: string;
  readonly shipping: ReportParts;
  /** what plugins measure */
  readonly gauges: readonly DescribedGauge[];
  readonly backups: Backups;
  /** absent: the appliance stands alone */
  readonly cluster?: ClusterWay | undefined;
};

/** Answers what measures the appliance. */
export function stateMeasurer(parts: StateParts): () => Promise<Snapshot> {
  const { store, clock, directory } = parts;
  const gauges = parts.gauges.map((one) => ({ ...one, measure: kept(one, clock) }));
  return async () => {
    const registry = new Registry();
    const gauge = (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers: [registry] });

    const tenants = namesOfTenants(store);
    for (const { name, help, labels, measure } of gauges) {
      const described = gauge(name, help, ...labels);
      for (const sample of await measure(tenants)) described.set(sample.labels, sample.value);
    }

    const { freeBytes, sizeBytes } = readDisk(directory);
    gauge('keystored_disk_free_bytes', 'Room left in the file system of the data directory').set(freeBytes);
    gauge('keystored_disk_size_bytes', 'Size of the file system of the data directory').set(sizeBytes);
    gauge('keystored_store_bytes', 'Size of the store').set(readStoreBytes(directory));
    gauge('keystored_clock_plausible', '0 while certificates, expiry and rotation are held because the clock cannot be right').set(
      clock.doubt === undefined ? 1 : 0,
    );
    gauge('keystored_unanswered_findings', 'What starts and jobs have found and nobody has answered').set(findingParts(store).length);
    await measureShipping(registry, parts.shipping);
    gauge('keystored_clock_seconds', 'The time that the appliance uses, seconds since 1970').set(clock.now().epochMilliseconds / 1_000);
    measureBackups(parts.backups, registry);
    await measureCluster(registry, parts.cluster);
    return registry.getMetricsAsJSON();
  };
}

/** Measures a gauge, or returns the samples of at most `keptMs` ago. */
function kept(gauge: DescribedGauge, clock: Clock): DescribedGauge['measure'] {
  const { keptMs } = gauge;
  if (keptMs === undefined) return (tenants) => gauge.measure(tenants);
  let last: { readonly atMs: number; readonly samples: ReturnType<DescribedGauge['measure']> } | undefined;
  return (tenants) => {
    if (last === undefined || clock.monotonicMs() - last.atMs > keptMs)
      last = { atMs: clock.monotonicMs(), samples: gauge.measure(tenants) };
    return last.samples;
  };
}

function namesOfTenants(store: OpenStore): ReadonlyMap<string, string> {
  return new Map([...openTenants(store).table.entries([])].map(([, { uuid, name }]) => [uuid, name]));
}
