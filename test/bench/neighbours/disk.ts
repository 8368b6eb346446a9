// The disk by itself: durable appends, one after another, on the file system of the data directories.
import { closeSync, constants, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { shareOf } from '../measure/rounds.ts';

/** Latencies of one durable append, in milliseconds. */
export type DiskLatency = { readonly p50: number; readonly p99: number };

/** Appends this many octets for so long, each on the disk before the next is written (O_DSYNC, as the audit trail does). */
export function measureDisk(directory: string, octets: number, seconds: number): DiskLatency {
  const path = join(directory, 'appends');
  const fd = openSync(path, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY | constants.O_APPEND | constants.O_DSYNC, 0o600);
  const record = Buffer.alloc(octets, 'a');
  const latencies: number[] = [];
  try {
    for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
      const begun = performance.now();
      writeSync(fd, record);
      latencies.push(performance.now() - begun);
    }
  } finally {
    closeSync(fd);
    rmSync(path);
  }
  return { p50: shareOf(latencies, 0.5), p99: shareOf(latencies, 0.99) };
}

/** Kind of the file system that a directory is on: on one in memory, a durable write costs nothing and proves nothing. */
export function fileSystemOf(directory: string): string {
  const { type } = statfsSync(directory);
  return fileSystems[type] ?? `0x${type.toString(16)}`;
}

/** By the magic numbers of statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x5846_5342: 'xfs',
  0x9123_683e: 'btrfs',
  0x0102_1994: 'tmpfs (in memory)',
  0x794c_7630: 'overlayfs',
  0x2fc1_2fc1: 'zfs',
};
