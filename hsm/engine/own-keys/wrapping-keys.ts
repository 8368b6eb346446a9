// The token's wrapping keys in one thread: the newest wraps, older ones unwrap the blobs they wrapped until a rotation destroys them.
import { HsmError, lacksWrappingKey, type OwnKeyName, unprepared } from '../../api.ts';
import { TokenError } from '../../pkcs11/return-values.ts';
import type { Attributes } from '../../pkcs11/template.ts';
import { BindingKeys } from './binding-keys.ts';
import { findNamedKeys, ownKeyId, wrappingKeyLabel } from './names.ts';
import { isThere, type OwnKey, ownKeyHandle } from './handles.ts';
import type { Sessions } from '../sessions.ts';
import { onlyFor } from '../usages.ts';

/** Attributes of a persistent wrapping key: only wrap and unwrap, not exportable. */
export function wrappingKeyAttributes(name: OwnKeyName): Attributes {
  return {
    ...{ token: true, private: true, sensitive: true, extractable: false, label: wrappingKeyLabel },
    ...onlyFor('secret', ['wrap', 'unwrap']),
    ...ownKeyId(name),
  };
}

/** A wrapping key to use. */
export type WrappingKey = OwnKey & OwnKeyName;

export class WrappingKeys {
  /** reloaded together with the wrapping keys */
  readonly binding: BindingKeys;
  readonly #sessions: Sessions;
  readonly #lookAgain: <T>(work: () => T) => T;
  #keys: ReadonlyMap<number, WrappingKey>;
  /** needed binding keys that were not found again */
  #missing: readonly number[] = [];
  /** newest number that a caller has named */
  #known = 0;

  /** `lookAgain` runs a search so that it finds keys made by other processes. `configuration` if the token has no wrapping key. */
  constructor(sessions: Sessions, lookAgain: <T>(work: () => T) => T) {
    this.#sessions = sessions;
    this.#lookAgain = lookAgain;
    this.#keys = this.#load();
    this.binding = new BindingKeys(sessions);
  }

  /** Finds the keys again after the sessions, and with them all copies, were replaced. */
  reload(): void {
    this.#keys = this.#load();
    this.binding.reload();
  }

  /** Finds the keys again in the same sessions, and destroys the copies made before. */
  refresh(): void {
    const bound = this.binding.all();
    const before = [...this.#keys.values(), ...bound];
    this.reload();
    for (const { handle, isCopy } of before) if (isCopy) this.#sessions.destroy(handle);
    this.#noteMissing(bound.map(({ number }) => number));
  }

  /**
   * Notes the needed binding keys that are missing now. A rotation in another process destroys those that no wrapping key needs; one that
   * was needed a moment ago may be unneeded now.
   */
  #noteMissing(before: readonly number[]): void {
    const present = new Set(this.binding.all().map(({ number }) => number));
    const known = [...new Set([...before, ...this.#missing, ...present])].sort((a, b) => a - b);
    const needed = new Set([known[0], ...Array.from(this.#keys.keys(), (number) => known.findLast((one) => one <= number))]);
    this.#missing = known.filter((number) => needed.has(number) && !present.has(number));
  }

  /** As refresh, but also finds keys made by another process. */
  lookForMore(): void {
    this.#lookAgain(() => this.refresh());
  }

  /**
   * Tells whether the newest wrapping key and every needed binding key are still in the token. Another process may have made newer ones and destroyed
   * those that are loaded here.
   */
  areKept(): boolean {
    for (let look = 0; look < 2 && !this.#areThere(); look++) {
      try {
        this.#lookAgain(() => this.refresh());
      } catch (error) {
        // The search may have met such a change halfway, so it is repeated once.
        if (!(error instanceof HsmError || error instanceof TokenError)) throw error;
      }
    }
    return this.#areThere();
  }

  #areThere(): boolean {
    const newest = this.#keys.get(Math.max(...this.#keys.keys()));
    if (newest === undefined || this.#missing.length > 0) return false;
    return [newest, ...this.binding.all()].every((key) => isThere(this.#sessions, key));
  }

  /**
   * The key that wraps. `atLeast`: the newest known number, which another process may have made. `key-missing` if it is not found.
   * A key that was carried wraps only once a caller has named it: before that, other tokens may not have taken it yet.
   */
  newest(atLeast = 1): WrappingKey {
    this.#known = Math.max(this.#known, atLeast);
    if (Math.max(...this.#keys.keys()) < atLeast) this.lookForMore();
    if (Math.max(...this.#keys.keys()) < atLeast) throw gone(atLeast);
    const usable = [...this.#keys.values()].filter(({ number, carrying }) => carrying === undefined || number <= this.#known);
    const numbers = usable.map(({ number }) => number);
    // For tools that name no number, with a token whose keys were all carried.
    return this.#require(numbers.length === 0 ? Math.min(...this.#keys.keys()) : Math.max(...numbers));
  }

  /** Tells whether this token has the wrapping key now. */
  has(number: number): boolean {
    return this.#keys.has(number);
  }

  /** The key with this number. `key-missing` if the token does not have it. */
  find(number: number): WrappingKey {
    return this.#require(number);
  }

  #require(number: number): WrappingKey {
    const known = this.#keys.get(number);
    if (known !== undefined) return known;
    this.#lookAgain(() => this.refresh());
    const found = this.#keys.get(number);
    if (found === undefined) throw gone(number);
    return found;
  }

  #load(): Map<number, WrappingKey> {
    const found = findNamedKeys(this.#sessions, wrappingKeyLabel);
    if (found.size === 0) {
      throw new HsmError('configuration', `the token has no key labelled ${wrappingKeyLabel}: ${unprepared}`);
    }
    return new Map(
      [...found].map(([number, { object, carrying }]) => [
        number,
        { number, carrying, ...ownKeyHandle(this.#sessions, object, wrappingKeyLabel) },
      ]),
    );
  }
}

function gone(number: number): HsmError {
  return new HsmError('key-missing', lacksWrappingKey('the token', number));
}
