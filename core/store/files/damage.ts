// What a start can know of a store that is damaged, before LMDB reads it: it ends the process where a file is shorter than it says.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PageFile } from './pages.ts';
import { hasWholeFreeList } from './walk.ts';
import { StoreDamaged } from './store-damaged.ts';

/**
 * Throws StoreDamaged for a file that LMDB would read beyond its end. It may be shorter than it says without harm, where its last pages are
 * free and were never written: then the list of free pages is looked at, and another process reads everything else.
 */
export function requireUncut(directory: string, path: string): void {
  if (statSync(path).size === 0) return;
  const file = new PageFile(path);
  try {
    requireAll(file, directory, path);
  } finally {
    file.close();
  }
}

function requireAll(file: PageFile, directory: string, path: string): void {
  const meta = file.meta();
  // Looked at afterwards: another process may be writing, and writes what it says last.
  const { bytes } = file;
  if (meta === undefined) throw new StoreDamaged(`${path} is damaged: it does not begin as a store does. Put it back from a backup`);
  const wanted = (meta.lastPage + 1) * meta.pageBytes;
  if (bytes >= wanted) return;
  const cut = new StoreDamaged(`${path} is cut off: it has ${bytes} octets of ${wanted}`);
  if (!hasWholeFreeList(file, meta)) {
    // The pages of a list that another process has replaced meanwhile may be others.
    if (file.meta()?.transaction !== meta.transaction) return requireAll(file, directory, path);
    throw cut;
  }
  const reader = fileURLToPath(new URL('./read-all.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [reader, directory], { stdio: 'ignore' });
  if (status !== 0) throw cut;
}
