// Compares a chain's files with what is remembered of it, before anybody goes on with the chain or signs what stands there.
import { type ChainHead, emptyChain, parseLine, type TrailRecord } from './line.ts';
import type { RememberedChain } from './chain-memory.ts';
import { readHead } from './resume.ts';
import type { StreamFile } from '../log/stream-files.ts';
import { chunkBytes, linesFromEnd, readChunk } from '../log/stream-lines.ts';

/**
 * What was done to a chain while nobody wrote it, as the record says that the trail writes about it.
 * `cut-off`: records are gone or others. `added`: records stand behind the last one of an orderly stop.
 */
export type Discrepancy = {
  readonly event: 'cut-off' | 'added';
  readonly ofChain: string;
  readonly afterSequence: number;
  readonly throughSequence: number;
};

/** What the log says of each event. */
export const discrepancyMessages = {
  'cut-off': 'records of the audit trail were cut off',
  added: 'records were added to the audit trail',
} as const;

/** What is wrong with a chain; nothing after a crash, which leaves records that no head covers yet. */
export async function examineChain(
  chain: string,
  files: readonly StreamFile[],
  remembered: RememberedChain,
): Promise<readonly Discrepancy[]> {
  return [...(await examineBeginning(chain, files, remembered)), ...(await examineEnd(chain, files, remembered))];
}

/** The last whole record of a chain as its files are now. */
export async function lastHead(files: readonly StreamFile[]): Promise<ChainHead | undefined> {
  for (const file of files.toReversed()) {
    const head = await readHead(file);
    if (head !== undefined) return head;
  }
  return undefined;
}

/** The record that the first one of a chain follows, as the chain says itself; undefined when there is no record. */
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

async function examineBeginning(chain: string, files: readonly StreamFile[], { signed, retired }: RememberedChain): Promise<Discrepancy[]> {
  const before = await headBefore(files);
  // A chain without a record is judged by its end.
  if (before === undefined) return [];
  if (retired === undefined) {
    if (before.sequence === 0 || (await hasSignedRetirement(files, before, signed ?? emptyChain))) return [];
    return [{ event: 'cut-off', ofChain: chain, afterSequence: 0, throughSequence: before.sequence }];
  }
  // Files that were to be removed are still there when the process ended before it came to that.
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

async function examineEnd(chain: string, files: readonly StreamFile[], { signed, closed }: RememberedChain): Promise<Discrepancy[]> {
  const { sequence, hash } = closed ?? signed ?? emptyChain;
  const last = (await lastHead(files)) ?? emptyChain;
  if (sequence > 0 && (await hashAt(files, sequence)) !== hash)
    return [{ event: 'cut-off', ofChain: chain, afterSequence: Math.min(last.sequence, sequence - 1), throughSequence: sequence }];
  if (closed === undefined || last.sequence === sequence) return [];
  return [{ event: 'added', ofChain: chain, afterSequence: sequence, throughSequence: last.sequence }];
}

/** Hash of the record of that number. It was among the newest not long ago: looked for from the end. */
async function hashAt(files: readonly StreamFile[], sequence: number): Promise<string | undefined> {
  for await (const record of recordsFromEnd(files, `"sequence":${sequence},`)) {
    if (record.sequence === sequence) return record.hash;
  }
  return undefined;
}

/** Whether a record under the last signed one says that the records through `before` were removed. */
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

/** The last record that was removed, as a record of the event `retired` names it. */
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
