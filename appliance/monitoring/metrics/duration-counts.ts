// Histograms and counters in nanoseconds: series for Prometheus are made of them on request.
import type { Metric } from 'prom-client';
import type { Answered } from '../../../core/http/context/request-context.ts';

/** Bounds of request and write times. */
export const secondsBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Number of durations, their sum, and the numbers that were at most each bound and above the one before. */
export type Durations = { readonly count: number; readonly sumSeconds: number; readonly perBound: readonly number[] };

type Labels = Readonly<Record<string, string | number>>;
type Value = { readonly metricName?: string; readonly labels: Labels; readonly value: number };

/** Durations by `secondsBounds`. */
export class DurationCounts implements Durations {
  count = 0;
  sumSeconds = 0;
  readonly perBound: number[] = secondsBounds.map(() => 0);

  add(seconds: number): void {
    this.count++;
    this.sumSeconds += seconds;
    let at = 0;
    while (at < secondsBounds.length && seconds > (secondsBounds[at] as number)) at++;
    if (at < secondsBounds.length) this.perBound[at] = (this.perBound[at] as number) + 1;
  }
}

type RouteCounts = { readonly labels: Labels; readonly durations: DurationCounts; readonly statuses: Map<number, number> };

/** Answered requests by route, method and status, and their times by route and method; unknown routes have no times. */
export class RequestCounts {
  readonly #routes = new Map<string, Map<string, RouteCounts>>();

  add({ method, route = 'none', status, seconds }: Answered): void {
    const { durations, statuses } = this.#routes.get(route)?.get(method) ?? this.#begin(method, route);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    durations.add(seconds);
  }

  totals(): Value[] {
    return this.#all().flatMap(({ labels, statuses }) =>
      [...statuses].map(([status, value]) => ({ labels: { ...labels, status: String(status) }, value })),
    );
  }

  durations(name: string): Value[] {
    return this.#all()
      .filter(({ labels }) => labels['route'] !== 'none')
      .flatMap(({ labels, durations }) => histogramValues(name, labels, secondsBounds, durations));
  }

  #all(): RouteCounts[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]);
  }

  #begin(method: string, route: string): RouteCounts {
    const counts = { labels: { method, route }, durations: new DurationCounts(), statuses: new Map<number, number>() };
    const methods = this.#routes.get(route) ?? new Map<string, RouteCounts>();
    this.#routes.set(route, methods.set(method, counts));
    return counts;
  }
}

/** The series of one histogram. */
export function histogramValues(name: string, labels: Labels, bounds: readonly number[], counts: Durations): Value[] {
  let atMost = 0;
  const buckets = bounds.map((le, at) => ({ le, value: (atMost += counts.perBound[at] ?? 0) }));
  return [
    ...[...buckets, { le: '+Inf', value: counts.count }].map(({ le, value }) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le },
      value,
    })),
    { metricName: `${name}_sum`, labels, value: counts.sumSeconds },
    { metricName: `${name}_count`, labels, value: counts.count },
  ];
}

/** A metric of values that are made on request: those of prom-client make the text of all labels with every addition. */
export function metricOf(type: 'counter' | 'histogram', name: string, help: string, values: (name: string) => readonly Value[]): Metric {
  const get = (): Promise<unknown> => Promise.resolve({ name, help, type, aggregator: 'sum', values: values(name) });
  return { name, get } as unknown as Metric;
}
