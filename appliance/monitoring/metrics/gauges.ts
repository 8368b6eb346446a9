// Gauges of the appliance as a whole: those of its plugins, measured by the process that is asked.
import { Counter, Gauge, Registry } from 'prom-client';
import { openTenants } from '../../../core/access/tenants.ts';
import type { Clock } from '../../../core/base/context.ts';
import type { Gauge as DescribedGauge } from '../../../core/plugin/plugin.ts';
import type { OpenStore } from '../../../core/store/open.ts';
import type { Snapshot } from './process.ts';

export type GaugeParts = { readonly store: OpenStore; readonly clock: Clock; readonly gauges: readonly DescribedGauge[] };

/** Returns the function that measures them. */
export function gaugeMeasurer({ store, clock, gauges }: GaugeParts): () => Promise<Snapshot> {
  const measured = gauges.map((one) => ({ ...one, measure: kept(one, clock) }));
  return async () => {
    const registry = new Registry();
    const tenants = namesOfTenants(store);
    for (const { kind = 'gauge', name, help, labels, measure } of measured) {
      const options = { name, help, labelNames: [...labels], registers: [registry] };
      const samples = await measure(tenants);
      if (kind === 'counter') {
        const counter = new Counter(options);
        for (const sample of samples) counter.inc(sample.labels, sample.value);
      } else {
        const gauge = new Gauge(options);
        // A gauge without labels begins at 0, which was not measured.
        if (labels.length === 0) gauge.remove();
        for (const sample of samples) gauge.set(sample.labels, sample.value);
      }
    }
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
