// Sources of data keys: the appliance, or a cache with bounds that the caller chose.
import { SealedDataError } from './format.ts';

/** One transit key as a source of data keys. */
export type DataKeySource = {
  /** tells keys, contexts and versions apart; the same for those that may share a data key */
  readonly id: string;
  /** owner of the keys: a cache serves one */
  readonly owner: object;
  make(): Promise<{ readonly plaintext: Uint8Array; readonly ciphertext: string }>;
  open(ciphertext: string): Promise<Uint8Array>;
};

export type DataKeyCacheOptions = {
  /** Streams that one data key seals, and opens, from 1. */
  readonly maxUses: number;
  /** Limit of the use of a data key after it came from the appliance. */
  readonly maxAgeMs: number;
  /** Data keys kept at a time; the one unused for longest goes first. Default 100. */
  readonly maxKeys?: number | undefined;
};

type Entry = { readonly plaintext: Uint8Array; readonly ciphertext: string; readonly until: number; usesLeft: number };

/**
 * Data keys for reuse, so that many small streams need few requests. While a key is kept, a policy that was withdrawn has no effect on the
 * streams that it opens. A key is overwritten when its uses or its time are over, which is checked whenever the cache is used, and by
 * `clear()`.
 */
export class DataKeyCache {
  readonly #options: DataKeyCacheOptions & { readonly maxKeys: number };
  readonly #entries = new Map<string, Entry>();
  #owner: object | undefined;

  /** Throws TypeError for invalid bounds. */
  constructor({ maxUses, maxAgeMs, maxKeys = 100 }: DataKeyCacheOptions) {
    for (const [name, value] of Object.entries({ maxUses, maxKeys }))
      if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${name}: a whole number from 1`);
    if (!Number.isFinite(maxAgeMs) || maxAgeMs <= 0) throw new TypeError('maxAgeMs: milliseconds, more than 0');
    this.#options = { maxUses, maxAgeMs, maxKeys };
  }

  /** Number of cached data keys. */
  get size(): number {
    this.#sweep();
    return this.#entries.size;
  }

  /** Overwrites and forgets all data keys. */
  clear(): void {
    for (const id of [...this.#entries.keys()]) this.#drop(id);
  }

  /** @internal The key to seal with; the caller overwrites its copy. */
  async toSeal(source: DataKeySource): Promise<{ readonly plaintext: Uint8Array; readonly ciphertext: string }> {
    const id = `seal ${source.id}`;
    const kept = this.#take(id, source);
    if (kept !== undefined) return kept;
    const made = await source.make();
    this.#keep(id, made);
    return made;
  }

  /** @internal The key that was wrapped; the caller overwrites its copy. */
  async toOpen(source: DataKeySource, ciphertext: string): Promise<Uint8Array> {
    const id = `open ${source.id} ${ciphertext}`;
    const kept = this.#take(id, source);
    if (kept !== undefined) return kept.plaintext;
    const plaintext = await source.open(ciphertext);
    this.#keep(id, { plaintext, ciphertext });
    return plaintext;
  }

  #take(id: string, { owner }: DataKeySource): Entry | undefined {
    this.#owner ??= owner;
    if (this.#owner !== owner) throw new TypeError('a cache of data keys serves one client: make another for this one');
    this.#sweep();
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const copy = { ...entry, plaintext: entry.plaintext.slice() };
    this.#entries.delete(id);
    entry.usesLeft--;
    if (entry.usesLeft > 0) this.#entries.set(id, entry);
    else entry.plaintext.fill(0);
    return copy;
  }

  #keep(id: string, { plaintext, ciphertext }: { readonly plaintext: Uint8Array; readonly ciphertext: string }): void {
    this.#drop(id);
    const { maxUses, maxAgeMs, maxKeys } = this.#options;
    if (maxUses === 1) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < maxKeys) break;
      this.#drop(oldest);
    }
    this.#entries.set(id, { plaintext: plaintext.slice(), ciphertext, until: performance.now() + maxAgeMs, usesLeft: maxUses - 1 });
  }

  #sweep(): void {
    const now = performance.now();
    for (const [id, { until }] of [...this.#entries]) if (until <= now) this.#drop(id);
  }

  #drop(id: string): void {
    this.#entries.get(id)?.plaintext.fill(0);
    this.#entries.delete(id);
  }
}

/** The data key of a new stream, from the cache if there is one. */
export function dataKeyToSeal(
  source: DataKeySource,
  cache: DataKeyCache | undefined,
): Promise<{ readonly plaintext: Uint8Array; readonly ciphertext: string }> {
  return cache === undefined ? source.make() : cache.toSeal(source);
}

/** Returns the data key of a header, from the cache if it is there. Rejects with SealedDataError for an invalid key. */
export async function dataKeyToOpen(source: DataKeySource, ciphertext: string, cache: DataKeyCache | undefined): Promise<Uint8Array> {
  const dataKey = await (cache === undefined ? source.open(ciphertext) : cache.toOpen(source, ciphertext));
  if (dataKey.length !== 32) throw new SealedDataError('the wrapped key of the header is not a data key of 256 bits');
  return dataKey;
}
