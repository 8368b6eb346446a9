// Cache of decoded records, limited by the octets of their sealed form; the least recently used are evicted first.

type Entry = { readonly value: unknown; readonly bytes: number };

/** Two generations: a record that is read moves to the young one; when that is full, it becomes the old one and the old one is dropped. */
export class RecordCache {
  readonly #generationBytes: number;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#generationBytes = maxBytes / 2;
  }

  /** The value, or undefined when it is not cached; records are never undefined. */
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
