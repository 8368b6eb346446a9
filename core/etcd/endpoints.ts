// Chooses the member of etcd for the next call: the own one first, then those whose last failure is longest ago.

export class Endpoints<T> {
  readonly #failedMs: Map<T, number>;
  readonly #nowMs: () => number;

  /** `endpoints` in order of preference. */
  constructor(endpoints: readonly T[], nowMs: () => number) {
    this.#failedMs = new Map(endpoints.map((endpoint) => [endpoint, Number.NEGATIVE_INFINITY]));
    this.#nowMs = nowMs;
  }

  /** Returns the best one: a preferred one is tried again `forgivenMs` after its failure, so that a returning member gets its clients back. */
  best(forgivenMs: number): T {
    const now = this.#nowMs();
    const candidates = [...this.#failedMs];
    const fit = candidates.find(([, failedMs]) => now - failedMs >= forgivenMs);
    const [oldest] = candidates.toSorted(([, a], [, b]) => a - b);
    const [endpoint] = fit ?? oldest ?? [];
    if (endpoint === undefined) throw new TypeError('a cluster needs an endpoint');
    return endpoint;
  }

  failed(endpoint: T): void {
    this.#failedMs.set(endpoint, this.#nowMs());
  }

  worked(endpoint: T): void {
    this.#failedMs.set(endpoint, Number.NEGATIVE_INFINITY);
  }
}
