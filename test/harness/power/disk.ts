// A disk that is written in memory: what is on it for sure, and what would be lost, torn or reordered if the power went now. As POSIX has it:
// octets of a file are there after fsync or fdatasync of it, or after a write with O_DSYNC; a name is there after fsync of its directory.
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../core/base/defined.ts';
import type { Dice } from '../../fuzz/cases.ts';

/** When something happened. `end` is infinite for what was cut off. */
export type Times = { readonly begin: number; readonly end: number };

/** A sync that made changes safe: of a file or directory, or in a write with O_DSYNC. */
export type Sync = { readonly path: string };

type Written = { readonly at: number; readonly octets: Buffer };
/** `safeBy`: the first sync that brought it to the disk. */
type Change = (Written | { readonly length: number }) & { readonly end: number; safeBy?: Sync };

export class File {
  mode: number;
  #length: number;
  #base: Buffer;
  readonly #changes: Change[] = [];

  constructor(mode: number, content = Buffer.alloc(0)) {
    this.mode = mode;
    this.#base = content;
    this.#length = content.length;
  }

  get length(): number {
    return this.#length;
  }

  /** `safeBy`: with O_DSYNC. */
  write(at: number, octets: Buffer, { end }: Times, safeBy?: Sync): void {
    this.#changes.push({ at, octets, end, ...defined({ safeBy }) });
    this.#length = Math.max(this.#length, at + octets.length);
  }

  truncate(length: number, { end }: Times): void {
    this.#changes.push({ length, end });
    this.#length = length;
  }

  /** Everything that was written when it began is on the disk when it ends. Answers whether that made something safe. */
  sync({ begin }: Times, sync: Sync): boolean {
    const open = this.#changes.filter(({ safeBy, end }) => safeBy === undefined && end <= begin);
    for (const change of open) change.safeBy = sync;
    return open.length > 0;
  }

  /** What a reader finds who saw every change. */
  get content(): Buffer {
    return this.#with((change) => [change]);
  }

  /** What is there after a loss of power. */
  survive(loss: Loss): Buffer {
    return this.#with((change, index) => {
      if (change.safeBy === undefined) return loss.keep(change);
      return change.safeBy === loss.lie ? this.#withoutSync(change, index, loss) : [change];
    });
  }

  /**
   * What is left of a change whose sync lied. The system takes its pages for written: a later sync brings only those that were written again,
   * with all that is in them.
   */
  #withoutSync(change: Change, index: number, loss: Loss): readonly (Written | { readonly length: number })[] {
    if ('length' in change) return loss.keep(change);
    const again = new Set<number>();
    for (const later of this.#changes.slice(index + 1)) {
      if ('length' in later || later.safeBy === undefined || later.safeBy === loss.lie) continue;
      for (let page = pageOf(later.at); page <= pageOf(later.at + later.octets.length - 1); page++) again.add(page);
    }
    return pieces(change, pageOctets).flatMap((piece) => (again.has(pageOf(piece.at)) ? [piece] : loss.keep(piece)));
  }

  #with(kept: (change: Change, index: number) => readonly (Written | { readonly length: number })[]): Buffer {
    let content = this.#base;
    for (const change of this.#changes.flatMap(kept)) {
      if ('length' in change) content = resize(content, change.length);
      else {
        content =
          change.at + change.octets.length > content.length ? resize(content, change.at + change.octets.length) : Buffer.from(content);
        change.octets.copy(content, change.at);
      }
    }
    return content;
  }
}

/** A hole is read as zeros. */
function resize(content: Buffer, length: number): Buffer {
  return length <= content.length ? content.subarray(0, length) : Buffer.concat([content, Buffer.alloc(length - content.length)]);
}

type Entries = ReadonlyMap<string, Node>;
type Node = File | Directory;
/** Names that change in one step; undefined: the name goes. */
type Naming = { readonly of: readonly (readonly [Directory, string, Node | undefined])[]; readonly end: number; safeBy?: Sync };

export class Directory {
  readonly mode: number;
  readonly base: Entries;
  readonly entries: Map<string, Node>;

  constructor(mode: number, base: Entries = new Map()) {
    this.mode = mode;
    this.base = base;
    this.entries = new Map(base);
  }
}

/** What of the changes that were not synced survives a loss of power. */
export class Loss {
  /** the sync that brought nothing to the disk */
  readonly lie: Sync | undefined;
  readonly #dice: Dice;
  /** 0: nothing survives, 1: everything does */
  readonly #share: number;

  constructor(dice: Dice, lie?: Sync) {
    this.#dice = dice;
    this.#share = dice.pick(lie === undefined ? [0, 0.2, 0.5, 0.5, 0.8, 1] : [0, 0, 0.5]);
    this.lie = lie;
  }

  /** Whole, in pieces of sectors, or not at all, each by itself: a disk reorders what nobody has ordered. */
  keep(change: Written | { readonly length: number }): readonly (Written | { readonly length: number })[] {
    if (!this.#dice.chance(this.#share)) return [];
    if ('length' in change || !this.#dice.chance(shareTorn)) return [change];
    return pieces(change, sectorOctets).filter(() => this.#dice.chance(0.5));
  }

  /** Of so many changes of names the first ones: a journal keeps their order. */
  first(count: number): number {
    return this.#share === 1 ? count : this.#share === 0 ? 0 : this.#dice.below(count + 1);
  }
}

const shareTorn = 0.3;
const sectorOctets = 512;
const pageOctets = 4_096;
const pageOf = (at: number): number => Math.floor(at / pageOctets);

/** Cut where a block of the disk ends. */
function pieces({ at, octets }: Written, blockOctets: number): readonly Written[] {
  const cut: Written[] = [];
  for (let from = 0; from < octets.length;) {
    const to = from + blockOctets - ((at + from) % blockOctets);
    cut.push({ at: at + from, octets: octets.subarray(from, to) });
    from = to;
  }
  return cut;
}

/** A tree of files below `root`; paths outside of it are none of its business. */
export class Disk {
  readonly #root: string;
  readonly #top: Directory;
  readonly #namings: Naming[] = [];
  /** those that made something safe, in their order */
  readonly syncs: Sync[] = [];

  /** With what is there now, all of it safe. */
  constructor(root: string) {
    this.#root = root;
    this.#top = readTree(root) as Directory;
  }

  has(path: string | undefined): path is string {
    return path === this.#root || path?.startsWith(`${this.#root}/`) === true;
  }

  find(path: string): Node | undefined {
    let node: Node | undefined = this.#top;
    for (const name of this.#names(path)) node = node instanceof Directory ? node.entries.get(name) : undefined;
    return node;
  }

  file(path: string): File {
    const node = this.find(path);
    if (!(node instanceof File)) throw new Error(`the recording has no file ${path}`);
    return node;
  }

  /** Gives nodes names, or takes names away, in one step. */
  name(changes: readonly (readonly [path: string, Node | undefined])[], { end }: Times): void {
    const of = changes.map(([path, node]) => {
      const names = this.#names(path);
      const name = names.pop() ?? '';
      const parent = this.find(join(this.#root, ...names));
      if (!(parent instanceof Directory)) throw new Error(`the recording has no directory for ${path}`);
      return [parent, name, node] as const;
    });
    this.#namings.push({ of, end });
    apply(of, ({ entries }) => entries);
  }

  sync(path: string, times: Times): void {
    if (!Number.isFinite(times.end)) return;
    const node = this.find(path);
    const sync = { path };
    if (node instanceof File && node.sync(times, sync)) this.syncs.push(sync);
    if (node instanceof Directory && this.#syncNames(node, times, sync)) this.syncs.push(sync);
  }

  #syncNames(directory: Directory, { begin }: Times, sync: Sync): boolean {
    const open = this.#namings.filter(
      ({ safeBy, end, of }) =>
        safeBy === undefined &&
        end <= begin &&
        of.some(([where, , named]) => where === directory && (named !== undefined || of.length === 1)),
    );
    for (const naming of open) naming.safeBy = sync;
    return open.length > 0;
  }

  /** The sync of a write with O_DSYNC; undefined for one that was cut off. */
  syncOfWrite(path: string, { end }: Times): Sync | undefined {
    if (!Number.isFinite(end)) return undefined;
    const sync = { path };
    this.syncs.push(sync);
    return sync;
  }

  /** Writes the tree to `to` as a loss of power may leave it: what is safe, and some of what is not. `lie`: a sync that did nothing. */
  survive(dice: Dice, to: string, lie?: Sync): void {
    const loss = new Loss(dice, lie);
    // A journal that was written later brought the names before, too.
    const last = this.#namings.findLastIndex(({ safeBy }) => safeBy !== undefined && safeBy !== lie);
    const isSafe = ({ safeBy }: Naming, index: number): boolean => safeBy !== undefined && (safeBy !== lie || index < last);
    const open = this.#namings.filter((naming, index) => !isSafe(naming, index));
    const kept = new Set(open.slice(0, loss.first(open.length)));
    const names = new Map<Directory, Map<string, Node>>();
    const entriesOf = (directory: Directory): Map<string, Node> => {
      const entries = names.get(directory) ?? new Map(directory.base);
      names.set(directory, entries);
      return entries;
    };
    for (const [index, naming] of this.#namings.entries()) if (isSafe(naming, index) || kept.has(naming)) apply(naming.of, entriesOf);
    writeTree(this.#top, to, entriesOf, (file) => file.survive(loss));
  }

  /** Paths at which this tree, with every change, and that on the real disk differ. `isOther`: files that are also changed in other ways. */
  differences(isOther: (path: string) => boolean): readonly string[] {
    const found: string[] = [];
    const compare = (node: Node | undefined, there: Node | undefined, path: string): void => {
      if (isOther(path)) return;
      if (node instanceof Directory && there instanceof Directory) {
        const names = new Set([...node.entries.keys(), ...there.entries.keys()]);
        for (const name of names) compare(node.entries.get(name), there.entries.get(name), join(path, name));
      } else if (!(node instanceof File && there instanceof File && node.content.equals(there.content))) found.push(path);
    };
    compare(this.#top, readTree(this.#root), this.#root);
    return found;
  }

  #names(path: string): string[] {
    return path.slice(this.#root.length).split('/').filter((name) => name !== ''); // prettier-ignore
  }
}

function apply(changes: Naming['of'], entriesOf: (directory: Directory) => Map<string, Node>): void {
  for (const [directory, name, node] of changes) {
    if (node === undefined) entriesOf(directory).delete(name);
    else entriesOf(directory).set(name, node);
  }
}

function readTree(path: string): Node | undefined {
  const stat = lstatSync(path);
  const mode = stat.mode & 0o777;
  if (stat.isFile()) return new File(mode, readFileSync(path));
  // Each start makes its own sockets.
  if (!stat.isDirectory()) return undefined;
  const entries = readdirSync(path).flatMap((name) => {
    const node = readTree(join(path, name));
    return node === undefined ? [] : [[name, node] as const];
  });
  return new Directory(mode, new Map(entries));
}

function writeTree(node: Node, to: string, entriesOf: (directory: Directory) => Entries, contentOf: (file: File) => Buffer): void {
  if (node instanceof File) {
    writeFileSync(to, contentOf(node));
    return chmodSync(to, node.mode);
  }
  mkdirSync(to, { recursive: true });
  for (const [name, entry] of entriesOf(node)) writeTree(entry, join(to, name), entriesOf, contentOf);
  chmodSync(to, node.mode);
}
