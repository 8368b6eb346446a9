// The token's wrapping keys as one thread sees them: the newest wraps; older ones open what they wrapped until nothing needs them.
import { HsmError } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import type { Sessions } from './sessions.ts';
import { isThere, type OwnKey, ownKeyHandle } from './own-keys.ts';
import type { Attributes } from '../pkcs11/template.ts';
import { onlyFor } from './usages.ts';

/** Label of every wrapping key. The first has no CKA_ID of ours, later ones say their number in it. */
export const wrappingKeyLabel = 'keystored-wrapping-key';

const idPrefix = 'keystored ';

/** How to make a wrapping key: it does one thing only and never leaves. */
export function wrappingKeyAttributes(number: number): Attributes {
  return {
    ...{ token: true, private: true, sensitive: true, extractable: false, valueLength: 32, label: wrappingKeyLabel },
    ...onlyFor('secret', ['wrap', 'unwrap']),
    ...(number === 1 ? {} : { id: Buffer.from(`${idPrefix}${number}`) }),
  };
}

/**
 * Every wrapping key of the token with its number, in no order; one whose CKA_ID says no number is not ours.
 * Throws `configuration` when two have the same.
 */
export function findWrappingKeys({ module, owner }: Sessions): Map<number, ObjectHandle> {
  const found = new Map<number, ObjectHandle>();
  for (const object of module.findObjects(owner, { class: ck.CKO_SECRET_KEY, token: true, label: wrappingKeyLabel })) {
    const id = module.attribute(owner, object, 'id').toString('latin1');
    const text = id.startsWith(idPrefix) ? id.slice(idPrefix.length) : '1';
    if (!/^[1-9]\d{0,8}$/.test(text)) continue;
    const number = Number(text);
    if (found.has(number)) {
      throw new HsmError('configuration', `the token has several keys labelled ${wrappingKeyLabel}: remove those that are not ours`);
    }
    found.set(number, object);
  }
  return found;
}

export type WrappingKey = { readonly number: number; readonly handle: ObjectHandle };

export class WrappingKeys {
  readonly #sessions: Sessions;
  readonly #lookAgain: <T>(work: () => T) => T;
  #keys: ReadonlyMap<number, OwnKey>;

  /** `lookAgain` runs a search so that it sees what other processes made. `configuration` when there is none. */
  constructor(sessions: Sessions, lookAgain: <T>(work: () => T) => T) {
    this.#sessions = sessions;
    this.#lookAgain = lookAgain;
    this.#keys = this.#load();
  }

  /** Finds the keys again after their sessions, and with them all copies, were replaced. */
  reload(): void {
    this.#keys = this.#load();
  }

  /** Finds the keys again in the same sessions, where the copies made before, of keys that were destroyed too, would stay. */
  refresh(): void {
    const { module, owner } = this.#sessions;
    const before = this.#keys;
    this.reload();
    for (const { handle, isCopy } of before.values()) if (isCopy) module.destroyObject(owner, handle);
  }

  /** Whether the newest is still in the token. Others may have made a newer one and destroyed those that are loaded here. */
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

  /** The key that wraps. `atLeast`: another process has made this one, and nothing may be wrapped under an older one any more. */
  newest(atLeast = 1): WrappingKey {
    let number = Math.max(...this.#keys.keys());
    if (number < atLeast) {
      this.#lookAgain(() => this.refresh());
      number = Math.max(...this.#keys.keys());
    }
    if (number < atLeast) throw gone(atLeast);
    return { number, handle: (this.#keys.get(number) as OwnKey).handle };
  }

  /** The key with this number. `key-missing` when the token does not have it. */
  find(number: number): ObjectHandle {
    const known = this.#keys.get(number);
    if (known !== undefined) return known.handle;
    this.#lookAgain(() => this.refresh());
    const found = this.#keys.get(number);
    if (found === undefined) throw gone(number);
    return found.handle;
  }

  #load(): Map<number, OwnKey> {
    const found = findWrappingKeys(this.#sessions);
    if (found.size === 0) {
      throw new HsmError('configuration', `the token has no key labelled ${wrappingKeyLabel}: it was never prepared for this service`);
    }
    return new Map([...found].map(([number, object]) => [number, ownKeyHandle(this.#sessions, object, wrappingKeyLabel)]));
  }
}

function gone(number: number): HsmError {
  return new HsmError('key-missing', `the token has no wrapping key ${number}: restore the token from the backup that goes with the store`);
}
