// The token's binding keys in one thread: each binds the keys wrapped since it was made, so a token that has the wrapping key has the binding key.
import { HsmError, type OwnKeyName, unprepared } from '../../api.ts';
import type { Attributes } from '../../pkcs11/template.ts';
import { bindingKeyLabel, findNamedKeys, ownKeyId } from './names.ts';
import { type OwnKey, ownKeyHandle } from './handles.ts';
import type { Sessions } from '../sessions.ts';
import { onlyFor } from '../usages.ts';

/** Attributes of a persistent binding key: only MACs, not exportable. */
export function bindingKeyAttributes(name: OwnKeyName): Attributes {
  return {
    ...{ token: true, private: true, sensitive: true, extractable: false, label: bindingKeyLabel },
    ...onlyFor('secret', ['sign']),
    ...ownKeyId(name),
  };
}

/** A binding key to use. */
export type BindingKey = OwnKey & { readonly number: number };

export class BindingKeys {
  readonly #sessions: Sessions;
  #keys: readonly BindingKey[];

  /** Finds the binding keys. `configuration` if the token has none. */
  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#keys = this.#load();
  }

  reload(): void {
    this.#keys = this.#load();
  }

  all(): readonly BindingKey[] {
    return this.#keys;
  }

  /** The key that binds persistent objects: they stay in this token, as does its first key. */
  first(): BindingKey {
    return this.#keys[0] as BindingKey;
  }

  /** The key that binds blobs under the wrapping key with this number; undefined if it was made before the first key of this token. */
  find(number: number): BindingKey | undefined {
    return this.#keys.findLast((key) => key.number <= number);
  }

  #load(): BindingKey[] {
    const found = findNamedKeys(this.#sessions, bindingKeyLabel);
    if (found.size === 0) throw new HsmError('configuration', `the token has no key labelled ${bindingKeyLabel}: ${unprepared}`);
    return [...found.values()]
      .sort((a, b) => a.number - b.number)
      .map(({ number, object }) => ({ number, ...ownKeyHandle(this.#sessions, object, bindingKeyLabel) }));
  }
}
