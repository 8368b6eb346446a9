// Free space of the data directory, and when it is too low.
import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import { paths } from './paths.ts';

/** Below this a person should act. The audit trail refuses records, and so changes, only when no space is left. */
const lowBytes = 512 << 20;

/** Below this it is a matter of minutes: a file of the audit trail and a commit need some of it at once. */
const almostNoneBytes = 16 << 20;

export type DiskState = {
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** reason for a person to act: one sentence without a path, the same while it gets slowly worse */
  readonly problem?: string;
};

/** Space in the file system of the data directory for this user. */
export function readDisk(data: string): DiskState {
  const { bavail, blocks, bsize, files, ffree } = statfsSync(data);
  const freeBytes = bavail * bsize;
  // Some file systems have as many as there is room for, and say 0.
  const problem = problemOf(freeBytes) ?? (files > 0 && ffree < fewInodes ? hardlyAnyInodes : undefined);
  return { freeBytes, sizeBytes: blocks * bsize, ...defined({ problem }) };
}

/** Below this a person should act: the trail, the logs and the token make files. */
const fewInodes = 256;
const hardlyAnyInodes = `the file system of the data directory has fewer than ${fewInodes} inodes left (df -i): remove files there, or changes will be refused`;

function problemOf(freeBytes: number): string | undefined {
  if (freeBytes < almostNoneBytes)
    return `the disk of the data directory has less than ${almostNoneBytes >> 20} MiB left: make room now, or changes and uses of keys will be refused any moment`;
  return freeBytes < lowBytes ? 'the disk of the data directory is nearly full: make room, or changes will be refused' : undefined;
}

/** Size of the store's file in octets. */
export function readStoreBytes(data: string): number {
  return statSync(join(paths.store(data), 'data.mdb')).size;
}
