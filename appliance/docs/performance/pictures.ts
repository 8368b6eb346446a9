// The pictures of performance.md, from the figures of the benchmark; a picture whose part was not measured is left out.
import { type Bar, type Chart, drawBars } from './bar-chart.ts';
import type { ActionRow, Figures } from './figures.ts';

/** A picture: its content, and its text alternative. */
type Picture = { readonly name: string; readonly chart: (figures: Figures) => Chart | undefined };

/** Operations as people say them, in the order of the pictures. */
const operations: Readonly<Record<string, string>> = {
  encrypt: 'encrypt',
  'encrypt x 100': 'encrypt, batch of 100',
  decrypt: 'decrypt',
  hmac: 'HMAC',
  'sign ecdsa-p256': 'sign P-256',
  'sign ed25519': 'sign Ed25519',
  'sign rsa-2048': 'sign RSA-2048',
};

const pictures: readonly Picture[] = [
  { name: 'rates', chart: (figures) => drawRates(figures) },
  { name: 'processor-time', chart: (figures) => drawProcessorTime(figures) },
  { name: 'latency', chart: (figures) => drawLatency(figures) },
  { name: 'keys', chart: (figures) => drawKeys(figures) },
  { name: 'memory', chart: (figures) => drawMemory(figures) },
  { name: 'changes', chart: (figures) => drawChanges(figures) },
];

/** SVG files by name, without those that the figures do not fill. */
export function drawPictures(figures: Figures): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pictures.flatMap(({ name, chart }) => {
      const drawn = chart(figures);
      return drawn === undefined ? [] : [[name, drawBars(drawn)]];
    }),
  );
}

/** A line of Markdown that shows a picture with its title, empty without one. */
export function showPicture(figures: Figures, name: string): string {
  const drawn = pictures.find((picture) => picture.name === name)?.chart(figures);
  return drawn === undefined ? '' : `![${drawn.title}. ${drawn.subtitle}](performance/${name}.svg)`;
}

/** Rows of the appliance with all workers, at one number of connections. */
export function rowsAt(figures: Figures, connections: number): readonly ActionRow[] {
  const rows = figures.actions?.found.rows ?? [];
  const workers = Math.max(...rows.map((row) => row.workers));
  return rows.filter((row) => row.connections === connections && row.workers === workers);
}

/** Name of an operation for people. */
export function operationName({ operation }: Pick<ActionRow, 'operation'>): string {
  return operations[operation] ?? operation;
}

/** Three digits are enough for a reader. */
export function readable(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function single(series: number, value: number | undefined, unit = ''): readonly Bar[] {
  return value === undefined ? [] : [{ parts: [{ series, value }], text: `${readable(value)}${unit}` }];
}

function drawRates(figures: Figures): Chart | undefined {
  const rows = rowsAt(figures, 64).filter(({ items }) => items === 1);
  if (rows.length === 0) return undefined;
  return {
    title: 'Requests a second at 64 connections',
    subtitle: 'The whole machine; more is better. The bare server only sends the body back.',
    series: ['keystored', 'OpenBao', 'bare HTTPS server'],
    groups: rows.map((row) => ({
      label: operationName(row),
      bars: [...single(0, row.appliance.perSecond), ...single(1, row.openBao?.perSecond), ...single(2, row.echo.perSecond)],
    })),
  };
}

function drawProcessorTime(figures: Figures): Chart | undefined {
  const rows = rowsAt(figures, 64);
  if (rows.length === 0) return undefined;
  return {
    title: 'Processor time of an operation',
    subtitle: 'Microseconds for each item at 64 connections, all processes; less is better.',
    series: ['keystored: workers', 'OpenBao', 'bare HTTPS server', 'keystored: token processes'],
    groups: rows.map((row) => {
      const { micros, tokenMicros } = row.appliance;
      const each = micros / row.items;
      const own: Bar = {
        parts: [
          { series: 0, value: (micros - tokenMicros) / row.items },
          { series: 3, value: tokenMicros / row.items },
        ],
        text: readable(each),
      };
      const echo = row.items === 1 ? single(2, row.echo.micros) : [];
      return { label: operationName(row), bars: [own, ...single(1, row.openBao && row.openBao.micros / row.items), ...echo] };
    }),
  };
}

function drawLatency(figures: Figures): Chart | undefined {
  const rows = rowsAt(figures, 1).filter(({ items }) => items === 1);
  const [disk] = rows.map((row) => row.disk);
  if (disk === undefined) return undefined;
  return {
    title: 'Latency at one connection',
    subtitle: 'Milliseconds: the median, and lighter up to the 99th percentile; less is better.',
    series: ['keystored', 'OpenBao', 'one durable append of an audit record'],
    groups: [
      ...rows.map((row) => ({
        label: operationName(row),
        bars: [percentiles(0, row.appliance), ...(row.openBao === undefined ? [] : [percentiles(1, row.openBao)])],
      })),
      { label: 'the disk alone', bars: [percentiles(2, disk)] },
    ],
  };
}

function percentiles(series: number, { p50Ms, p99Ms }: { readonly p50Ms: number; readonly p99Ms: number }): Bar {
  const text = `${readable(p50Ms)}, p99 ${readable(p99Ms)}`;
  return {
    parts: [
      { series, value: p50Ms },
      { series: 4, value: Math.max(0, p99Ms - p50Ms) },
    ],
    text,
  };
}

function drawKeys(figures: Figures): Chart | undefined {
  const used = [...(figures.keys?.found.rows ?? []), ...(figures.scale?.found.use ?? []).filter((row) => row.used === row.stored)];
  const rows = used.filter(({ first }) => first === undefined);
  if (rows.length === 0) return undefined;
  return {
    title: 'Encryption with a key drawn at random',
    subtitle: 'Rate against that of one key, which is 1, in the same store and round; more is better.',
    series: ['out of so many keys'],
    groups: rows.map(({ used: count, rateToOne }) => ({
      label: count === 1 ? '1 key' : `${count.toLocaleString('en-US')} keys`,
      bars: single(0, rateToOne),
    })),
    mark: { value: 1, text: 'one key' },
  };
}

function drawMemory(figures: Figures): Chart | undefined {
  const found = figures.memory?.found;
  if (found === undefined) return undefined;
  const bar = (series: number, { idleMib, loadedMib }: { readonly idleMib: number; readonly loadedMib: number }): Bar => ({
    parts: [
      { series, value: idleMib },
      { series: 4, value: Math.max(0, loadedMib - idleMib) },
    ],
    text: `${readable(idleMib)}, loaded ${readable(loadedMib)}`,
  });
  return {
    title: 'Memory of each process',
    subtitle: 'MiB (proportional) at rest, and lighter after encryptions, batches and logins.',
    series: ['keystored', 'OpenBao'],
    groups: [
      ...found.appliance.map((one) => ({ label: one.process, bars: [bar(0, one)] })),
      ...(found.openBao ?? []).map((one) => ({ label: one.process, bars: [bar(1, one)] })),
    ],
  };
}

function drawChanges({ cluster }: Figures): Chart | undefined {
  if (cluster === undefined) return undefined;
  return {
    title: 'How long a change takes',
    subtitle: 'Milliseconds of a login: the median, and lighter up to the 99th percentile; less is better.',
    series: ['one appliance alone', 'three as one'],
    groups: cluster.found.changes.map(({ callers, alone, three }) => ({
      label: `${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      bars: [percentiles(0, alone), percentiles(1, three)],
    })),
  };
}
