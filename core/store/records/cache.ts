// Cache of decoded records, limited by the octets of their sealed form; the least recently used are evicted first. Outdated tells which of
// them a commit may use.

type Entry = { readonly value: unknown; readonly bytes: number };

/** Cache of two generations: a record that is read moves to the young one; when that is full, it becomes the old one and the old one is dropped. */
export class RecordCache {
  readonly #generationBytes: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#generationBytes = maxBytes / 2;
  }

  /** The value; undefined if it is not cached (records are never undefined). */
  get(key: string): unknown {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old.value, old.bytes);
    return old?.value;
  }

  set(key: string, value: unknown, bytes: number): void {
    if (this.#youngBytes + bytes > this.#generationBytes) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, { value, bytes });
    this.#youngBytes += bytes;
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngBytes = 0;
  }
}

/**
 * The keys that a running commit reads past the cache: those that other processes changed after the snapshot of this one, and those that
 * the commit itself has touched. LMDB lets one commit run at a time, so every other cached record is the newest one.
 */
export class Outdated {
  #keys: Set<string> = new Set();
  #areAll = false;

  /** Begins a commit. `changed`: the keys that changed after the snapshot; undefined if unknown. */
  begin(changed: readonly string[] | undefined): void {
    this.#keys = new Set(changed);
    this.#areAll = changed === undefined;
  }

  add(key: string): void {
    this.#keys.add(key);
  }

  has(key: string): boolean {
    return this.#areAll || this.#keys.has(key);
  }
}
