// Finds the end of a chain when a process starts, and removes half-written records of a crash.
import { open, stat, unlink, writeFile } from 'node:fs/promises';
import { AuditFile } from './file.ts';
import type { RememberedChain } from './chains.ts';
import { type ChainHead, emptyChain, parseLine } from './line.ts';
import { listStreams, type StreamFile } from '../log/stream-files.ts';
import { readFully } from '../log/stream-lines.ts';

/** Octets examined: more than a batch of records, and so more than a crash can leave half-written. */
const tailBytes = 4 << 20;

/** Octets that were cut off. They are kept beside the file, and the trail has a record about them. */
export type TornTail = { readonly file: string; readonly bytes: number };

export type ResumedChain = { readonly head: ChainHead; readonly file: AuditFile | undefined; readonly torn: readonly TornTail[] };

/**
 * Opens the newest file of a chain for appending after its last complete record; none if that file is closed, so that a new one follows
 * it. The octets after that are moved to `<file>.torn`; a file
 * without a complete record is removed. `remembered` tells which records were acknowledged for certain; without it a hole that a loss of
 * power left between records stays. Rejects if more is unreadable than a crash can cause.
 */
export async function resumeChain(directory: string, chain: string, remembered?: RememberedChain): Promise<ResumedChain> {
  const least = remembered && Math.max(remembered.signed?.sequence ?? 0, remembered.closed?.sequence ?? 0);
  const files = (await listStreams(directory)).get(chain) ?? [];
  const torn: TornTail[] = [];
  for (const file of files.toReversed()) {
    const { head, goodBytes, size } = await readTail(file, least);
    if (size > goodBytes) torn.push(await cutOff(file, goodBytes, size));
    // The last file is closed after an interrupted rotation, or if newer files were moved away: a closed file is not written again.
    if (head !== undefined)
      return { head, file: (await AuditFile.isClosed(file.path)) ? undefined : await AuditFile.resume(file.path), torn };
    await unlink(file.path);
  }
  return { head: emptyChain, file: undefined, torn };
}

/** The last complete record of a file; undefined if the end of the file contains none. */
export async function readHead(file: StreamFile): Promise<ChainHead | undefined> {
  return (await readTail(file)).head;
}

async function readTail(file: StreamFile, least?: number): Promise<{ head: ChainHead | undefined; goodBytes: number; size: number }> {
  const { size } = await stat(file.path);
  const start = Math.max(0, size - tailBytes);
  const tail = await readFrom(file.path, start, size - start);
  const last = (least === undefined ? undefined : recordBeforeHole(file, tail, start, least)) ?? lastRecord(tail, start);
  if (last === undefined && start > 0)
    throw new Error(`${file.path} is damaged: its last ${tailBytes} octets hold no whole record. Move it away and verify the trail.`);
  return { head: last?.head, goodBytes: start + (last?.end ?? 0), size };
}

/** A record in a tail. `head` undefined: the chain before its first record. `end`: position after its line end, in octets of the tail. */
type InTail = { readonly head: ChainHead | undefined; readonly end: number };

/** Finds the last record. `start`: offset of the tail in its file; its first line may be incomplete. */
function lastRecord(tail: Buffer, start: number): InTail | undefined {
  for (let end = tail.lastIndexOf(10); end >= 0;) {
    const before = end === 0 ? -1 : tail.lastIndexOf(10, end - 1);
    const record = before >= 0 || start === 0 ? parseLine(tail.subarray(before + 1, end)) : undefined;
    if (record !== undefined) return { head: { sequence: record.sequence, hash: record.hash }, end: end + 1 };
    end = before;
  }
  return undefined;
}

/**
 * Finds the record before a hole. After a loss of power, a write of several records may be present in parts, with zeros between them, which
 * no record has: nothing from the first hole on was acknowledged. Undefined without a hole, and if records up to `least` are behind it: then
 * the hole was made later, and the records stay, so that the verification reports it.
 */
function recordBeforeHole({ number }: StreamFile, tail: Buffer, start: number, least: number): InTail | undefined {
  const hole = tail.indexOf(0);
  if (hole < 0) return undefined;
  const last = lastRecord(tail.subarray(0, hole), start) ?? (start === 0 ? { head: undefined, end: 0 } : undefined);
  return last !== undefined && (last.head?.sequence ?? number - 1) >= least ? last : undefined;
}

async function cutOff({ path }: StreamFile, goodBytes: number, size: number): Promise<TornTail> {
  await writeFile(`${path}.torn`, await readFrom(path, goodBytes, size - goodBytes), { mode: 0o600 });
  await AuditFile.cut(path, goodBytes);
  return { file: path, bytes: size - goodBytes };
}

async function readFrom(path: string, start: number, length: number): Promise<Buffer> {
  await using handle = await open(path, 'r');
  const octets = await readFully(handle, start, length);
  // Unreadable octets must not be taken for a half-written record of a crash.
  if (octets.length < length) throw new Error(`${path} is shorter than its ${start + length} octets while it is read`);
  return octets;
}
