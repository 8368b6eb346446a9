// A backup that was uploaded for a drill: a file in the data directory, written piece by piece, of which the appliance never holds more.
import { rmSync } from 'node:fs';
import { mkdir, open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { fail } from '../../../core/base/errors.ts';

/** Octets of a piece; its base64 fits into the largest body. */
export const mostPieceBytes = 2 << 20;
const mostBytes = 64 * 2 ** 30;
/** Room that stays free for the appliance: one tenth of the disk, and a gibibyte at most. */
const keptFree = (diskBytes: number): number => Math.min(2 ** 30, diskBytes / 10);
/** An upload that nobody goes on with is removed. */
const abandonedMs = 3_600_000;

/** Everything of drills is below it; what is there at a start was left by a process that was killed. */
export const drillDirectory = (data: string): string => join(data, 'drill');
export const uploadFile = (data: string): string => join(drillDirectory(data), 'upload.age');

/** Removes what a drill left: it may hold PINs. */
export function sweepDrill(data: string): void {
  rmSync(drillDirectory(data), { recursive: true, force: true });
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
  const { bavail, bsize, blocks } = await statfs(data);
  if (offset + piece.length > mostBytes || bavail * bsize - piece.length < keptFree(blocks * bsize))
    throw fail('operation-refused', {
      detail: 'The disk has no room for this backup: make room, or run the drill on another machine with `keystored restore-drill`.',
    });
  const file = await open(uploadFile(data), offset === 0 ? 'w' : 'a', 0o600);
  try {
    const { size } = await file.stat();
    if (size !== offset)
      throw fail('operation-refused', { detail: `The upload has ${size} octets: go on at that offset, or begin a new one with 0.` });
    await file.writeFile(piece);
    return { bytes: offset + piece.length, modifiedMs: Date.now() };
  } finally {
    await file.close();
  }
}

export async function dropUpload(data: string): Promise<void> {
  await rm(uploadFile(data), { force: true });
}

export function isAbandoned({ modifiedMs }: Upload, nowMs: number): boolean {
  return Math.abs(nowMs - modifiedMs) > abandonedMs;
}
