// The metrics of the appliance as numbers: the text format of Prometheus 0.0.4, and what lies between two readings.

export type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** One reading of all metrics. */
export type Reading = { readonly atMs: number; readonly samples: readonly Sample[] };

const line = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** Samples of a text; lines that are none, and values that are no numbers, are left out. */
export function readMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((one): readonly Sample[] => {
    const [, name, labels = '', written] = line.exec(one) ?? [];
    const value = Number(written);
    if (name === undefined || Number.isNaN(value)) return [];
    const pairs = [...labels.matchAll(label)].map(([, key = '', quoted = '']) => [
      key,
      quoted.replaceAll(/\\(.)/g, (_, character: string) => escapes[character] ?? character),
    ]);
    return [{ name, labels: Object.fromEntries(pairs) as Readonly<Record<string, string>>, value }];
  });
}

export type Picks = (labels: Readonly<Record<string, string>>) => boolean;

/** The sum of the samples of a metric; undefined where it has none. */
export function sumOf({ samples }: Reading, name: string, picks: Picks = () => true): number | undefined {
  const found = samples.filter((one) => one.name === name && picks(one.labels));
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/** How much a counter grew a second. A counter that began again counts from zero. */
export function rateOf(before: Reading, after: Reading, name: string, picks?: Picks): number {
  const [was, is] = [sumOf(before, name, picks) ?? 0, sumOf(after, name, picks) ?? 0];
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1_000);
  return (is >= was ? is - was : is) / seconds;
}

/**
 * Quantiles of a histogram between two readings, or since the start, in its unit: interpolated within the bucket, as Prometheus does.
 * Undefined where nothing was counted.
 */
export function quantilesOf(
  before: Reading | undefined,
  after: Reading,
  name: string,
  wanted: readonly number[],
  picks: Picks,
): readonly number[] | undefined {
  const counts = new Map<number, number>();
  const add = ({ samples }: Reading, sign: number): void => {
    for (const { name: found, labels, value } of samples) {
      if (found !== `${name}_bucket` || !picks(labels)) continue;
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * value);
    }
  };
  add(after, 1);
  if (before !== undefined) add(before, -1);
  const buckets = [...counts].toSorted(([left], [right]) => left - right);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total <= 0) return undefined;
  return wanted.map((quantile) => {
    const rank = quantile * total;
    const at = buckets.findIndex(([, count]) => count >= rank);
    const [upper, count] = buckets[at] ?? [0, 0];
    const [lower, below] = buckets[at - 1] ?? [0, 0];
    if (upper === Infinity) return lower;
    return count === below ? upper : lower + ((upper - lower) * (rank - below)) / (count - below);
  });
}
