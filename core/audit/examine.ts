// Compares the files of a chain with what is remembered of it, before the chain is continued or signed.
import { type ChainHead, emptyChain, parseLine, type TrailRecord } from './line.ts';
import { gapPart, type MemoryChange, type RememberedChain } from './chains.ts';
import { readHead } from './resume.ts';
import { decodeTimestamp } from '../base/time.ts';
import { listStreams, type StreamFile } from '../log/stream-files.ts';
import { chunkBytes, linesFromEnd, readChunk } from '../log/stream-lines.ts';

/**
 * What was done to a chain by none of its processes, in the form of the record that the trail writes about it.
 * `cut-off`: records are missing or replaced. `added`: there are records after the last one of an orderly stop. `changed`: the same as `cut-off`
 * while a process wrote it; where no record is missing, the file was replaced, or written to after the last one, and both numbers are that of it.
 */
export type Discrepancy = {
  readonly event: 'cut-off' | 'added' | 'changed';
  readonly ofChain: string;
  readonly afterSequence: number;
  readonly throughSequence: number;
};

/**
 * The store lacks changes that are on record: a record of the chain names a later revision of the store than it had when it was opened. What it
 * did not keep, after a disk that said so and lied, or because it was brought back alone, was acknowledged.
 */
export type StoreBehind = {
  readonly event: 'store-behind';
  readonly ofChain: string;
  /** of the record that names the revision */
  readonly atSequence: number;
  readonly foundRevision: number;
  readonly recordedRevision: number;
};

/** The log message of each event. */
export const discrepancyMessages = {
  'cut-off': 'records of the audit trail were cut off',
  added: 'records were added to the audit trail',
  changed: 'a file of the audit trail was changed while the appliance writes it',
} as const;

/** What is wrong with a chain. A crash is not an error: it leaves records that no head covers yet. */
export async function examineChain(
  chain: string,
  files: readonly StreamFile[],
  remembered: RememberedChain,
): Promise<readonly Discrepancy[]> {
  return [
    ...(await examineBeginning(chain, files, remembered)),
    ...(await examineBorders(chain, files, remembered)),
    ...(await examineEnd(chain, files, remembered)),
  ];
}

/** What is missing of a chain up to `head`, which its process has written a moment ago. */
export async function examineLoss(chain: string, files: readonly StreamFile[], head: ChainHead): Promise<Discrepancy> {
  let afterSequence = 0;
  for await (const { sequence, hash } of recordsFromEnd(files, '')) {
    // What was refused because of the loss may be there, behind a gap.
    if (sequence > head.sequence || (sequence === head.sequence && hash !== head.hash)) continue;
    afterSequence = sequence;
    break;
  }
  return { event: 'changed', ofChain: chain, afterSequence, throughSequence: head.sequence };
}

/** The last complete record in the files of a chain. */
export async function lastHead(files: readonly StreamFile[]): Promise<ChainHead | undefined> {
  for (const file of files.toReversed()) {
    const head = await readHead(file);
    if (head !== undefined) return head;
  }
  return undefined;
}

/** The record before the first one of a chain, according to the chain; undefined when there is no record. */
export async function headBefore(files: readonly StreamFile[]): Promise<ChainHead | undefined> {
  for (const { path } of files) {
    for (let length = chunkBytes; ; length *= 2) {
      const chunk = await readChunk(path, 0, length);
      const end = chunk.indexOf(10);
      const first = end < 0 ? undefined : parseLine(chunk.subarray(0, end));
      if (first !== undefined) return { sequence: first.sequence - 1, hash: first.previous };
      if (end >= 0 || chunk.length < length) break;
    }
  }
  return undefined;
}

/**
 * Whether records since the last signature that is remembered name a later revision than the store was opened at. What was remembered after
 * them is in the store, and so is everything before it.
 */
export async function examineStore(
  chain: string,
  files: readonly StreamFile[],
  { signed = emptyChain }: RememberedChain,
  storeRevision: number,
): Promise<readonly StoreBehind[]> {
  for await (const record of recordsFromEnd(files, '')) {
    if (record.sequence <= signed.sequence) return [];
    const recordedRevision = Number(record['store-revision'] ?? 0);
    if (recordedRevision > storeRevision)
      return [{ event: 'store-behind', ofChain: chain, atSequence: record.sequence, foundRevision: storeRevision, recordedRevision }];
    // Revisions only rise.
    if (recordedRevision > 0) return [];
  }
  return [];
}

/**
 * The latest revision of the store that the newest records of a trail name, 0 for none: for a process that takes the place of one that has ended,
 * whose store must not be an earlier one. It reads no more than the end of each chain.
 */
export async function recordedRevision(directory: string): Promise<number> {
  let latest = 0;
  for await (const { 'store-revision': revision } of newestRecords(directory, mostForRevision, (record) => 'store-revision' in record))
    latest = Math.max(latest, Number(revision ?? 0));
  return latest;
}

/** The latest time of the newest records of a trail; undefined where there are none. A start writes some with the clock as it is then. */
export async function recordedTime(directory: string): Promise<Temporal.Instant | undefined> {
  let latest: string | undefined;
  for await (const { 'occurred-at': at } of newestRecords(directory, mostForTime)) if (latest === undefined || at > latest) latest = at;
  return latest === undefined ? undefined : decodeTimestamp(latest);
}

/** Most records of a chain that are looked through: uses of keys have no revision, and a start writes a few records. */
const mostForRevision = 10_000;
const mostForTime = 50;

async function* newestRecords(
  directory: string,
  most: number,
  isLast: (record: TrailRecord) => boolean = () => false,
): AsyncIterable<TrailRecord> {
  for (const files of (await listStreams(directory)).values()) {
    let left = most;
    for await (const record of recordsFromEnd(files, '')) {
      yield record;
      if (isLast(record) || --left === 0) break;
    }
  }
}

async function examineBeginning(chain: string, files: readonly StreamFile[], remembered: RememberedChain): Promise<Discrepancy[]> {
  const { signed, retired } = remembered;
  const before = await headBefore(files);
  // A chain without records is judged by its end.
  if (before === undefined || remembered[gapPart(before.sequence)] !== undefined) return [];
  if (retired === undefined) {
    if (before.sequence === 0 || (await hasSignedRetirement(files, before, signed ?? emptyChain))) return [];
    return [{ event: 'cut-off', ofChain: chain, afterSequence: 0, throughSequence: before.sequence }];
  }
  // Files to be removed are still there when the process ended before it removed them.
  if (before.sequence < retired.sequence || (before.sequence === retired.sequence && before.hash === retired.hash)) return [];
  return [
    {
      event: 'cut-off',
      ofChain: chain,
      afterSequence: retired.sequence,
      throughSequence: Math.max(before.sequence, retired.sequence + 1),
    },
  ];
}

/** Whether each file goes on after the one before it, by its first record and the last one of that: what is between is not read. */
async function examineBorders(chain: string, files: readonly StreamFile[], remembered: RememberedChain): Promise<Discrepancy[]> {
  const found: Discrepancy[] = [];
  let last: ChainHead | undefined;
  for (const file of files) {
    const before = await headBefore([file]);
    if (before === undefined) continue;
    const goesOn = last === undefined || (last.sequence === before.sequence && last.hash === before.hash);
    if (last !== undefined && !goesOn && remembered[gapPart(before.sequence)] === undefined) {
      const afterSequence = Math.min(last.sequence, before.sequence - 1);
      found.push({ event: 'cut-off', ofChain: chain, afterSequence, throughSequence: before.sequence });
    }
    for await (const { sequence, hash } of recordsFromEnd([file], '')) {
      last = { sequence, hash };
      break;
    }
  }
  return found;
}

/** The gaps that were found, so that they are found once. */
export function gapsIn(found: readonly { readonly event: string }[]): readonly MemoryChange[] {
  return (found as readonly Discrepancy[])
    .filter(({ event }) => event === 'cut-off')
    .map(({ ofChain, throughSequence }) => ({
      chain: ofChain,
      part: gapPart(throughSequence),
      head: { sequence: throughSequence, hash: emptyChain.hash },
    }));
}

async function examineEnd(chain: string, files: readonly StreamFile[], { signed, closed }: RememberedChain): Promise<Discrepancy[]> {
  const { sequence, hash } = closed ?? signed ?? emptyChain;
  const last = (await lastHead(files)) ?? emptyChain;
  if (sequence > 0 && (await hashAt(files, sequence)) !== hash)
    return [{ event: 'cut-off', ofChain: chain, afterSequence: Math.min(last.sequence, sequence - 1), throughSequence: sequence }];
  if (closed === undefined || last.sequence === sequence) return [];
  return [{ event: 'added', ofChain: chain, afterSequence: sequence, throughSequence: last.sequence }];
}

/** Hash of the record of that number. It was recently among the newest, so it is searched for from the end. */
async function hashAt(files: readonly StreamFile[], sequence: number): Promise<string | undefined> {
  for await (const record of recordsFromEnd(files, `"sequence":${sequence},`)) {
    if (record.sequence === sequence) return record.hash;
  }
  return undefined;
}

/** Whether a record covered by the last signature says that the records through `before` were removed. */
async function hasSignedRetirement(files: readonly StreamFile[], before: ChainHead, signed: ChainHead): Promise<boolean> {
  let expected: string | undefined;
  for await (const record of recordsFromEnd(files, '')) {
    if (record.sequence > signed.sequence) continue;
    if (record.hash !== (expected ?? signed.hash)) return false;
    if (retirementOf(record)?.sequence === before.sequence) return retirementOf(record)?.hash === before.hash;
    expected = record.previous;
  }
  return false;
}

/** The last removed record, as named by a record of the event `retired`. */
export function retirementOf(record: TrailRecord): ChainHead | undefined {
  if (record.kind !== 'trail' || record['event'] !== 'retired') return undefined;
  return { sequence: Number(record['last-sequence']), hash: String(record['last-hash']) };
}

async function* recordsFromEnd(files: readonly StreamFile[], sought: string): AsyncIterable<TrailRecord> {
  for (const { path } of files.toReversed()) {
    for await (const { text } of linesFromEnd(path)) {
      const record = text.includes(sought) ? parseLine(Buffer.from(text)) : undefined;
      if (record !== undefined) yield record;
    }
  }
}
