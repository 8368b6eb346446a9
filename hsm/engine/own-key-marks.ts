// Marks of the token's own keys: what each makes of a fixed input, taken when it was found. A handle that leads to another key later, or
// did so from the start for one of the two ways to a key, gives other octets.
import * as ck from '../pkcs11/constants.ts';
import { plainMechanism } from '../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../pkcs11/return-values.ts';
import type { Attributes } from '../pkcs11/template.ts';
import type { OwnKey } from './own-keys.ts';
import type { Sessions } from './sessions.ts';

const text = Buffer.from('keystored mark');

export class OwnKeyMarks {
  readonly #sessions: Sessions;
  readonly #wrapping: number;
  /** a secret of no use but to be wrapped */
  readonly #probe: ObjectHandle;
  readonly #binding: Buffer;
  /** by number of the wrapping key */
  readonly #wrapped = new Map<number, Buffer>();

  /** Makes the probe with these attributes, and the mark of the binding key. */
  constructor(sessions: Sessions, wrappingMechanism: number, probe: Attributes, bindingKey: OwnKey) {
    this.#sessions = sessions;
    this.#wrapping = wrappingMechanism;
    const { class: _, ...attributes } = probe;
    this.#probe = sessions.module.generateKey(sessions.owner, plainMechanism(ck.CKM_GENERIC_SECRET_KEY_GEN), {
      ...attributes,
      valueLength: 32,
    });
    this.#binding = this.#mac(bindingKey.object);
    if (!this.#mac(bindingKey.handle).equals(this.#binding)) throw new TokenError(CKR_OK, 'C_Sign');
  }

  /** Whether the handles still lead to the keys that they led to. The mark of a wrapping key is taken when it is first asked for. */
  hold(bindingKey: OwnKey, number: number, wrappingKey: OwnKey): boolean {
    const known = this.#wrapped.get(number) ?? this.#wrap(wrappingKey.object);
    this.#wrapped.set(number, known);
    return this.#wrap(wrappingKey.handle).equals(known) && this.#mac(bindingKey.handle).equals(this.#binding);
  }

  #mac(key: ObjectHandle): Buffer {
    const { module, work } = this.#sessions;
    return module.sign(work, plainMechanism(ck.CKM_SHA256_HMAC), key, text, 32);
  }

  #wrap(key: ObjectHandle): Buffer {
    const { module, work } = this.#sessions;
    return module.wrapKey(work, plainMechanism(this.#wrapping), key, this.#probe);
  }
}
