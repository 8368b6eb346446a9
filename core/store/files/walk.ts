// Walks every page of a store from outside, before LMDB reads it: LMDB trusts a damaged page, and the process ends (SIGBUS, SIGSEGV).
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { StoreDamaged } from './store-damaged.ts';
import { headBytes, headOf, kinds, type Meta, nodesOf, type Node, PageFile, pagesOf, type Tree } from './pages.ts';

/** Pages examined before other work gets its turn. */
const pagesAtOnce = 512;

/** Number of walks: if another process writes meanwhile, the store is walked again. */
const mostWalks = 5;

/**
 * Throws StoreDamaged with the page if the file of a store is not a tree written by LMDB. Reads every reachable page, also
 * those of the list of free pages, which only writes read. Contents of records are not examined.
 */
export async function requireSoundPages(directory: string): Promise<void> {
  const path = join(directory, 'data.mdb');
  const file = new PageFile(path);
  try {
    for (let left = mostWalks; ; left--) {
      const meta = file.requireMeta();
      const found = await ended(walk(file, meta));
      if (found === undefined) return;
      if (file.meta()?.transaction === meta.transaction) throw new StoreDamaged(`${path} is damaged: ${found}`);
      // A store that is written all the time cannot be judged.
      if (left === 1) return;
    }
  } finally {
    file.close();
  }
}

/** Checks only the list of free pages, synchronously. */
export function hasWholeFreeList(file: PageFile, meta: Meta): boolean {
  const seen = new Uint8Array(meta.lastPage + 1);
  for (const found of walkTree(file, meta, meta.free, { seen, compare: compareNumbers })) if (found !== undefined) return false;
  return true;
}

async function ended(steps: Iterable<string | undefined>): Promise<string | undefined> {
  let pages = 0;
  for (const found of steps) {
    if (found !== undefined) return found;
    if (++pages % pagesAtOnce === 0) await setImmediate();
  }
  return undefined;
}

/** Address space of a process. */
const mostBytes = 2 ** 47;

/** Yields after each page: undefined, or its fault in one sentence without a path, after which the caller stops. */
function* walk(file: PageFile, meta: Meta): Iterable<string | undefined> {
  if (!(meta.lastPage * meta.pageBytes <= mostBytes)) {
    yield 'its first page says that it has more pages than any file';
    return;
  }
  const seen = new Uint8Array(meta.lastPage + 1);
  yield* walkTree(file, meta, meta.main, { seen, compare: (one, other) => Buffer.compare(one, other) });
  yield* walkTree(file, meta, meta.free, { seen, compare: compareNumbers });
}

/** Compares keys of the list of free pages: numbers of the transactions that freed them. */
function compareNumbers(one: Buffer, other: Buffer): number {
  if (one.length !== 8 || other.length !== 8) return one.length - other.length;
  const [a, b] = [one.readBigUInt64LE(), other.readBigUInt64LE()];
  return a < b ? -1 : a > b ? 1 : 0;
}

type Order = { readonly seen: Uint8Array; readonly compare: (one: Buffer, other: Buffer) => number };

/** A page that another one leads to: its keys are from `low` (inclusive) to `high` (exclusive), and it was not written later than that one. */
type Expected = {
  readonly number: number;
  readonly depth: number;
  readonly low: Buffer | undefined;
  readonly high: Buffer | undefined;
  readonly transaction: number;
};

function* walkTree(file: PageFile, meta: Meta, tree: Tree, order: Order): Iterable<string | undefined> {
  const page = Buffer.alloc(meta.pageBytes);
  const counted = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
  const first = { depth: 1, low: undefined, high: undefined, transaction: meta.transaction };
  const waiting: Expected[] = tree.root === undefined ? [] : [{ number: tree.root, ...first }];
  for (let expected = waiting.pop(); expected !== undefined; expected = waiting.pop()) {
    const isBranch = expected.depth < tree.depth;
    const taken = takeNodes(file, meta, expected, isBranch, order, page);
    if (typeof taken === 'string') yield taken;
    else if (isBranch) {
      counted.branches++;
      waiting.push(...belowOf(taken, expected, headOf(page).transaction).toReversed());
    } else {
      counted.leaves++;
      counted.entries += taken.length;
      const found = takeValues(file, meta, taken, order.seen);
      if (typeof found === 'string') yield found;
      else counted.overflows += found;
    }
    yield undefined;
  }
  for (const name of ['branches', 'leaves', 'overflows', 'entries'] as const)
    if (counted[name] !== tree[name])
      yield `its tree has ${counted[name]} ${names[name]}, and its first pages say ${tree[name]}: a page is an earlier one`;
}

/** Returns the nodes of a page, or its fault. */
function takeNodes(
  file: PageFile,
  meta: Meta,
  expected: Expected,
  isBranch: boolean,
  order: Order,
  page: Buffer,
): readonly Node[] | string {
  const wrong = take(file, meta, expected.number, isBranch ? kinds.branch : kinds.leaf, order.seen, page);
  if (wrong !== undefined) return wrong;
  if (headOf(page).transaction > expected.transaction) return `page ${expected.number} is later than the page that leads to it`;
  const nodes = nodesOf(page, isBranch);
  const fits = nodes !== undefined && areInOrder(nodes, expected, isBranch, order.compare);
  return fits ? nodes : `page ${expected.number} is not the page that its tree leads to`;
}

const names = { branches: 'branch pages', leaves: 'leaf pages', overflows: 'pages of large values', entries: 'entries' } as const;

/** Reads a page into the buffer. Returns its fault, if any. */
function take(
  file: PageFile,
  { pageBytes, lastPage }: Meta,
  number: number,
  kind: number,
  seen: Uint8Array,
  page: Buffer,
): string | undefined {
  // The first two are meta pages.
  if (!(number >= 2 && number <= lastPage)) return `a page leads to page ${number}, which no store has`;
  if (seen[number] !== 0) return `two pages lead to page ${number}`;
  seen[number] = 1;
  if (!file.read(number, page, pageBytes)) return `it is cut off: page ${number} is not in it`;
  const head = headOf(page);
  return head.number === number && head.kind === kind ? undefined : `page ${number} was overwritten: it is no longer a page of its kind`;
}

function areInOrder(nodes: readonly Node[], { low, high }: Expected, isBranch: boolean, compare: Order['compare']): boolean {
  // The first key of a branch stands for everything below the second one.
  const keys = nodes.slice(isBranch ? 1 : 0).map(({ key }) => key);
  if (nodes.length < (isBranch ? 2 : 1)) return false;
  let before = low;
  for (const key of keys) {
    if (before !== undefined && compare(before, key) >= (before === low && !isBranch ? 1 : 0)) return false;
    before = key;
  }
  return high === undefined || before === undefined || compare(before, high) < 0;
}

function belowOf(nodes: readonly Node[], { depth, low, high }: Expected, transaction: number): readonly Expected[] {
  return nodes.map(({ key, child }, at) => ({
    number: child,
    depth: depth + 1,
    low: at === 0 ? low : key,
    high: nodes[at + 1]?.key ?? high,
    transaction,
  }));
}

/** First transaction, which a compacted copy names for every value with pages of its own; those pages keep their transaction. */
const ofCopy = 1;

/** Counts the pages of the values that have pages of their own; or returns the fault of one. */
function takeValues(file: PageFile, meta: Meta, nodes: readonly Node[], seen: Uint8Array): number | string {
  let pages = 0;
  const first = Buffer.alloc(meta.pageBytes);
  for (const { valueBytes, elsewhere } of nodes) {
    if (elsewhere === undefined) continue;
    const wanted = elsewhere.pages;
    // A value that became shorter may keep all its pages.
    const least = Math.floor((headBytes - 1 + valueBytes) / meta.pageBytes) + 1;
    const wrong = take(file, meta, elsewhere.page, kinds.overflow, seen, first);
    if (wrong !== undefined) return wrong;
    if (elsewhere.transaction !== ofCopy && headOf(first).transaction !== elsewhere.transaction)
      return `page ${elsewhere.page} begins a value of another time than its entry`;
    if (pagesOf(first) !== wanted || wanted < least)
      return `page ${elsewhere.page} begins a value of ${pagesOf(first)} pages, and its entry says ${wanted}`;
    for (let number = elsewhere.page + 1; number < elsewhere.page + wanted; number++) {
      if (number > meta.lastPage || seen[number] !== 0) return `two pages lead to page ${number}`;
      seen[number] = 1;
    }
    if (file.bytes < (elsewhere.page + wanted) * meta.pageBytes) return `it is cut off: page ${elsewhere.page + wanted - 1} is not in it`;
    pages += wanted;
  }
  return pages;
}
