// The metrics of the appliance as numbers: the text format of Prometheus 0.0.4.

export type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** One reading of all metrics. */
export type Reading = { readonly atMs: number; readonly samples: readonly Sample[] };

const line = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const label = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

/** Reads the samples of a text; lines that are not samples, and values that are not numbers, are left out. */
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

type Picks = (labels: Readonly<Record<string, string>>) => boolean;

/** The sum of the samples of a metric; undefined where it has none. */
export function sumOf({ samples }: Reading, name: string, picks: Picks = () => true): number | undefined {
  const found = samples.filter((one) => one.name === name && picks(one.labels));
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
