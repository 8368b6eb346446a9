// Removes old files of an audit chain, after the chain itself has said so: the gap can then be told from an attack.
import { unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { readHead } from './audit-resume.ts';
import { listStreams } from './stream-files.ts';

/** Removes the oldest files beyond the number to keep; `note` resolves when a record with these fields is on the disk. */
export async function retireFiles(
  directory: string,
  chain: string,
  retainFiles: number,
  note: (fields: Readonly<Record<string, unknown>>) => Promise<void>,
): Promise<void> {
  const files = (await listStreams(directory)).get(chain) ?? [];
  for (const file of files.slice(0, Math.max(0, files.length - retainFiles))) {
    const last = await readHead(file);
    await note({ event: 'retired', file: basename(file.path), lastSequence: last?.sequence, lastHash: last?.hash });
    await unlink(file.path);
  }
}
