// Custody: the token's own wrapping and binding keys, wrapped blobs, token objects, and the MAC that ties a blob to its key (design hsm 1-5).
//
// blob, wrapped custody: form(1) ‖ wrapped key     form: 1 CKM_AES_KEY_WRAP_PAD, 3 CKM_AES_KEY_WRAP_KWP, of the key itself (raw or PKCS#8);
//                                                 2 and 4 the same of an Ed25519 seed as a generic secret of 32 octets
// blob, token custody:   CKA_ID (16 random octets)
import { timingSafeEqual } from 'node:crypto';
import { HsmError, type KeyType } from './api.ts';
import * as ck from './constants.ts';
import { macInput, type DecodedReference } from './key-encoding.ts';
import { curveOf, keyRows, plainMechanism } from './mechanisms.ts';
import type { ObjectHandle } from './module.ts';
import { TokenError } from './return-values.ts';
import type { Sessions } from './sessions.ts';
import type { Attributes } from './template.ts';

/** Labels of the two keys that live in the token itself. */
export const wrappingKeyLabel = 'keystored-wrapping-key';
export const bindingKeyLabel = 'keystored-binding-key';

/** What a blob's first octet says. The mechanism is part of it, because a later firmware may offer another one first. */
const forms: ReadonlyMap<number, { readonly mechanism: number; readonly content: 'key' | 'seed' }> = new Map([
  [1, { mechanism: ck.CKM_AES_KEY_WRAP_PAD, content: 'key' }],
  [2, { mechanism: ck.CKM_AES_KEY_WRAP_PAD, content: 'seed' }],
  [3, { mechanism: ck.CKM_AES_KEY_WRAP_KWP, content: 'key' }],
  [4, { mechanism: ck.CKM_AES_KEY_WRAP_KWP, content: 'seed' }],
]);

/** How a key object may be used once loaded: for its work, to open OAEP, for export in clear, or while it is being wrapped. */
export type Handling = 'use' | 'open' | 'wrap' | 'clear';

const handling: Readonly<Record<Handling, { sensitive: boolean; extractable: boolean }>> = {
  use: { sensitive: true, extractable: false },
  open: { sensitive: true, extractable: false },
  wrap: { sensitive: true, extractable: true },
  clear: { sensitive: false, extractable: true },
};

/** Attributes of a secret or private key object of a type, without its value. */
export function keyAttributes(type: KeyType, how: Handling): Attributes {
  const row = keyRows[type];
  const common = { keyType: row.keyType, token: false, private: true, ...handling[how] };
  if (row.family === 'aes') return { class: ck.CKO_SECRET_KEY, ...common, encrypt: true, decrypt: true };
  if (row.family === 'secret') return { class: ck.CKO_SECRET_KEY, ...common, sign: true };
  return { class: ck.CKO_PRIVATE_KEY, ...common, ...(how === 'open' ? { decrypt: true } : { sign: true }) };
}

/** The custody of one thread: handles of the token's own keys, as seen by its sessions. */
export class Custody {
  readonly #sessions: Sessions;
  readonly #wrapping: number;
  #wrappingKey: ObjectHandle;
  #bindingKey: ObjectHandle;

  /** Finds the token's own keys. `configuration` when the token was never prepared. */
  constructor(sessions: Sessions, mechanisms: ReadonlySet<number>) {
    this.#sessions = sessions;
    this.#wrapping = wrappingMechanism(mechanisms);
    this.#wrappingKey = this.#findOwnKey(wrappingKeyLabel);
    this.#bindingKey = this.#findOwnKey(bindingKeyLabel);
  }

  /** Finds the keys again after their sessions were replaced. */
  reload(): void {
    this.#wrappingKey = this.#findOwnKey(wrappingKeyLabel);
    this.#bindingKey = this.#findOwnKey(bindingKeyLabel);
  }

  /** The binding MAC of a key: HMAC-SHA-256 in the token. */
  bind(type: KeyType, custody: 'wrapped' | 'token', binding: DecodedReference['binding'], blob: Uint8Array): Buffer {
    const { module, work } = this.#sessions;
    return Buffer.from(module.sign(work, plainMechanism(ck.CKM_SHA256_HMAC), this.#bindingKey, macInput(type, custody, binding, blob), 32));
  }

  /** Refuses a reference whose blob was not bound to these words by this token: `key-not-usable`. */
  checkBinding({ type, custody, binding, blob, mac }: DecodedReference): void {
    const expected = this.bind(type, custody, binding, blob);
    if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
      throw new HsmError('key-not-usable', 'the stored key is not the one this record was made with');
    }
  }

  /** Wraps an extractable session object; `seed` when the object is an Ed25519 seed held as a generic secret. */
  wrap(key: ObjectHandle, content: 'key' | 'seed' = 'key'): Buffer {
    const { module, work } = this.#sessions;
    const [form] = [...forms].find(([, row]) => row.mechanism === this.#wrapping && row.content === content) as [number, unknown];
    return Buffer.concat([Buffer.of(form), module.wrapKey(work, plainMechanism(this.#wrapping), this.#wrappingKey, key)]);
  }

  /** Wraps a persistent key, if it may leave its token: `refused` else, whatever the token itself would say. */
  wrapTokenKey(key: ObjectHandle): Buffer {
    const { module, work } = this.#sessions;
    if (!flag(module.attribute(work, key, 'extractable'))) throw new HsmError('refused', 'the key was made never to leave its token');
    return this.wrap(key);
  }

  /** Unwraps a blob into a session object with the given handling. */
  unwrap(type: KeyType, blob: Buffer, how: Handling): ObjectHandle {
    const form = forms.get(blob[0] ?? 0);
    if (form === undefined || blob.length < 2 || (form.content === 'seed' && type !== 'ed25519')) {
      throw new HsmError('key-not-usable', 'the stored key has an unknown form');
    }
    const wrapped = blob.subarray(1);
    if (form.content === 'key') return this.#unwrapAs(form.mechanism, wrapped, keyAttributes(type, how));
    const secret = this.#unwrapAs(form.mechanism, wrapped, keyAttributes('secret-256', 'clear'));
    return this.#createFromSeed(type, this.takeValue(secret), how);
  }

  /** Reads the value of a readable session object and destroys the object. The caller zeroes what it gets. */
  takeValue(object: ObjectHandle): Buffer {
    const { module, owner } = this.#sessions;
    try {
      return module.attribute(owner, object, 'value');
    } finally {
      module.destroyObject(owner, object);
    }
  }

  /** Whether the token still shows its own keys: a process that lost sight of SoftHSM's files finds nothing at all. */
  seesOwnKeys(): boolean {
    const { module, work } = this.#sessions;
    return module.findObjects(work, { class: ck.CKO_SECRET_KEY, token: true, label: wrappingKeyLabel }).length > 0;
  }

  /** The persistent object with this CKA_ID. `key-not-usable` when it is gone. */
  findTokenKey(type: KeyType, id: Buffer): ObjectHandle {
    const { module, work } = this.#sessions;
    const objects = module.findObjects(work, { class: keyAttributes(type, 'use').class, token: true, id });
    const [object, ...more] = objects;
    if (object === undefined || more.length > 0) {
      throw new HsmError(
        'key-not-usable',
        object === undefined ? 'the key is no longer in its token' : 'the token has several keys with this id',
      );
    }
    return object;
  }

  #unwrapAs(mechanism: number, wrapped: Buffer, attributes: Attributes): ObjectHandle {
    const { module, owner } = this.#sessions;
    return module.unwrapKey(owner, plainMechanism(mechanism), this.#wrappingKey, wrapped, attributes);
  }

  /** Ed25519 on tokens that cannot wrap it: the seed passes through this process for about 100 µs (reference A1.3). */
  #createFromSeed(type: KeyType, seed: Buffer, how: Handling): ObjectHandle {
    const { module, owner } = this.#sessions;
    try {
      return module.createObject(owner, { ...keyAttributes(type, how), ecParams: curveOf(type), value: seed });
    } finally {
      seed.fill(0);
    }
  }

  #findOwnKey(label: string): ObjectHandle {
    const { module, owner } = this.#sessions;
    const objects = module.findObjects(owner, { class: ck.CKO_SECRET_KEY, token: true, label });
    const [object, ...more] = objects;
    if (object === undefined)
      throw new HsmError('configuration', `the token has no key labelled ${label}: it was never prepared for this service`);
    if (more.length > 0)
      throw new HsmError('configuration', `the token has several keys labelled ${label}: remove those that are not ours`);
    if (flag(module.attribute(owner, object, 'extractable')) || !flag(module.attribute(owner, object, 'sensitive'))) {
      throw new HsmError('configuration', `the key labelled ${label} can be read out of the token: it was not made by this service`);
    }
    return this.#sessionCopy(object);
  }

  /** A session copy is quicker to use than the persistent object (reference A1.4); tokens that refuse to copy lend the object itself. */
  #sessionCopy(object: ObjectHandle): ObjectHandle {
    const { module, owner } = this.#sessions;
    try {
      return module.copyObject(owner, object, { token: false });
    } catch (error) {
      if (error instanceof TokenError) return object;
      throw error;
    }
  }
}

function wrappingMechanism(mechanisms: ReadonlySet<number>): number {
  for (const mechanism of [ck.CKM_AES_KEY_WRAP_PAD, ck.CKM_AES_KEY_WRAP_KWP]) {
    if (mechanisms.has(mechanism)) return mechanism;
  }
  throw new HsmError('configuration', 'the token offers neither CKM_AES_KEY_WRAP_PAD nor CKM_AES_KEY_WRAP_KWP');
}

function flag(value: Buffer): boolean {
  return value[0] === 1;
}
