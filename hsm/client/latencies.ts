// Durations of recent calls to the token, per operation.

const kept = 512;

/** Keeps the last 512 durations of each operation. */
export class Latencies {
  readonly #rings = new Map<string, { count: number; values: Float64Array }>();

  add(operation: string, micros: number): void {
    let ring = this.#rings.get(operation);
    if (ring === undefined) this.#rings.set(operation, (ring = { count: 0, values: new Float64Array(kept) }));
    ring.values[ring.count % kept] = micros;
    ring.count++;
  }

  /** Number of calls so far, median and 99th percentile of the recent ones, in microseconds. */
  summary(): Record<string, { count: number; p50: number; p99: number }> {
    return Object.fromEntries(
      [...this.#rings].map(([operation, { count, values }]) => {
        const sorted = values.slice(0, Math.min(count, kept)).sort();
        const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
        return [operation, { count, p50: at(0.5), p99: at(0.99) }];
      }),
    );
  }
}
