// Marks of the token's own keys: the output of each for a fixed input, recorded when it was found. A handle that leads to another key later, or
// did so from the start for one of the two ways to a key, gives another output.
import * as ck from '../../pkcs11/constants.ts';
import { plainMechanism } from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import type { Attributes } from '../../pkcs11/template.ts';
import type { BindingKey } from './binding-keys.ts';
import type { Sessions } from '../sessions.ts';
import type { WrappingKey } from './wrapping-keys.ts';

const text = Buffer.from('keystored mark');

export class OwnKeyMarks {
  readonly #sessions: Sessions;
  readonly #wrapping: number;
  /** a secret that exists only to be wrapped */
  readonly #probe: ObjectHandle;
  /** marks by number of the binding key */
  readonly #macs = new Map<number, Buffer>();
  /** marks by number of the wrapping key */
  readonly #wrapped = new Map<number, Buffer>();

  /** Makes the probe with these attributes, and the mark of the binding key in use. */
  constructor(sessions: Sessions, wrappingMechanism: number, probe: Attributes, { number, object, handle }: BindingKey) {
    this.#sessions = sessions;
    this.#wrapping = wrappingMechanism;
    const { class: _, ...attributes } = probe;
    this.#probe = sessions.module.generateKey(sessions.owner, plainMechanism(ck.CKM_GENERIC_SECRET_KEY_GEN), {
      ...attributes,
      valueLength: 32,
    });
    const mark = this.#mac(object);
    if (!this.#mac(handle).equals(mark)) throw new TokenError(CKR_OK, 'C_Sign');
    this.#macs.set(number, mark);
  }

  /** Tells whether the handles still lead to the same keys. The mark of a later key is recorded at its first check. */
  hold(bindingKey: BindingKey, wrappingKey: WrappingKey): boolean {
    const wrapped = this.#wrapped.get(wrappingKey.number) ?? this.#wrap(wrappingKey.object);
    const mac = this.#macs.get(bindingKey.number) ?? this.#mac(bindingKey.object);
    this.#wrapped.set(wrappingKey.number, wrapped);
    this.#macs.set(bindingKey.number, mac);
    return this.#wrap(wrappingKey.handle).equals(wrapped) && this.#mac(bindingKey.handle).equals(mac);
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
