// What a start can know of a store that is damaged, before LMDB reads it: it ends the process where a file is shorter than it says.
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The store cannot be used as it is: it is damaged, or another one. The message names the file. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

/** The two first pages say what there is (mdb.c, MDB_page and MDB_meta): octets of a header, and of fields after it. */
const metaAt = 24;
const metaBytes = 136;
const magic = 0xbe_ef_c0_de;
/** Those of LMDB: powers of two up to 32 KiB, and 64 KiB where the system has them. */
const pageSizes: ReadonlySet<number> = new Set(Array.from({ length: 9 }, (_, n) => 256 << n));
const fields = { pageBytes: 24, freeRoot: 64, lastPage: 120, transaction: 128 } as const;

/**
 * Throws StoreDamaged for a file that LMDB would read beyond its end. It may be shorter than it says without harm, where its last pages are
 * free and were never written: then the list of free pages is looked at, and another process reads everything else.
 */
export function requireUncut(directory: string, file: string): void {
  if (statSync(file).size === 0) return;
  const meta = newestMeta(file);
  // Looked at afterwards: another process may be writing, and writes what it says last.
  const { size } = statSync(file);
  if (meta === undefined) throw new StoreDamaged(`${file} is damaged: it does not begin as a store does. Put it back from a backup`);
  const wanted = (meta.lastPage + 1) * meta.pageBytes;
  if (size >= wanted) return;
  const cut = new StoreDamaged(`${file} is cut off: it has ${size} octets of ${wanted}`);
  if (!hasFreeList(file, meta)) throw cut;
  const reader = fileURLToPath(new URL('./read-all.ts', import.meta.url));
  const { status } = spawnSync(process.execPath, [reader, directory], { stdio: 'ignore' });
  if (status !== 0) throw cut;
}

type Meta = { readonly pageBytes: number; readonly freeRoot: bigint; readonly lastPage: number; readonly transaction: bigint };

/** What a file says of itself; undefined where it says nothing that makes sense. */
function newestMeta(file: string): Meta | undefined {
  const descriptor = openSync(file, 'r');
  try {
    // LMDB takes magic, version and the size of pages from the first one, whichever is newer: it does not look at the second one alone.
    const first = metaOf(descriptor, 0);
    if (first === undefined) return undefined;
    const second = metaOf(descriptor, first.pageBytes);
    return second !== undefined && second.transaction > first.transaction ? second : first;
  } finally {
    closeSync(descriptor);
  }
}

function metaOf(descriptor: number, at: number): Meta | undefined {
  const octets = Buffer.alloc(metaBytes);
  if (readSync(descriptor, octets, 0, metaBytes, at + metaAt) < metaBytes || octets.readUInt32LE(0) !== magic) return undefined;
  const pageBytes = octets.readUInt32LE(fields.pageBytes);
  if (!pageSizes.has(pageBytes)) return undefined;
  return {
    pageBytes,
    freeRoot: octets.readBigUInt64LE(fields.freeRoot),
    lastPage: Number(octets.readBigUInt64LE(fields.lastPage)),
    transaction: octets.readBigUInt64LE(fields.transaction),
  };
}

const noPage = 2n ** 64n - 1n;
const branchPage = 1;
const overflowPage = 4;
const nodeBytes = 8;
const isElsewhere = 1;

/** Whether the tree of free pages, which only writes read, is in the file (MDB_page, MDB_node, MDB_ovpage). */
function hasFreeList(file: string, { pageBytes, freeRoot }: Meta): boolean {
  const descriptor = openSync(file, 'r');
  const waiting = freeRoot === noPage ? [] : [freeRoot];
  try {
    for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
      const page = Buffer.alloc(pageBytes);
      if (readSync(descriptor, page, 0, pageBytes, Number(number) * pageBytes) < pageBytes) return false;
      if (page.readBigUInt64LE(0) !== number) return false;
      const kind = page.readUInt16LE(18);
      if ((kind & overflowPage) !== 0) {
        if (statSync(file).size < (Number(number) + page.readUInt32LE(20)) * pageBytes) return false;
        continue;
      }
      for (let at = metaAt; at < page.readUInt16LE(20); at += 2) {
        const node = page.readUInt16LE(at);
        const [low, flags, keyBytes] = [page.readUInt32LE(node), page.readUInt16LE(node + 4), page.readUInt16LE(node + 6)];
        if ((kind & branchPage) !== 0) waiting.push(BigInt(low) + (BigInt(flags) << 32n));
        else if ((flags & isElsewhere) !== 0) waiting.push(page.readBigUInt64LE(node + nodeBytes + keyBytes));
      }
    }
    return true;
  } finally {
    closeSync(descriptor);
  }
}
