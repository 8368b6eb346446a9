// Checks at a start the limits that the system sets for the processes, so that a low one is reported then, not by connections dropped
// later.
import type { Configuration } from '../../core/config/config.ts';
import { availableBytes } from '../../core/config/memory.ts';
import { neededFiles, openFileLimit, softLimit } from '../../core/config/open-files.ts';
import { StartRefused } from '../start-refused.ts';

/** Memory of all processes with one worker, and of each further worker with the process of its token (performance.md). */
const memoryBytes = { first: 320 << 20, further: 192 << 20 } as const;

/**
 * Limits of a process, in octets: below `least` LMDB ends it by a signal at once, below `enough` some day, as the store grows. The store is mapped
 * whole, beside what V8 reserves.
 */
const octetLimits = [
  { what: 'address space', least: 10 * 2 ** 30, enough: 2 ** 35, remedy: 'LimitAS=infinity of the unit, ulimit -v unlimited in a shell' },
  { what: 'file size', least: 2 ** 26, enough: 2 ** 28, remedy: 'LimitFSIZE=infinity of the unit, ulimit -f unlimited in a shell' },
] as const;

/** Throws StartRefused where nothing could be served. Answers a sentence for each limit that lets less be served than usual. */
export function examineLimits(
  { workers }: Pick<Configuration, 'workers'>,
  {
    files = openFileLimit(),
    bytes = availableBytes(),
    limits,
  }: { readonly files?: number; readonly bytes?: number; readonly limits?: string } = {},
): readonly string[] {
  const { least, all } = neededFiles;
  const remedy = `allow ${all} (LimitNOFILE= of the unit, ulimit -n in a shell, --ulimit nofile= of a container)`;
  if (files < least) throw new StartRefused(`a process may open ${files} files, and needs ${least} at least: ${remedy}`);
  const narrow = octetLimits.flatMap(({ what, least: leastBytes, enough, remedy: more }) => {
    const limit = softLimit(what, limits);
    const is = `the ${what} of a process is limited to ${limit} octets`;
    if (limit < leastBytes) throw new StartRefused(`${is}, and ${leastBytes} at least are needed: set no limit (${more})`);
    return limit < enough ? [`${is}, which a growing store may exceed: set no limit (${more})`] : [];
  });
  const needed = memoryBytes.first + (workers - 1) * memoryBytes.further;
  const mebibytes = (octets: number): number => Math.floor(octets / 2 ** 20);
  return [
    ...narrow,
    ...(files < all ? [`a process may open ${files} files, so that fewer connections are taken: ${remedy}`] : []),
    ...(bytes < needed
      ? [`${mebibytes(bytes)} MiB of memory are little for ${workers} workers: give ${mebibytes(needed)} MiB, or set fewer workers`]
      : []),
  ];
}
