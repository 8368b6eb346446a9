// Free space of the data directory, and when it is too low.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from './paths.ts';

/** Below this a person should act. The audit trail refuses records, and so changes, only when no space is left. */
const lowBytes = 512 << 20;

export type DiskState = { readonly freeBytes: number; readonly sizeBytes: number; readonly isLow: boolean };

/** Space in the file system of the data directory for this user. */
export function readDisk(data: string): DiskState {
  const { bavail, blocks, bsize } = statfsSync(data);
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize, isLow: bavail * bsize < lowBytes };
}

/** Size of the store's file in octets. */
export function readStoreBytes(data: string): number {
  return statSync(join(paths.store(data), 'data.mdb')).size;
}
