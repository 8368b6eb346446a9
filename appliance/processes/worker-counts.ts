// Sums of the counters of all workers, ended ones included: a sum that fell when one ended would look like a restart of the service.
import type { RunningWorker } from './supervisor.ts';
import type { Snapshot } from '../monitoring/metrics/process.ts';

type Series = Snapshot[number]['values'][number];

/** A worker that does not answer in this time is left out: sums without it are better than none. */
const patienceMs = 2_000;

/** Kept by the supervisor beyond the lives of its workers. */
export class WorkerCounts {
  /** the last known counts of each running worker, by its id */
  readonly #running = new Map<number, Snapshot>();
  #ended: Snapshot = [];
  /** workers that completed no handshakes and were ended for it */
  replaced = 0;

  /** Snapshots whose sums never fall: a worker that does not answer, or ends, contributes its last counts, but no gauges. */
  async collect(workers: Iterable<RunningWorker>): Promise<readonly Snapshot[]> {
    const fresh = new Map<number, Snapshot>();
    await Promise.all([...workers].map((worker) => this.#hear(worker, fresh)));
    return [this.#own(), this.#ended, ...[...this.#running].map(([id, counts]) => fresh.get(id) ?? counts)];
  }

  /** Counts of the supervisor itself. */
  #own(): Snapshot {
    const help = 'Workers that were replaced because they completed no handshakes';
    const values = [{ labels: {}, value: this.replaced }];
    // As workers send it, whose registries have more to it than the type that the library gives.
    return [{ name: 'keystored_workers_replaced_total', help, type: 'counter', values, aggregator: 'sum' }] as unknown as Snapshot;
  }

  async #hear({ process: worker, channel }: RunningWorker, fresh: Map<number, Snapshot>): Promise<void> {
    const { id } = worker;
    if (!this.#running.has(id)) {
      this.#running.set(id, []);
      worker.once('exit', () => {
        this.#ended = added(this.#ended, this.#running.get(id) ?? []);
        this.#running.delete(id);
      });
    }
    const snapshot = await channel.request('metrics', undefined, patienceMs).catch(() => undefined);
    // One that is starting has no series yet.
    if (snapshot === undefined || snapshot.length === 0 || !this.#running.has(id)) return;
    fresh.set(id, snapshot);
    this.#running.set(id, snapshot.filter(isCount));
  }
}

/** Counters and histograms only grow; gauges are momentary. */
function isCount({ type }: Snapshot[number]): boolean {
  return String(type) !== 'gauge';
}

function added(counts: Snapshot, more: Snapshot): Snapshot {
  const byName = new Map(counts.map((metric) => [metric.name, metric]));
  for (const metric of more) {
    const values = new Map((byName.get(metric.name)?.values ?? []).map((series) => [keyOf(series), series]));
    for (const series of metric.values) {
      const before = values.get(keyOf(series))?.value ?? 0;
      values.set(keyOf(series), { ...series, value: before + series.value });
    }
    byName.set(metric.name, { ...metric, values: [...values.values()] });
  }
  return [...byName.values()];
}

function keyOf({ labels, ...series }: Series): string {
  return JSON.stringify(['metricName' in series ? series.metricName : '', labels]);
}
