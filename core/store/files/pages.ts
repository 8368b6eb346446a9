// File format of LMDB, as far as an examination from outside needs it: meta pages, the head of a page, its nodes (mdb.c: MDB_meta, MDB_page,
// MDB_node).
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StoreDamaged } from './store-damaged.ts';

/** Octets of the head of a page. Offsets in a page count from after it. */
export const headBytes = 24;
const metaBytes = 136;
const treeBytes = 48;
const magic = 0xbe_ef_c0_de;
const noPage = 2n ** 64n - 1n;
/** Page sizes of LMDB: powers of two up to 32 KiB, and 64 KiB if the system has them. */
const pageSizes: ReadonlySet<number> = new Set(Array.from({ length: 9 }, (_, n) => 256 << n));
const fields = { trees: 24, lastPage: 120, transaction: 128 } as const;

/** A tree in a meta page. `root`: undefined for one without entries. */
export type Tree = {
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number | undefined;
};

export type Meta = {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
  /** tree of the free pages, which only writes read */
  readonly free: Tree;
  readonly main: Tree;
};

export const kinds = { branch: 1, leaf: 2, overflow: 4 } as const;
/** Bits of the kind of a page; others are marks of a running transaction. */
const kindMask = 0x6f;

export type Head = { readonly number: number; readonly transaction: number; readonly kind: number };

/** A file of LMDB, open for reading, until `close`. */
export class PageFile {
  readonly #file: string;
  readonly #descriptor: number;

  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, 'r');
  }

  get bytes(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** The newer of its two meta pages; undefined if neither is sound. */
  meta(): Meta | undefined {
    // LMDB reads magic, version and the size of pages from the first one, whichever is newer: it never uses the second one alone.
    const first = this.#metaAt(0);
    if (first === undefined) return undefined;
    const second = this.#metaAt(first.pageBytes);
    return second !== undefined && second.transaction > first.transaction ? second : first;
  }

  /** As `meta()`. Throws StoreDamaged if neither is sound. */
  requireMeta(): Meta {
    const meta = this.meta();
    if (meta === undefined) throw new StoreDamaged(`${this.#file} is damaged: it does not begin as a store does`);
    return meta;
  }

  /** Fills the buffer with a page; false if the file does not have it. */
  read(number: number, page: Buffer, pageBytes: number): boolean {
    const at = number * pageBytes;
    return Number.isSafeInteger(at) && readSync(this.#descriptor, page, 0, pageBytes, at) === pageBytes;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #metaAt(at: number): Meta | undefined {
    const octets = Buffer.alloc(metaBytes);
    if (readSync(this.#descriptor, octets, 0, metaBytes, at + headBytes) < metaBytes || octets.readUInt32LE(0) !== magic) return undefined;
    // The page size is in a field of the record of free pages that has no other use.
    const pageBytes = octets.readUInt32LE(fields.trees);
    if (!pageSizes.has(pageBytes)) return undefined;
    return {
      pageBytes,
      lastPage: numberAt(octets, fields.lastPage),
      transaction: numberAt(octets, fields.transaction),
      free: treeAt(octets, fields.trees),
      main: treeAt(octets, fields.trees + treeBytes),
    };
  }
}

/** Reads a number, exact up to 2^53; page and transaction numbers are never larger. */
function numberAt(octets: Buffer, at: number): number {
  return Number(octets.readBigUInt64LE(at));
}

function treeAt(octets: Buffer, at: number): Tree {
  const [branches = 0, leaves = 0, overflows = 0, entries = 0] = [8, 16, 24, 32].map((field) => numberAt(octets, at + field));
  const root = octets.readBigUInt64LE(at + 40);
  return { depth: octets.readUInt16LE(at + 6), branches, leaves, overflows, entries, root: root === noPage ? undefined : Number(root) };
}

export function headOf(page: Buffer): Head {
  return { number: numberAt(page, 0), transaction: numberAt(page, 8), kind: page.readUInt16LE(18) & kindMask };
}

/** Number of pages, from the head of a value that has pages of its own. */
export function pagesOf(page: Buffer): number {
  return page.readUInt32LE(20);
}

/** A node of a page. `elsewhere`: the first of the value's own pages, if it has such. */
export type Node = {
  readonly key: Buffer;
  /** in a branch: the page below */
  readonly child: number;
  /** in a leaf: octets of the value */
  readonly valueBytes: number;
  readonly elsewhere?: { readonly page: number; readonly transaction: number; readonly pages: number };
};

const nodeHead = 8;
const isElsewhere = 1;
const elsewhereBytes = 24;

/** Reads the nodes of a branch or leaf, in order; undefined if the page cannot be one. Keys are copies. */
export function nodesOf(page: Buffer, isBranch: boolean): readonly Node[] | undefined {
  const room = page.length - headBytes;
  const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
  if (lower % 2 !== 0 || lower > upper || upper > room) return undefined;
  const nodes: Node[] = [];
  for (let at = headBytes; at < headBytes + lower; at += 2) {
    const place = page.readUInt16LE(at);
    if (place < upper || place + nodeHead > room) return undefined;
    const node = nodeAt(page, headBytes + place, isBranch);
    if (node === undefined) return undefined;
    nodes.push(node);
  }
  return nodes;
}

function nodeAt(page: Buffer, at: number, isBranch: boolean): Node | undefined {
  const [low, flags, keyBytes] = [page.readUInt32LE(at), page.readUInt16LE(at + 4), page.readUInt16LE(at + 6)];
  const valueAt = at + nodeHead + keyBytes;
  if (valueAt > page.length) return undefined;
  const key = Buffer.from(page.subarray(at + nodeHead, valueAt));
  if (isBranch) return { key, child: low + flags * 2 ** 32, valueBytes: 0 };
  if (flags === isElsewhere && valueAt + elsewhereBytes <= page.length) {
    const [number, transaction, pages] = [numberAt(page, valueAt), numberAt(page, valueAt + 8), numberAt(page, valueAt + 16)];
    return { key, child: 0, valueBytes: low, elsewhere: { page: number, transaction, pages } };
  }
  // Duplicates and named tables of LMDB are not used.
  return flags === 0 && valueAt + low <= page.length ? { key, child: 0, valueBytes: low } : undefined;
}
