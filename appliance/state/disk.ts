// How much room the data directory has, and what that means for health.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './paths.ts';

/** Below this people should act; the audit trail refuses records, and with it changes, only when nothing is left. */
const lowBytes = 512 << 20;

export type DiskState = { readonly freeBytes: number; readonly sizeBytes: number; readonly isLow: boolean };

/** Room in the file system of the data directory for this user. */
export function readDisk(data: string): DiskState {
  const { bavail, blocks, bsize } = statfsSync(data);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize, isLow: bavail * bsize < lowBytes };
}

/** Octets of the store's file. */
export function readStoreBytes(data: string): number {
  return statSync(join(paths.store(data), 'data.mdb')).size;
}
