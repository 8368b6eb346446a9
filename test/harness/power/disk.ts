// A disk that is written in memory: what is on it for sure, and what would be lost, torn or reordered if the power went now. As POSIX has it:
// octets of a file are there after fsync or fdatasync of it, or after a write with O_DSYNC; a name is there after fsync of its directory.
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dice } from '../../fuzz/cases.ts';

/** When something happened. `end` is infinite for what was cut off. */
export type Times = { readonly begin: number; readonly end: number };

type Written = { readonly at: number; readonly octets: Buffer };
type Change = (Written | { readonly length: number }) & { readonly end: number; isSafe: boolean };

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

  write(at: number, octets: Buffer, { end }: Times, isSynchronous: boolean): void {
    this.#changes.push({ at, octets, end, isSafe: isSynchronous && Number.isFinite(end) });
    this.#length = Math.max(this.#length, at + octets.length);
  }

  truncate(length: number, { end }: Times): void {
    this.#changes.push({ length, end, isSafe: false });
    this.#length = length;
  }

  /** Everything that was written when it began is on the disk when it ends. */
  sync({ begin, end }: Times): void {
    if (!Number.isFinite(end)) return;
    for (const change of this.#changes) change.isSafe ||= change.end <= begin;
  }

  /** What a reader finds who saw every change. */
  get content(): Buffer {
    return this.#with((change) => [change]);
  }

  /** What is there after a loss of power. */
  survive(loss: Loss): Buffer {
    return this.#with((change) => (change.isSafe ? [change] : loss.keep(change)));
  }

  #with(kept: (change: Change) => readonly (Written | { readonly length: number })[]): Buffer {
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
type Naming = { readonly of: readonly (readonly [Directory, string, Node | undefined])[]; readonly end: number; isSafe: boolean };

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
  readonly #dice: Dice;
  /** 0: nothing survives, 1: everything does */
  readonly #share: number;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#share = dice.pick([0, 0.2, 0.5, 0.5, 0.8, 1]);
  }

  /** Whole, in pieces of sectors, or not at all, each by itself: a disk reorders what nobody has ordered. */
  keep(change: Written | { readonly length: number }): readonly (Written | { readonly length: number })[] {
    if (!this.#dice.chance(this.#share)) return [];
    if ('length' in change || !this.#dice.chance(shareTorn)) return [change];
    const pieces: Written[] = [];
    for (let from = 0; from < change.octets.length;) {
      const to = from + sectorOctets - ((change.at + from) % sectorOctets);
      if (this.#dice.chance(0.5)) pieces.push({ at: change.at + from, octets: change.octets.subarray(from, to) });
      from = to;
    }
    return pieces;
  }

  /** Of so many changes of names the first ones: a journal keeps their order. */
  first(count: number): number {
    return this.#share === 1 ? count : this.#share === 0 ? 0 : this.#dice.below(count + 1);
  }
}

const shareTorn = 0.3;
const sectorOctets = 512;

/** A tree of files below `root`; paths outside of it are none of its business. */
export class Disk {
  readonly #root: string;
  readonly #top: Directory;
  readonly #namings: Naming[] = [];

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
    this.#namings.push({ of, end, isSafe: false });
    apply(of, ({ entries }) => entries);
  }

  sync(path: string, times: Times): void {
    const node = this.find(path);
    if (node instanceof File) node.sync(times);
    if (!(node instanceof Directory) || !Number.isFinite(times.end)) return;
    for (const naming of this.#namings) {
      naming.isSafe ||=
        naming.end <= times.begin &&
        naming.of.some(([directory, , named]) => directory === node && (named !== undefined || naming.of.length === 1));
    }
  }

  /** Writes the tree to `to` as a loss of power may leave it: what is safe, and some of what is not. */
  survive(dice: Dice, to: string): void {
    const loss = new Loss(dice);
    const open = this.#namings.filter(({ isSafe }) => !isSafe);
    const kept = new Set(open.slice(0, loss.first(open.length)));
    const names = new Map<Directory, Map<string, Node>>();
    const entriesOf = (directory: Directory): Map<string, Node> => {
      const entries = names.get(directory) ?? new Map(directory.base);
      names.set(directory, entries);
      return entries;
    };
    for (const naming of this.#namings) if (naming.isSafe || kept.has(naming)) apply(naming.of, entriesOf);
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
