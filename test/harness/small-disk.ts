// A disk of a few hundred kilobytes, mounted at a directory: for tests that fill it. Needs the right to mount.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this process may mount; containers often may not. */
export const mayMount = tryMount();

/** Mounts it at a directory (made if need be); answers how to take it away again. */
export function mountSmallDisk(directory: string, kibibytes: number): () => void {
  mkdirSync(directory, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kibibytes}k,mode=0700`, 'tmpfs', directory]);
  return () => void execFileSync('umount', ['--lazy', directory]);
}

function tryMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-mount-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]).status === 0;
  if (mounted) spawnSync('umount', [directory]);
  rmdirSync(directory);
  return mounted;
}
