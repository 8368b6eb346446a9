// Reads a topic (audit trail, logs): merges the streams of a directory by time, from a given time or the newest ones, once or following.
import { setTimeout } from 'node:timers/promises';
import { listStreams, type StreamFile } from './stream-files.ts';
import { chunkBytes, linesFromEnd, readChunkInTurn, wholeBytes } from './stream-lines.ts';

export type TopicOptions = {
  readonly directory: string;
  /** timestamp as written by formatTimestamp: records from then on. Without it: the newest `limit`, or all */
  readonly since?: string;
  /** only records before this time */
  readonly before?: string;
  /** earliest time at which the newest `limit` records are searched */
  readonly notBefore?: string;
  /** maximum number of records; when following without `since`, of those that exist already */
  readonly limit?: number;
  /** only lines that contain this text and whose record passes: those that a tenant may see, without parsing the rest */
  readonly only?: RecordFilter;
  /** continue with new records until the signal */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
};

export type RecordFilter = { readonly text: string; readonly passes: (record: TopicRecord['record']) => boolean };

/** One line of the file, and the object it contains. */
export type TopicRecord = { readonly text: string; readonly record: Readonly<Record<string, unknown>> };

/** Interval of the check of the files while following. */
const pollMs = 250;

/** Records in order of time; lines that are not a JSON object are skipped. While following, records come in the order they are found. */
export async function* readTopic({
  directory,
  since,
  before = '~',
  notBefore = '',
  limit,
  only = everything,
  follow = false,
  signal,
}: TopicOptions): AsyncIterable<TopicRecord> {
  const readers = new Map<string, StreamReader>();
  let skip = 0;
  for (const [stream, files] of await listStreams(directory)) {
    const start =
      since !== undefined
        ? await firstFileFor(files, since)
        : limit !== undefined
          ? await newestLines(files, { limit, before, notBefore }, only, signal)
          : nothingSkipped;
    readers.set(stream, new StreamReader(files.slice(start.file), start.offset, only, signal));
    skip += start.lines;
  }
  // Each stream starts with its own newest lines: together they are too many, and the surplus is skipped here.
  skip = Math.max(0, skip - (limit ?? 0));
  let left = follow && since === undefined ? Number.POSITIVE_INFINITY : (limit ?? Number.POSITIVE_INFINITY);
  for (;;) {
    for (let item = await takeEarliest(readers); item !== undefined; item = await takeEarliest(readers)) {
      if (signal?.aborted === true || left <= 0 || timeOf(item) >= before) return;
      if ((since !== undefined && timeOf(item) < since) || skip-- > 0) continue;
      left--;
      yield item;
    }
    if (!follow || signal?.aborted === true) return;
    await setTimeout(pollMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    for (const [stream, files] of await listStreams(directory)) {
      const reader = readers.get(stream);
      if (reader === undefined) readers.set(stream, new StreamReader(files, 0, only, signal));
      else reader.addFiles(files);
    }
  }
}

/** Start of reading in a stream, and the number of lines from there. */
type Start = { readonly file: number; readonly offset: number; readonly lines: number };

const nothingSkipped: Start = { file: 0, offset: 0, lines: 0 };

const everything: RecordFilter = { text: '', passes: () => true };

async function takeEarliest(readers: ReadonlyMap<string, StreamReader>): Promise<TopicRecord | undefined> {
  let earliest: { reader: StreamReader; item: TopicRecord } | undefined;
  for (const reader of readers.values()) {
    const item = await reader.peek();
    if (item !== undefined && (earliest === undefined || timeOf(item) < timeOf(earliest.item))) earliest = { reader, item };
  }
  earliest?.reader.take();
  return earliest?.item;
}

/** Reads the complete lines of a stream's files in order. */
class StreamReader {
  readonly #only: RecordFilter;
  readonly #signal: AbortSignal | undefined;
  #files: StreamFile[];
  #offset: number;
  #rest = Buffer.alloc(0);
  #items: TopicRecord[] = [];

  constructor(files: readonly StreamFile[], offset: number, only: RecordFilter, signal?: AbortSignal) {
    this.#files = [...files];
    this.#offset = offset;
    this.#only = only;
    this.#signal = signal;
  }

  addFiles(files: readonly StreamFile[]): void {
    const last = this.#files.at(-1);
    this.#files.push(
      ...files.filter(
        ({ number, attempt }) => last === undefined || number > last.number || (number === last.number && attempt > last.attempt),
      ),
    );
  }

  take(): void {
    this.#items.shift();
  }

  /** The next record; undefined at the present end, and after the signal, which is checked here because few of many records may match. */
  async peek(): Promise<TopicRecord | undefined> {
    while (this.#items.length === 0 && this.#signal?.aborted !== true) {
      const file = this.#files[0];
      if (file === undefined) return undefined;
      const chunk = await readChunkInTurn(file.path, this.#offset, chunkBytes);
      if (chunk.length > 0) this.#split(chunk);
      else if (this.#files.length > 1) this.#nextFile();
      else return undefined;
    }
    return this.#items[0];
  }

  #split(chunk: Buffer): void {
    this.#offset += chunk.length;
    const octets = Buffer.concat([this.#rest, chunk]);
    const end = octets.lastIndexOf(10) + 1;
    this.#rest = octets.subarray(end);
    for (const text of octets.toString('utf8', 0, end).split('\n')) {
      const record = parseWanted(text, this.#only);
      if (record !== undefined) this.#items.push({ text, record });
    }
  }

  #nextFile(): void {
    this.#files.shift();
    this.#offset = 0;
    this.#rest = Buffer.alloc(0);
  }
}

/** The last file that can contain a record as early as `since`. */
async function firstFileFor(files: readonly StreamFile[], since: string): Promise<Start> {
  for (let file = files.length - 1; file > 0; file--) {
    const reader = new StreamReader(files.slice(file, file + 1), 0, everything);
    const first = await reader.peek();
    if (first !== undefined && timeOf(first) <= since) return { ...nothingSkipped, file };
  }
  return nothingSkipped;
}

type Newest = { readonly limit: number; readonly before: string; readonly notBefore: string };

/** Finds the start of the newest `limit` records of a stream, backwards from the end. */
async function newestLines(files: readonly StreamFile[], wanted: Newest, only: RecordFilter, signal?: AbortSignal): Promise<Start> {
  const { limit, before, notBefore } = wanted;
  const last = await lastFileFor(files, before);
  let start: Start = { file: last, offset: await wholeBytes(files[last]?.path ?? ''), lines: 0 };
  for (let file = last; file >= 0 && start.lines < limit; file--) {
    for await (const { text, offset } of linesFromEnd(files[file]?.path ?? '')) {
      if (signal?.aborted === true) return start;
      const time = timeIn(text);
      if (time < notBefore && time !== '') return start;
      if (time >= before || parseWanted(text, only) === undefined) continue;
      start = { file, offset, lines: start.lines + 1 };
      if (start.lines === limit) break;
    }
  }
  return start;
}

/** The last file that can contain a record before a time. */
async function lastFileFor(files: readonly StreamFile[], before: string): Promise<number> {
  for (let file = files.length - 1; file > 0; file--) {
    const first = await new StreamReader(files.slice(file, file + 1), 0, everything).peek();
    if (first !== undefined && timeOf(first) < before) return file;
  }
  return 0;
}

/** Extracts the time of a line without parsing the rest; empty if it has none. */
export function timeIn(line: string): string {
  return /"occurred-at":"([^"]*)"/.exec(line)?.[1] ?? '';
}

function timeOf({ record: { 'occurred-at': time } }: TopicRecord): string {
  return typeof time === 'string' ? time : '';
}

function parseWanted(text: string, { text: sought, passes }: RecordFilter): Readonly<Record<string, unknown>> | undefined {
  const record = text.includes(sought) ? parseObject(text) : undefined;
  return record !== undefined && passes(record) ? record : undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
