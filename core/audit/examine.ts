// Compares the files of a chain with its remembered state, before the chain is continued or signed.
import { type ChainHead, emptyChain, parseLine, type TrailRecord } from './line.ts';
import { type Discrepancy, gapPart, type MemoryChange, type RememberedChain, type StoreBehind } from './chains.ts';
import { readHead } from './resume.ts';
import { decodeTimestamp } from '../base/time.ts';
import { listStreams, type StreamFile } from '../log/stream-files.ts';
import { chunkBytes, linesFromEnd, readChunk } from '../log/stream-lines.ts';

/** Log message of each event. */
export const discrepancyMessages = {
  'cut-off': 'records of the audit trail were cut off',
  added: 'records were added to the audit trail',
  changed: 'a file of the audit trail was changed while the appliance writes it',
} as const;

/** Finds the discrepancies of a chain. A crash is not an error: it leaves records that no head covers yet. */
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

/** Finds the missing part of a chain up to `head`, which its process has written a moment ago. */
export async function examineLoss(chain: string, files: readonly StreamFile[], head: ChainHead): Promise<Discrepancy> {
  let afterSequence = 0;
  for await (const { sequence, hash } of recordsFromEnd(files, '')) {
    // Records refused because of the loss may be present, behind a gap.
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

/** The record before the first one of a chain, according to the chain; undefined if it has no record. */
export async function headBefore(files: readonly StreamFile[]): Promise<ChainHead | undefined> {
  const first = await firstRecord(files);
  return first === undefined ? undefined : { sequence: first.sequence - 1, hash: first.previous };
}

/** Files that begin with the same record as another one of their chain: that has the number of its first record as its own, or comes first. */
export async function findCopies(files: readonly StreamFile[]): Promise<readonly StreamFile[]> {
  const copies: StreamFile[] = [];
  const kept = new Map<string, { readonly file: StreamFile; readonly isNamedByIt: boolean }>();
  for (const file of files) {
    const first = await firstRecord([file]);
    if (first === undefined) continue;
    const isNamedByIt = first.sequence === file.number;
    const other = kept.get(first.hash);
    if (other !== undefined) copies.push(isNamedByIt && !other.isNamedByIt ? other.file : file);
    if (other === undefined || (isNamedByIt && !other.isNamedByIt)) kept.set(first.hash, { file, isNamedByIt });
  }
  return copies;
}

async function firstRecord(files: readonly StreamFile[]): Promise<TrailRecord | undefined> {
  for (const { path } of files) {
    for (let length = chunkBytes; ; length *= 2) {
      const chunk = await readChunk(path, 0, length);
      const end = chunk.indexOf(10);
      const first = end < 0 ? undefined : parseLine(chunk.subarray(0, end));
      if (first !== undefined) return first;
      if (end >= 0 || chunk.length < length) break;
    }
  }
  return undefined;
}

/**
 * Checks whether records since the last remembered signature name a later revision than that of the opened store. A state remembered after
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
    const recordedRevision = revisionIn(record);
    if (recordedRevision > storeRevision)
      return [{ event: 'store-behind', ofChain: chain, atSequence: record.sequence, foundRevision: storeRevision, recordedRevision }];
    // Revisions only rise.
    if (recordedRevision > 0) return [];
  }
  return [];
}

/**
 * The latest revision of the store that the newest records of a trail name, 0 for none: for a process that replaces one that has ended,
 * whose store must not be an earlier one. It reads no more than the end of each chain. `isOwn`: others may keep files of another trail there.
 */
export async function recordedRevision(directory: string, isOwn: (chain: string) => boolean): Promise<number> {
  let latest = 0;
  for await (const record of newestRecords(directory, mostForRevision, { isOwn, isLast: (one) => 'store-revision' in one }))
    latest = Math.max(latest, revisionIn(record));
  return latest;
}

/** No store gets further in the life of a machine: a record that says so was written by somebody else. */
const mostRevisions = 2 ** 48;

/** Revision of the store that a record names, 0 for none. */
function revisionIn({ 'store-revision': revision }: TrailRecord): number {
  return Number.isSafeInteger(revision) && Number(revision) <= mostRevisions ? Number(revision) : 0;
}

/** The latest time of the newest records of a trail; undefined without records. A start writes some with its own clock. */
export async function recordedTime(directory: string): Promise<Temporal.Instant | undefined> {
  let latest: string | undefined;
  for await (const { 'occurred-at': at } of newestRecords(directory, mostForTime, {})) if (latest === undefined || at > latest) latest = at;
  return latest === undefined ? undefined : decodeTimestamp(latest);
}

/** Limit of the searched records of a chain: uses of keys have no revision, and a start writes a few records. */
const mostForRevision = 10_000;
const mostForTime = 50;

async function* newestRecords(
  directory: string,
  most: number,
  { isOwn = () => true, isLast = () => false }: { isOwn?: (chain: string) => boolean; isLast?: (record: TrailRecord) => boolean },
): AsyncIterable<TrailRecord> {
  for (const [chain, files] of await listStreams(directory)) {
    if (!isOwn(chain)) continue;
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
  // Files to be removed still exist if the process ended before it removed them.
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

/** Checks that each file continues the previous one, by its first record and the last one of that: records in between are not read. */
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

/** Changes that remember found gaps, so that each is found once. */
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

/** Hash of the record with that number, searched from the end, because it was recently among the newest. */
async function hashAt(files: readonly StreamFile[], sequence: number): Promise<string | undefined> {
  for await (const record of recordsFromEnd(files, `"sequence":${sequence},`)) {
    if (record.sequence === sequence) return record.hash;
  }
  return undefined;
}

/** Tells whether a record covered by the last signature states that the records through `before` were removed. */
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
