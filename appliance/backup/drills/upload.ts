// A backup that was uploaded for a drill: a file in the data directory, written piece by piece, of which the appliance never holds more.
import { rmSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../../core/base/errors.ts';

/** Octets of a piece; its base64 fits into the largest body. */
export const mostPieceBytes = 2 << 20;
const mostBytes = 64 * 2 ** 30;
/** Tells whether the disk of a directory has room for more octets, beside what stays free for the appliance: a tenth of it, and a gibibyte at most. */
export async function hasRoomFor(directory: string, bytes: number): Promise<boolean> {
  const { bavail, bsize, blocks } = await statfs(directory);
  return bavail * bsize - bytes >= Math.min(2 ** 30, (blocks * bsize) / 10);
}

/** An upload that nobody goes on with is removed. */
const abandonedMs = 3_600_000;

/** Everything of drills is below it; what is there at a start was left by a process that was killed. */
export const drillDirectory = (data: string): string => join(data, 'drill');
export const uploadFile = (data: string): string => join(drillDirectory(data), 'upload.age');

/** Removes what a drill left: it may hold PINs. */
export function sweepDrill(data: string): void {
  rmSync(drillDirectory(data), { recursive: true, force: true });
}

const scratchMs = 60_000;

/** Removes the directories of drills whose worker or process was killed. While none runs; not one that a worker has made this minute. */
export async function sweepScratch(data: string, nowMs: number): Promise<void> {
  const names = await readdir(drillDirectory(data)).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith('scratch-'))) {
    const path = join(drillDirectory(data), name);
    const made = await stat(path).catch(() => undefined);
    if (made !== undefined && Math.abs(nowMs - made.mtimeMs) > scratchMs) await rm(path, { recursive: true, force: true });
  }
}

export type Upload = { readonly bytes: number; readonly modifiedMs: number };

export async function findUpload(data: string): Promise<Upload | undefined> {
  try {
    const { size, mtimeMs } = await stat(uploadFile(data));
    return { bytes: size, modifiedMs: mtimeMs };
  } catch {
    return undefined;
  }
}

/** Writes a piece behind what is there; offset 0 begins a new file. Throws `operation-refused` when they do not fit together, or the disk is full. */
export async function takePiece(data: string, offset: number, piece: Uint8Array): Promise<Upload> {
  await mkdir(drillDirectory(data), { recursive: true, mode: 0o700 });
  if (offset + piece.length > mostBytes || !(await hasRoomFor(data, piece.length)))
    throw fail('operation-refused', {
      detail: 'The disk has no room for this backup: make room, or run the drill on another machine with `keystored restore-drill`.',
    });
  const file = await openUpload(data, offset);
  try {
    const { size } = await file.stat();
    if (size !== offset)
      throw fail('operation-refused', { detail: `The upload has ${size} octets: go on at that offset, or begin a new one with 0.` });
    // At its place, not at the end: a piece that is sent again while the first one is still being written is the same octets there.
    for (let done = 0; done < piece.length;) done += (await file.write(piece, done, piece.length - done, offset + done)).bytesWritten;
    return { bytes: offset + piece.length, modifiedMs: Date.now() };
  } finally {
    await file.close();
  }
}

/** A new upload is a new file, so that a drill goes on reading the one that it has begun with. */
async function openUpload(data: string, offset: number): Promise<FileHandle> {
  if (offset === 0) await dropUpload(data);
  try {
    return await open(uploadFile(data), offset === 0 ? 'wx' : 'r+', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw fail('operation-refused', { detail: 'There is no upload: begin one with offset 0.' });
    if (code === 'EEXIST')
      throw fail('operation-refused', { detail: 'Another upload has begun at the same time: begin again with offset 0.' });
    throw error;
  }
}

export async function dropUpload(data: string): Promise<void> {
  await rm(uploadFile(data), { force: true });
}

export function isAbandoned({ modifiedMs }: Upload, nowMs: number): boolean {
  return Math.abs(nowMs - modifiedMs) > abandonedMs;
}
