// Activity of the appliance in the last hour: sums over all workers, taken every half minute, and the differences between them. The
// supervisor keeps them beyond the lives of its workers, so that a page has an hour to draw when it opens.
import { z } from 'zod';
import type { Clock } from '../../../core/base/context.ts';
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { timestampText } from '../../../core/wire/fields.ts';
import type { Snapshot } from './process.ts';

const intervalMs = 30_000;
/** An hour, and the sum before it. */
const mostSums = 121;
/** Shorter times say nothing about rates. */
const shortestMs = 2_000;

const rate = (what: string, example: number) =>
  z
    .number()
    .min(0)
    .meta({ description: `${what} a second; a batch is one.`, example });
const times = {
  medianMilliseconds: z.number().optional().meta({ description: 'Median of the time of a request; absent: there was none.', example: 1.8 }),
  p99Milliseconds: z.number().optional().meta({ description: '99th percentile of the time of a request.', example: 9.4 }),
};

const activityPoint = z.object({
  from: timestampText().meta({ description: 'When it begins.', example: '2026-10-12T09:00:00.000000Z' }),
  until: timestampText().meta({ description: 'When it ends.', example: '2026-10-12T09:00:30.000000Z' }),
  requests: rate('Requests of the API and of EST', 240.5),
  signatures: rate('Requests that signed something', 80),
  encryptions: rate('Requests that encrypted, decrypted or rewrapped', 120.2),
  refusals: rate('Requests that were answered with 4xx or 5xx', 0.1),
  ...times,
});

export const activity = z.object({
  points: z
    .array(activityPoint.meta({ typeName: 'ActivityPoint' }))
    .describe('The oldest first. The last one ends now and may be shorter.'),
  ...times,
});
type Point = z.output<typeof activityPoint>;
export type Activity = z.output<typeof activity>;

type Kind = 'requests' | 'signatures' | 'encryptions' | 'refusals';
type Labels = Readonly<Record<string, string | number | undefined>>;

const signing = actions('sign', 'hmac', 'openpgp-sign', 'sign-csr', 'simpleenroll', 'simplereenroll', 'serverkeygen');
const encrypting = actions('encrypt', 'decrypt', 'rewrap', 'generate-data-key');

/** Kinds that a request counts for: by the last segment of its route, and by its status. */
const kinds: Readonly<Record<Kind, (labels: Labels) => boolean>> = {
  requests: () => true,
  signatures: (labels) => isDone(labels) && signing.has(actionOf(labels)),
  encryptions: (labels) => isDone(labels) && encrypting.has(actionOf(labels)),
  refusals: ({ status }) => /^[45]/.test(String(status)),
};

/** Sums of all requests until a moment. */
type Sums = {
  readonly at: Temporal.Instant;
  readonly monotonicMs: number;
  readonly counts: Readonly<Record<Kind, number>>;
  /** requests that took at most so many seconds */
  readonly atMost: ReadonlyMap<number, number>;
};

export type ActivityHistory = {
  /** The last hour up to now. */
  read(): Promise<Activity>;
  stop(): void;
};

/** Begins to keep the results of `collect`: snapshots of all workers, whose sums never fall. */
export function keepActivity(collect: () => Promise<readonly Snapshot[]>, clock: Clock): ActivityHistory {
  const kept: Sums[] = [];
  const sum = async (): Promise<Sums> => sumsOf(await collect(), clock);
  /** Rates are of time that has passed. */
  const isLater = ({ monotonicMs }: Sums): boolean => monotonicMs - (kept.at(-1)?.monotonicMs ?? -Infinity) >= shortestMs;
  const keep = async (): Promise<void> => {
    const now = await sum();
    if (isLater(now)) kept.push(now);
    if (kept.length > mostSums) kept.shift();
  };
  void keep();
  const timer = setInterval(() => void keep(), intervalMs).unref();
  return {
    async read() {
      const now = await sum();
      return activityOf(isLater(now) ? [...kept, now] : kept);
    },
    stop: () => clearInterval(timer),
  };
}

/** Differences between the sums, the oldest first. */
function activityOf(sums: readonly Sums[]): Activity {
  const points = sums.slice(1).map((after, index) => pointBetween(sums[index] as Sums, after));
  const [first, last] = [sums[0], sums.at(-1)];
  return { points, ...(first === undefined || last === undefined ? {} : timesBetween(first, last)) };
}

function pointBetween(before: Sums, after: Sums): Point {
  const seconds = (after.monotonicMs - before.monotonicMs) / 1_000;
  const aSecond = (kind: Kind): number => rounded(Math.max(0, after.counts[kind] - before.counts[kind]) / seconds);
  return {
    from: formatTimestamp(before.at),
    until: formatTimestamp(after.at),
    requests: aSecond('requests'),
    signatures: aSecond('signatures'),
    encryptions: aSecond('encryptions'),
    refusals: aSecond('refusals'),
    ...timesBetween(before, after),
  };
}

function timesBetween(before: Sums, after: Sums): Pick<Activity, 'medianMilliseconds' | 'p99Milliseconds'> {
  const grown = [...after.atMost].map(([bound, count]) => [bound, count - (before.atMost.get(bound) ?? 0)] as const);
  const buckets = grown.toSorted(([left], [right]) => left - right);
  return defined({ medianMilliseconds: quantileOf(buckets, 0.5), p99Milliseconds: quantileOf(buckets, 0.99) });
}

/**
 * In milliseconds, interpolated within the bucket as Prometheus does, and never above the last bound; undefined where nothing was counted.
 */
function quantileOf(buckets: readonly (readonly [bound: number, count: number])[], quantile: number): number | undefined {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  const rank = quantile * total;
  const at = buckets.findIndex(([, count]) => count >= rank);
  const [upper, count] = buckets[at] ?? [0, 0];
  const [lower, below] = buckets[at - 1] ?? [0, 0];
  if (upper === Infinity) return rounded(lower * 1_000);
  return rounded((count === below ? upper : lower + ((upper - lower) * (rank - below)) / (count - below)) * 1_000);
}

function sumsOf(snapshots: readonly Snapshot[], clock: Clock): Sums {
  const counts: Record<Kind, number> = { requests: 0, signatures: 0, encryptions: 0, refusals: 0 };
  const atMost = new Map<number, number>();
  for (const { name, values } of snapshots.flat()) {
    if (name === 'keystored_http_requests_total') {
      for (const { labels, value } of values)
        for (const kind of Object.keys(counts) as Kind[]) if (kinds[kind](labels)) counts[kind] += value;
    } else if (name === 'keystored_http_request_seconds') {
      for (const { labels, value } of values as readonly { readonly labels: Labels; readonly value: number }[]) {
        const { le, route } = labels;
        // Followed topics last until somebody ends them.
        if (le === undefined || String(route).endsWith('/{topic}')) continue;
        const bound = le === '+Inf' ? Infinity : Number(le);
        atMost.set(bound, (atMost.get(bound) ?? 0) + value);
      }
    }
  }
  return { at: clock.now(), monotonicMs: clock.monotonicMs(), counts, atMost };
}

/** With the batches of each. */
function actions(...names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap((name) => [name, `${name}-batch`]));
}

function isDone({ status }: Labels): boolean {
  return String(status).startsWith('2');
}

function actionOf({ route }: Labels): string {
  return String(route).split('/').at(-1) ?? '';
}

/** Three digits say enough. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
