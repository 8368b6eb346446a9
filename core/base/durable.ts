// Makes what was created outlive a power loss.
import { open } from 'node:fs/promises';

/** Resolves when a file's content, or a directory's names, are on the disk. A new name is lost with the power until its directory is synced. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
