// Detects a damaged store at the start, before LMDB reads it: LMDB ends the process if a file is shorter than its meta page says.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PageFile } from './pages.ts';
import { hasWholeFreeList } from './walk.ts';
import { StoreDamaged } from './store-damaged.ts';

/**
 * Throws StoreDamaged for a file that LMDB would read beyond its end. A file may be shorter than it says without harm, if its last pages are
 * free and were never written: then the list of free pages is examined, and another process reads everything else.
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
  const meta = file.requireMeta();
  // Read afterwards: another process may be writing, and writes the meta page last.
  const { bytes } = file;
  const wanted = (meta.lastPage + 1) * meta.pageBytes;
  if (bytes >= wanted) return;
  const cut = new StoreDamaged(`${path} is cut off: it has ${bytes} octets of ${wanted}`);
  if (!hasWholeFreeList(file, meta)) {
    // Another process may have replaced the list meanwhile.
    if (file.meta()?.transaction !== meta.transaction) return requireAll(file, directory, path);
    throw cut;
  }
  const reader = fileURLToPath(new URL('./read-all.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [reader, directory], { stdio: 'ignore' });
  if (status !== 0) throw cut;
}
