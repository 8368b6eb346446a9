// The token's wrapping keys in one thread: the newest wraps, older ones unwrap the blobs they wrapped until a rotation destroys them.
import { HsmError } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../pkcs11/return-values.ts';
import type { Sessions } from './sessions.ts';
import { isThere, type OwnKey, ownKeyHandle } from './own-keys.ts';
import type { Attributes } from '../pkcs11/template.ts';
import { onlyFor } from './usages.ts';

/** Label of every wrapping key. Later ones have their number in CKA_ID; the first has none. */
export const wrappingKeyLabel = 'keystored-wrapping-key';

const idPrefix = 'keystored ';

/** Attributes of a new wrapping key: only wrap and unwrap, not exportable. */
export function wrappingKeyAttributes(number: number): Attributes {
  return {
    ...{ token: true, private: true, sensitive: true, extractable: false, valueLength: 32, label: wrappingKeyLabel },
    ...onlyFor('secret', ['wrap', 'unwrap']),
    ...(number === 1 ? {} : { id: Buffer.from(`${idPrefix}${number}`) }),
  };
}

/**
 * Every wrapping key of the token by its number, unordered. A key with another CKA_ID is ignored. Two searches have to agree: with a number
 * that is read wrongly new keys would be lost after a restart, and with one that is missed a second key would get its number. Throws
 * `configuration` when two keys have the same number.
 */
export function findWrappingKeys(sessions: Sessions): Map<number, ObjectHandle> {
  const found = searchWrappingKeys(sessions);
  const again = searchWrappingKeys(sessions);
  if (found.size !== again.size || [...found.keys()].some((number) => !again.has(number))) throw new TokenError(CKR_OK, 'C_FindObjects');
  return found;
}

function searchWrappingKeys({ module, owner, work }: Sessions): Map<number, ObjectHandle> {
  const found = new Map<number, ObjectHandle>();
  for (const object of module.findObjects(work, { class: ck.CKO_SECRET_KEY, token: true, label: wrappingKeyLabel })) {
    const id = module.attribute(owner, object, 'id').toString('latin1');
    const text = id.startsWith(idPrefix) ? id.slice(idPrefix.length) : '1';
    if (!/^[1-9]\d{0,8}$/.test(text)) continue;
    const number = Number(text);
    if (found.has(number)) {
      throw new HsmError(
        'configuration',
        `the token has several keys labelled ${wrappingKeyLabel}: remove those that keystored did not make`,
      );
    }
    found.set(number, object);
  }
  return found;
}

/** A wrapping key to use. */
export type WrappingKey = OwnKey & { readonly number: number };

export class WrappingKeys {
  readonly #sessions: Sessions;
  readonly #lookAgain: <T>(work: () => T) => T;
  #keys: ReadonlyMap<number, OwnKey>;

  /** `lookAgain` runs a search so that it finds keys made by other processes. `configuration` when there is no wrapping key. */
  constructor(sessions: Sessions, lookAgain: <T>(work: () => T) => T) {
    this.#sessions = sessions;
    this.#lookAgain = lookAgain;
    this.#keys = this.#load();
  }

  /** Finds the keys again after the sessions, and with them all copies, were replaced. */
  reload(): void {
    this.#keys = this.#load();
  }

  /** Finds the keys again in the same sessions, and destroys the copies made before. */
  refresh(): void {
    const before = this.#keys;
    this.reload();
    for (const { handle, isCopy } of before.values()) if (isCopy) this.#sessions.destroy(handle);
  }

  /** Whether the newest is still in the token. Another process may have made a newer one and destroyed those that are loaded here. */
  isNewestThere(): boolean {
    if (this.#isNewestThere()) return true;
    try {
      this.#lookAgain(() => this.refresh());
    } catch (error) {
      if (error instanceof HsmError || error instanceof TokenError) return false;
      throw error;
    }
    return this.#isNewestThere();
  }

  #isNewestThere(): boolean {
    const newest = this.#keys.get(Math.max(...this.#keys.keys()));
    return newest !== undefined && isThere(this.#sessions, newest);
  }

  /** The key that wraps. `atLeast`: the newest number that is known, which another process may have made. `key-missing` when it is not found. */
  newest(atLeast = 1): WrappingKey {
    let number = Math.max(...this.#keys.keys());
    if (number < atLeast) {
      this.#lookAgain(() => this.refresh());
      number = Math.max(...this.#keys.keys());
    }
    if (number < atLeast) throw gone(atLeast);
    return { number, ...(this.#keys.get(number) as OwnKey) };
  }

  /** The key with this number. `key-missing` when the token does not have it. */
  find(number: number): ObjectHandle {
    return this.#require(number).handle;
  }

  /** As find, the persistent object instead of its session copy: only its attributes say how the key is kept. */
  objectOf(number: number): ObjectHandle {
    return this.#require(number).object;
  }

  #require(number: number): OwnKey {
    const known = this.#keys.get(number);
    if (known !== undefined) return known;
    this.#lookAgain(() => this.refresh());
    const found = this.#keys.get(number);
    if (found === undefined) throw gone(number);
    return found;
  }

  #load(): Map<number, OwnKey> {
    const found = findWrappingKeys(this.#sessions);
    if (found.size === 0) {
      throw new HsmError('configuration', `the token has no key labelled ${wrappingKeyLabel}: it was not prepared for this service`);
    }
    return new Map([...found].map(([number, object]) => [number, ownKeyHandle(this.#sessions, object, wrappingKeyLabel)]));
  }
}

function gone(number: number): HsmError {
  return new HsmError('key-missing', `the token has no wrapping key ${number}: restore the token from the backup that goes with the store`);
}
