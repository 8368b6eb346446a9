// Lag of a destination, read from the files alone: it neither needs nor trusts the shipper.
import type { Destination } from '../../core/config/shipping.ts';
import { listStreams, type StreamFile } from '../../core/log/stream-files.ts';
import { linesFromEnd } from '../../core/log/stream-lines.ts';
import { bytesAfter, readLinesAfter, type StreamPosition } from '../../core/log/stream-position.ts';
import { decodeTimestamp } from '../../core/base/time.ts';
import { paths } from '../data-directory/paths.ts';
import type { Cursor } from './cursor.ts';

/** Confirmed part of one chain, and its records beyond that. */
export type ChainLag = {
  readonly chain: string;
  /** name of the file and octet within it; absent before the first confirmation */
  readonly file?: string;
  readonly offset: number;
  readonly sequence: number;
  readonly lagRecords: number;
};

export type Lag = {
  /** of the audit trail */
  readonly records: number;
  readonly bytes: number;
  /** of the logs */
  readonly logBytes: number;
  /** age of the oldest record that is not confirmed; 0 without one */
  readonly seconds: number;
  readonly chains: readonly ChainLag[];
};

/** Octets of the audit trail that a destination lacks. Without a cursor it lacks everything. */
export async function measureLagBytes(data: string, cursor: Cursor | undefined): Promise<number> {
  return unreadBytes(await listStreams(paths.audit(data)), cursor?.audit ?? {});
}

export async function measureLag(data: string, { sources }: Destination, cursor: Cursor | undefined, now: Temporal.Instant): Promise<Lag> {
  const audit = sources.includes('audit') ? await listStreams(paths.audit(data)) : noStreams;
  const logs = sources.includes('logs') ? await listStreams(paths.logs(data)) : noStreams;
  const places = cursor?.audit ?? {};
  const chains = await Promise.all([...audit].map(([chain, files]) => lagOfChain(chain, files, places[chain])));
  const oldest = await Promise.all([
    ...[...audit].map(([chain, files]) => timeAfter(files, places[chain])),
    ...[...logs].map(([stream, files]) => timeAfter(files, cursor?.logs[stream])),
  ]);
  const ages = oldest.flatMap((time) => (time === undefined ? [] : [time.until(now).total('seconds')]));
  return {
    records: chains.reduce((sum, { lagRecords }) => sum + lagRecords, 0),
    bytes: await unreadBytes(audit, places),
    logBytes: await unreadBytes(logs, cursor?.logs ?? {}),
    seconds: Math.max(0, ...ages),
    chains,
  };
}

type Streams = ReadonlyMap<string, readonly StreamFile[]>;

const noStreams: Streams = new Map();

async function unreadBytes(streams: Streams, places: Readonly<Record<string, StreamPosition>>): Promise<number> {
  const sizes = await Promise.all([...streams].map(([name, files]) => bytesAfter(files, places[name])));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function lagOfChain(chain: string, files: readonly StreamFile[], place: Cursor['audit'][string] | undefined): Promise<ChainLag> {
  const { sequence = (files[0]?.number ?? 1) - 1, offset = 0 } = place ?? {};
  const file = place === undefined ? undefined : nameOf(chain, place);
  const last = (await lastSequence(files)) ?? sequence;
  return { chain, ...(file === undefined ? {} : { file }), offset, sequence, lagRecords: Math.max(0, last - sequence) };
}

function nameOf(chain: string, { number, attempt }: StreamPosition): string {
  return `${chain}.${String(number).padStart(12, '0')}${attempt === 0 ? '' : `.${attempt}`}.jsonl`;
}

async function lastSequence(files: readonly StreamFile[]): Promise<number | undefined> {
  for (const { path } of files.toReversed()) {
    for await (const { text } of linesFromEnd(path)) {
      const [, sequence] = /^\{"chain":"[^"]*","sequence":(\d+),/.exec(text) ?? [];
      if (sequence !== undefined) return Number(sequence);
    }
  }
  return undefined;
}

/** When the first record after a place occurred. */
async function timeAfter(files: readonly StreamFile[], place: StreamPosition | undefined): Promise<Temporal.Instant | undefined> {
  const { lines } = await readLinesAfter(files, place, 16 << 10);
  const [, time = ''] = /"occurred-at":"([^"]*)"/.exec(lines[0]?.text ?? '') ?? [];
  return decodeTimestamp(time);
}
