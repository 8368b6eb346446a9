// Changes on a replica: they run on its snapshot, see their own writes above it, and all their reads and writes are noted.
import type { Environment, Span } from './environment.ts';
import type { Intent } from './intent.ts';
import { keyBytes } from './keys.ts';
import { firstLevel } from './records/level.ts';
import { positionOf, writtenAt } from './replica.ts';

/** Interface of an environment for tables: LMDB itself, or changes noted above it. */
export type Octets = Pick<Environment, 'inCommit' | 'get' | 'keys' | 'texts' | 'count' | 'put' | 'remove' | 'undoable'>;

/** Octets that the revision of a noted key and the framing of an operation take in a request, besides key and value. */
const frameBytes = 64;

/**
 * Outside `run` this is the environment. While it runs, reads are noted and writes stay here. A read is noted even if the change that
 * made it is undone: its refusal depends on it. Every search notes the span that it was given, also where it ended early: that makes a
 * change lose once more than it had to, and never once less.
 */
export class NotedChanges implements Octets {
  readonly #base: Environment;
  #read = new Map<string, number>();
  #searched: Span[] = [];
  #written = new Map<string, Uint8Array | undefined>();
  /** functions that undo the writes of the innermost undoable work, latest last */
  #undo: (() => void)[] = [];
  #isRunning = false;

  constructor(base: Environment) {
    this.#base = base;
  }

  get inCommit(): boolean {
    return this.#isRunning || this.#base.inCommit;
  }

  /** Forgets all notes. Notes belong to one snapshot: the base must not be refreshed before the intent was taken. */
  begin(): void {
    this.#read = new Map();
    this.#searched = [];
    this.#written = new Map();
  }

  /** Returns a function that resets the notes to this moment. */
  mark(): () => void {
    const [read, searched, written] = [new Map(this.#read), [...this.#searched], new Map(this.#written)];
    return () => {
      [this.#read, this.#searched, this.#written] = [read, searched, written];
    };
  }

  /** Runs synchronous work on the snapshot and the writes noted so far. */
  run(work: () => void): void {
    this.#isRunning = true;
    try {
      work();
    } finally {
      this.#isRunning = false;
    }
  }

  /** True if nothing would be written. */
  get isReadOnly(): boolean {
    return this.#written.size === 0;
  }

  /** Upper bound of the intent's size in a request: operations of the longer of its two lists, and octets. */
  get size(): { readonly operations: number; readonly bytes: number } {
    let bytes = 0;
    for (const text of this.#read.keys()) bytes += frameBytes + text.length;
    for (const { low, high } of this.#searched) bytes += 2 * (frameBytes + low.length + high.length);
    let deletions = 0;
    for (const [text, sealed] of this.#written) {
      bytes += frameBytes + text.length + (sealed?.length ?? 0);
      if (sealed === undefined) deletions++;
    }
    const compares = this.#read.size + 3 * this.#searched.length;
    return { operations: Math.max(compares, this.#written.size + deletions), bytes };
  }

  /** Returns the intent. Throws unless this is a replica. */
  intent(): Intent {
    const position = positionOf(this.#base);
    if (position === undefined) throw new Error('the store follows no shared store');
    const { epoch, revision, level = firstLevel } = position;
    return { epoch, revision, level, read: new Map(this.#read), searched: [...this.#searched], written: new Map(this.#written) };
  }

  get(key: Buffer): Uint8Array | undefined {
    if (!this.#isRunning) return this.#base.get(key);
    const text = key.toString('utf8');
    return this.#written.has(text) ? this.#written.get(text) : this.#look(text, key);
  }

  keys(span: Span, limit: number, reverse: boolean): Buffer[] {
    if (!this.#isRunning) return this.#base.keys(span, limit, reverse);
    this.#note(span);
    const written = this.#writtenIn(span);
    const gone = new Set(written.flatMap(([text, sealed]) => (sealed === undefined ? [text] : [])));
    // As many more as may be skipped, so that the page stays full.
    const found = this.#base.keys(span, limit + gone.size, reverse).filter((key) => !gone.has(key.toString('utf8')));
    const own = written.flatMap(([text, sealed]) => (sealed === undefined ? [] : [text]));
    if (own.length === 0) return found.slice(0, limit);
    const texts = new Set([...found.map((key) => key.toString('utf8')), ...own]);
    const sorted = Array.from(texts, keyBytes).toSorted((a, b) => (reverse ? Buffer.compare(b, a) : Buffer.compare(a, b)));
    return sorted.slice(0, limit);
  }

  texts(span: Span, limit: number, reverse: boolean): string[] {
    if (!this.#isRunning) return this.#base.texts(span, limit, reverse);
    return this.keys(span, limit, reverse).map((key) => key.toString('utf8'));
  }

  count(span: Span): number {
    if (!this.#isRunning) return this.#base.count(span);
    this.#note(span);
    let count = this.#base.count(span);
    for (const [text, sealed] of this.#writtenIn(span)) {
      const isBelow = this.#base.get(keyBytes(text)) !== undefined;
      if (sealed === undefined) count -= isBelow ? 1 : 0;
      else count += isBelow ? 0 : 1;
    }
    return count;
  }

  put(key: Buffer, value: Uint8Array): void {
    this.#requireRunning();
    this.#write(key.toString('utf8'), value);
  }

  remove(key: Buffer): boolean {
    this.#requireRunning();
    if (this.get(key) === undefined) return false;
    const text = key.toString('utf8');
    // A record that only this batch has put is not deleted but never written.
    if (this.#look(text, key) === undefined) this.#forget(text);
    else this.#write(text, undefined);
    return true;
  }

  undoable<T>(work: () => T): T {
    this.#requireRunning();
    const outer = this.#undo;
    this.#undo = [];
    try {
      const result = work();
      this.#undo = [...outer, ...this.#undo];
      return result;
    } catch (error) {
      for (const step of this.#undo.toReversed()) step();
      this.#undo = outer;
      throw error;
    }
  }

  /** Reads a value of the snapshot and notes its revision. */
  #look(text: string, key: Buffer): Uint8Array | undefined {
    const value = this.#base.get(key);
    this.#read.set(text, writtenAt(value));
    return value;
  }

  #note(span: Span): void {
    const isCovered = this.#searched.some((one) => Buffer.compare(one.low, span.low) <= 0 && Buffer.compare(one.high, span.high) >= 0);
    if (!isCovered) this.#searched.push(span);
  }

  #write(text: string, sealed: Uint8Array | undefined): void {
    this.#remember(text);
    this.#written.set(text, sealed);
  }

  #forget(text: string): void {
    this.#remember(text);
    this.#written.delete(text);
  }

  #remember(text: string): void {
    const [had, before] = [this.#written.has(text), this.#written.get(text)];
    this.#undo.push(() => void (had ? this.#written.set(text, before) : this.#written.delete(text)));
  }

  #writtenIn({ low, high }: Span): [string, Uint8Array | undefined][] {
    return [...this.#written].filter(([text]) => {
      const key = keyBytes(text);
      return Buffer.compare(low, key) <= 0 && Buffer.compare(key, high) < 0;
    });
  }

  #requireRunning(): void {
    if (!this.#isRunning) throw new TypeError('a replica is written by Store.write only');
  }
}
