// What the system lets the processes have, looked at by a start: too little is said then, not by connections that are dropped later.
import type { Configuration } from '../../core/config/config.ts';
import { availableBytes } from '../../core/config/memory.ts';
import { neededFiles, openFileLimit } from '../../core/config/open-files.ts';
import { StartRefused } from '../start-refused.ts';

/** What all processes keep with one worker, and each further worker with the process of its token (performance.md). */
const memoryBytes = { first: 320 << 20, further: 192 << 20 } as const;

/** Throws StartRefused where nothing could be served. Answers a sentence for each limit that lets less be served than usual. */
export function examineLimits(
  { workers }: Pick<Configuration, 'workers'>,
  { files = openFileLimit(), bytes = availableBytes() }: { readonly files?: number; readonly bytes?: number } = {},
): readonly string[] {
  const { least, all } = neededFiles;
  const remedy = `allow ${all} (LimitNOFILE= of the unit, ulimit -n in a shell, --ulimit nofile= of a container)`;
  if (files < least) throw new StartRefused(`a process may open ${files} files, and needs ${least} at least: ${remedy}`);
  const needed = memoryBytes.first + (workers - 1) * memoryBytes.further;
  const mebibytes = (octets: number): number => Math.floor(octets / 2 ** 20);
  return [
    ...(files < all ? [`a process may open ${files} files, so that fewer connections are taken: ${remedy}`] : []),
    ...(bytes < needed
      ? [`${mebibytes(bytes)} MiB of memory are little for ${workers} workers: give ${mebibytes(needed)} MiB, or set fewer workers`]
      : []),
  ];
}
