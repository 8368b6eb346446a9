// Durations of calls to the token, per operation: percentiles of recent ones, and a histogram of all.
import { latencyBoundsMicros, type OperationLatency } from '../api.ts';

const kept = 512;

type Recorded = { count: number; sumMicros: number; readonly recent: Float64Array; readonly perBound: number[] };

/** Keeps the last 512 durations of each operation, and counts all by their size. */
export class Latencies {
  readonly #operations = new Map<string, Recorded>();

  /** Counts `calls` calls that took `micros` together; each counts with its share. */
  add(operation: string, micros: number, calls = 1): void {
    const recorded = this.#of(operation);
    const each = micros / calls;
    for (let at = 0; at < calls; at++) recorded.recent[(recorded.count + at) % kept] = each;
    recorded.count += calls;
    recorded.sumMicros += micros;
    let bound = 0;
    while (bound < latencyBoundsMicros.length && each > (latencyBoundsMicros[bound] as number)) bound++;
    if (bound < latencyBoundsMicros.length) recorded.perBound[bound] = (recorded.perBound[bound] ?? 0) + calls;
  }

  summary(): Record<string, OperationLatency> {
    return Object.fromEntries(
      [...this.#operations].map(([operation, { count, sumMicros, recent, perBound }]) => {
        const sorted = recent.slice(0, Math.min(count, kept)).sort();
        const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
        return [operation, { count, p50: at(0.5), p99: at(0.99), sumMicros, perBound }];
      }),
    );
  }

  #of(operation: string): Recorded {
    const known = this.#operations.get(operation);
    if (known !== undefined) return known;
    const recorded = { count: 0, sumMicros: 0, recent: new Float64Array(kept), perBound: latencyBoundsMicros.map(() => 0) };
    this.#operations.set(operation, recorded);
    return recorded;
  }
}
