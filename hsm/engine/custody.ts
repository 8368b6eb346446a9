// Custody: the token's own wrapping and binding keys, wrapped blobs, token objects, and the MAC that ties a blob to its key.
//
// blob, wrapped custody: drawn in blob-format.ts
// blob, token custody:   CKA_ID (16 random octets)
import { timingSafeEqual } from 'node:crypto';
import { HsmError, type KeyBinding, type KeyType } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { frames, macInput, type DecodedReference } from '../protocol/key-encoding.ts';
import { keyRows, mechanismsFor, plainMechanism } from '../pkcs11/mechanisms.ts';
import { seedValues } from '../pkcs11/key-material.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { CKR_OK, findReturnValue, kindOf, type Remedy, TokenError } from '../pkcs11/return-values.ts';
import type { BindingKey } from './own-keys/binding-keys.ts';
import { flag } from './attributes.ts';
import type { Sessions } from './sessions.ts';
import type { AttributeName, Attributes } from '../pkcs11/template.ts';
import { kindOfType, onlyFor, type Use, usesOfType } from './usages.ts';
import { formatBlob, parseBlob, type WrappedBlob, type WrappedContent } from '../protocol/blob-format.ts';
import { OwnKeyMarks } from './own-keys/marks.ts';
import { wrappingKeyLabel } from './own-keys/names.ts';
import { type WrappingKey, WrappingKeys } from './own-keys/wrapping-keys.ts';

const CKR_KEY_UNEXTRACTABLE = 0x6a;
const CKR_TEMPLATE_INCOMPLETE = 0xd0;
const withoutRemedy: ReadonlySet<Remedy> = new Set(['none', 'doubt']);
/**
 * Placeholder of the public point: NSS softoken accepts an EC key that another token wrapped without its point only with some value there,
 * which signing does not use. The value would be wrapped as well, and no token could unwrap the result.
 */
const noPoint = Buffer.of(0);

/** Purpose for which a key object is loaded: its normal use, OAEP decryption, wrapping, or export in clear. */
export type Handling = 'use' | 'open' | 'wrap' | 'clear';

const handling: Readonly<Record<Handling, { sensitive: boolean; extractable: boolean }>> = {
  use: { sensitive: true, extractable: false },
  open: { sensitive: true, extractable: false },
  wrap: { sensitive: true, extractable: true },
  clear: { sensitive: false, extractable: true },
};

/** Uses allowed for each purpose: an object that is wrapped or read needs none. */
const usesWhile: Readonly<Record<Handling, (type: KeyType) => readonly Use[]>> = {
  use: usesOfType,
  open: () => ['decrypt'],
  wrap: () => [],
  clear: () => [],
};

/** Tells whether a key was made to decrypt, and so does nothing else. */
export function isOpening({ purpose }: Pick<KeyBinding, 'purpose'>): boolean {
  return purpose === 'decrypt';
}

/** Handling of a key for its normal use. */
export function handlingFor(binding: Pick<KeyBinding, 'purpose'>): Handling {
  return isOpening(binding) ? 'open' : 'use';
}

/** Attributes of a secret or private key object of a type, without its value. */
export function keyAttributes(type: KeyType, how: Handling): Attributes {
  const row = keyRows[type];
  const common = { keyType: row.keyType, token: false, private: true, ...handling[how] };
  const kind = kindOfType(type);
  const keyClass = kind === 'secret' ? ck.CKO_SECRET_KEY : ck.CKO_PRIVATE_KEY;
  return { class: keyClass, ...common, ...onlyFor(kind, usesWhile[how](type), row.family) };
}

/** Label of a persistent key: it distinguishes keys, also for people who look at the token. */
export function tokenKeyLabel({ tenant, keyId, version, purpose }: KeyBinding): string {
  return `keystored ${tenant} ${keyId} v${version} ${purpose}`;
}

/** Wrapping, unwrapping and binding of keys for one thread, with handles of the token's own keys in its sessions. */
export class Custody {
  readonly wrappingKeys: WrappingKeys;
  readonly #sessions: Sessions;
  readonly #wrapping: number;
  /** the token's mechanism for the key wrap of RFC 5649, which other tokens unwrap as well */
  readonly #common: number;
  #marks: OwnKeyMarks;
  /** false once the token has refused CKA_ALLOWED_MECHANISMS */
  #limitsMechanisms = true;

  /** Finds the token's own keys; `lookAgain` as in WrappingKeys. `configuration` when the token was not prepared. */
  constructor(sessions: Sessions, mechanisms: ReadonlySet<number>, lookAgain: <T>(work: () => T) => T) {
    this.#sessions = sessions;
    this.#wrapping = wrappingMechanism(mechanisms);
    this.#common = commonWrapping(mechanisms);
    this.wrappingKeys = new WrappingKeys(sessions, lookAgain);
    this.#marks = this.#takeMarks();
    this.#requireOwnKeys();
  }

  /** Finds the keys again after their sessions were replaced. */
  reload(): void {
    this.wrappingKeys.reload();
    this.#marks = this.#takeMarks();
    this.#requireOwnKeys();
  }

  /** Tells whether the token still has its own keys. Their session copies would continue to work without them. */
  keepsOwnKeys(): boolean {
    return this.wrappingKeys.areKept();
  }

  /** Tells whether the handles of the own keys still lead to them. Keys wrapped or bound by another key would be unusable after a restart. */
  usesOwnKeys(): boolean {
    const newest = this.wrappingKeys.newest();
    const hold = (): boolean => {
      try {
        return this.#marks.hold(this.#bindingKeyInUse(), newest);
      } catch (error) {
        // The probe was made to be wrapped: an error without a remedy means that the handle leads to another object.
        if (error instanceof TokenError && withoutRemedy.has(findReturnValue(error.rv).remedy)) return false;
        throw error;
      }
    };
    return hold() || hold();
  }

  /** True if other tokens may have to unwrap keys that are wrapped now. */
  get wrapsForOthers(): boolean {
    return this.wrappingKeys.newest().carrying !== undefined;
  }

  /** Computes the binding MAC of a key: HMAC-SHA-256 in the token. Twice, because a wrong one would make the key permanently unusable. */
  bind(type: KeyType, custody: 'wrapped' | 'token', binding: DecodedReference['binding'], blob: Uint8Array): Buffer {
    const key = this.#bindingKeyOf(custody, blob);
    const input = macInput(type, custody, binding, blob);
    const mac = this.#mac(key, input);
    if (!mac.equals(this.#mac(key, input))) throw new TokenError(CKR_OK, 'C_Sign');
    return mac;
  }

  /**
   * Refuses a reference whose blob this token did not bind to this binding: `key-not-usable`, after a second check; `key-missing` if it
   * does not have the object.
   */
  checkBinding({ type, custody, binding, blob, mac }: DecodedReference): void {
    const isBound = (expected: Buffer): boolean => mac.length === expected.length && timingSafeEqual(mac, expected);
    const input = macInput(type, custody, binding, blob);
    if (isBound(this.#mac(this.#bindingKeyOf(custody, blob), input))) return;
    // A binding key added by another process is found together with its wrapping key.
    if (custody === 'wrapped' && !this.wrappingKeys.has(parseBlob(blob).number)) this.wrappingKeys.lookForMore();
    if (isBound(this.bind(type, custody, binding, blob))) return;
    // The object was in another token of the group, bound with a key of that token: it is lost with that token, not damaged.
    if (custody === 'token' && this.#isGone(type, Buffer.from(blob)))
      throw new HsmError('key-missing', 'the key is no longer in its token');
    throw new HsmError('key-not-usable', 'the stored key does not belong to its record, or its blob is damaged');
  }

  /**
   * A secret of a key, 32 octets, for pseudo-random answers to what does not decrypt: a MAC of the token, under another label than bindings. The
   * same in every process and token that binds the key.
   */
  rejectionSecret({ custody, binding, blob }: DecodedReference): Buffer {
    const { tenant, keyId, version, purpose } = binding;
    return this.#mac(this.#bindingKeyOf(custody, blob), frames('keystored/implicit-rejection/1', tenant, keyId, String(version), purpose));
  }

  /** Tells whether the token lacks an object with that id. An id that it refuses to search for is not a key of this appliance. */
  #isGone(type: KeyType, id: Buffer): boolean {
    try {
      return this.findTokenKeys(type, id).length === 0;
    } catch (error) {
      if (error instanceof HsmError && error.kind === 'key-missing') return true;
      // The binding refuses an empty id; the module itself refuses other invalid ones.
      if (error instanceof HsmError || (error instanceof TokenError && kindOf(error) !== 'refused')) throw error;
      return false;
    }
  }

  /** Wraps an extractable session object under the newest wrapping key; `seed`: the seed of a key, held as a generic secret. */
  wrap(key: ObjectHandle, content: WrappedContent = 'key'): Buffer {
    const { module, work } = this.#sessions;
    const newest = this.wrappingKeys.newest();
    const { number, handle, carrying } = newest;
    const wrapped = module.wrapKey(work, plainMechanism(carrying === undefined ? this.#wrapping : this.#common), handle, key);
    return formatBlob({ mechanism: carrying === undefined ? this.#wrapping : ck.CKM_AES_KEY_WRAP_KWP, content, number, wrapped });
  }

  /**
   * Wraps a blob's key under the newest wrapping key. The key stays in the token. Key wrap is deterministic: equal octets, when the old blob
   * and the new one are unwrapped and wrapped once more, prove that the new one holds the key. `key-not-usable` if they differ.
   */
  rewrap(type: KeyType, blob: Buffer): Buffer {
    const { content } = parseBlob(blob);
    const wrapAgain = (from: Buffer): Buffer => {
      const key = this.#unwrapForWrapping(type, from);
      try {
        return this.wrap(key, content);
      } finally {
        this.#sessions.destroy(key);
      }
    };
    const fresh = wrapAgain(blob);
    if (!wrapAgain(blob).equals(fresh)) throw new TokenError(CKR_OK, 'C_UnwrapKey');
    // Checked twice, so that one wrong answer does not condemn a key.
    const opens = (): boolean => wrapAgain(fresh).equals(fresh);
    if (!opens() && !opens()) throw new HsmError('key-not-usable', 'the token cannot unwrap the blob that it has just wrapped');
    return fresh;
  }

  /**
   * Wraps a persistent key. `refused` unless it is extractable, even if the token would allow it; checked twice. `unsupported` if the token
   * cannot wrap such keys, which in wrapped custody are kept as their seed.
   */
  wrapTokenKey(type: KeyType, key: ObjectHandle): Buffer {
    const { module, work } = this.#sessions;
    const isExtractable = (): boolean => flag(module.attribute(work, key, 'extractable'));
    if (!isExtractable() && !isExtractable()) {
      const said = { rv: CKR_KEY_UNEXTRACTABLE, fn: 'C_GetAttributeValue' };
      throw new HsmError('refused', 'the key was made so that it cannot leave its token', said);
    }
    try {
      return this.wrap(key);
    } catch (error) {
      if (!(error instanceof TokenError) || kindOf(error) !== 'unsupported') throw error;
      const { rv, fn, message } = error;
      const what = `this token cannot wrap a key of type ${type} (${message}): one with custody token cannot leave it`;
      throw new HsmError('unsupported', what, { rv, fn, cause: error });
    }
  }

  /** Unwraps a blob into a session object with the given handling. */
  unwrap(type: KeyType, blob: Buffer, how: Handling): ObjectHandle {
    const parsed = parseBlob(blob);
    if (parsed.content === 'key') return this.#limited(type, how, (attributes) => this.#unwrapAs(parsed, attributes));
    requireSeedOf(type);
    const secret = this.#unwrapAs(parsed, keyAttributes('secret-256', 'clear'));
    return this.#createFromSeed(type, this.takeValue(secret), how);
  }

  /**
   * Reads the value of a readable session object, or another attribute, twice, and destroys the object: no later use would show that it was
   * read wrongly. The caller zeroes the value.
   */
  takeValue(object: ObjectHandle, attribute: AttributeName = 'value'): Buffer {
    const { module, owner } = this.#sessions;
    try {
      const value = module.attribute(owner, object, attribute);
      const again = module.attribute(owner, object, attribute);
      const isSame = value.equals(again);
      again.fill(0);
      if (isSame) return value;
      value.fill(0);
      throw new TokenError(CKR_OK, 'C_GetAttributeValue');
    } finally {
      this.#sessions.destroy(object);
    }
  }

  /** Tells whether a search finds the token's own keys. A process that has lost SoftHSM's files finds no object at all. */
  seesOwnKeys(): boolean {
    const { module, work } = this.#sessions;
    return module.findObjects(work, { class: ck.CKO_SECRET_KEY, token: true, label: wrappingKeyLabel }).length > 0;
  }

  /** Finds the persistent objects with this CKA_ID: one, or more after a call that failed after making one. `key-missing` if none is found. */
  findTokenKeys(type: KeyType, id: Buffer): ObjectHandle[] {
    const { module, work } = this.#sessions;
    const objects = module.findForSure(work, { class: keyAttributes(type, 'use').class, token: true, id });
    // The id of each is read back: a handle of another key would be used, or destroyed, in place of this one.
    if (objects.some((object) => !module.attribute(work, object, 'id').equals(id))) throw new TokenError(CKR_OK, 'C_FindObjects');
    if (objects.length === 0) throw new HsmError('key-missing', 'the key is no longer in its token');
    return objects;
  }

  /** Unwraps a blob in order to wrap it again. A seed stays a generic secret, which cannot be read. */
  #unwrapForWrapping(type: KeyType, blob: Buffer): ObjectHandle {
    const parsed = parseBlob(blob);
    if (parsed.content === 'seed') requireSeedOf(type);
    return this.#unwrapAs(parsed, keyAttributes(parsed.content === 'seed' ? 'secret-256' : type, 'wrap'));
  }

  /** Finds the binding key of a blob. `key-missing` for a blob from before this token joined. */
  #bindingKeyOf(custody: 'wrapped' | 'token', blob: Uint8Array): BindingKey {
    const { binding } = this.wrappingKeys;
    if (custody === 'token') return binding.first();
    const { number } = parseBlob(blob);
    const found = binding.find(number);
    if (found === undefined) throw new HsmError('key-missing', `the token has no binding key that goes with wrapping key ${number}`);
    return found;
  }

  #mac({ handle }: BindingKey, input: Buffer): Buffer {
    const { module, work } = this.#sessions;
    return module.sign(work, plainMechanism(ck.CKM_SHA256_HMAC), handle, input, 32);
  }

  /**
   * The binding key in use, which may not be the newest: a leftover of an interrupted carrying may lack a value (SoftHSM makes an object
   * first and sets its value later).
   */
  #bindingKeyInUse(): BindingKey {
    const { binding } = this.wrappingKeys;
    return binding.find(this.wrappingKeys.newest().number) ?? binding.first();
  }

  /** Detects a wrong handle when it is obtained, not with the first key that is made. */
  #requireOwnKeys(): void {
    if (!this.usesOwnKeys()) throw new TokenError(CKR_OK, 'C_GenerateKey');
  }

  #takeMarks(): OwnKeyMarks {
    return new OwnKeyMarks(this.#sessions, this.#wrapping, keyAttributes('secret-256', 'wrap'), this.#bindingKeyInUse());
  }

  #unwrapAs(blob: WrappedBlob, attributes: Attributes): ObjectHandle {
    const { module, owner } = this.#sessions;
    const key = this.wrappingKeys.find(blob.number);
    const mechanism = plainMechanism(this.mechanismOf(blob, key));
    const unwrap = (template: Attributes): ObjectHandle => module.unwrapKey(owner, mechanism, key.handle, blob.wrapped, template);
    try {
      return unwrap(attributes);
    } catch (error) {
      const isPointMissing = error instanceof TokenError && error.rv === CKR_TEMPLATE_INCOMPLETE && attributes.keyType === ck.CKK_EC;
      if (!isPointMissing) throw error;
      if (attributes.extractable === true && attributes.sensitive === true)
        throw new HsmError('unsupported', 'the token cannot wrap an EC key again that another token wrapped without its public point');
      return unwrap({ ...attributes, nssPublicPoint: noPoint });
    }
  }

  /**
   * Makes a session object for one job with the mechanisms of that job, if the token takes CKA_ALLOWED_MECHANISMS: a wrapped key carries no uses, and
   * attributes such as CKA_SIGN leave the mechanism open.
   */
  #limited(type: KeyType, how: Handling, make: (attributes: Attributes) => ObjectHandle): ObjectHandle {
    const attributes = keyAttributes(type, how);
    if ((how !== 'use' && how !== 'open') || !this.#limitsMechanisms) return make(attributes);
    try {
      return make({ ...attributes, allowedMechanisms: listOf(mechanismsFor(type, how)) });
    } catch (error) {
      if (!(error instanceof TokenError) || !refusedAttribute.has(error.rv)) throw error;
      const object = make(attributes);
      this.#limitsMechanisms = false;
      return object;
    }
  }

  /** The mechanism with which this token unwraps a blob. */
  mechanismOf({ mechanism }: WrappedBlob, { carrying }: WrappingKey): number {
    return carrying === undefined ? mechanism : this.#common;
  }

  /** Creates a key that the token cannot wrap: its seed is in this process for about 100 µs. */
  #createFromSeed(type: KeyType, seed: Buffer, how: Handling): ObjectHandle {
    const { module, owner } = this.#sessions;
    try {
      return this.#limited(type, how, (attributes) => module.createObject(owner, { ...attributes, ...seedValues(type, seed) }));
    } finally {
      seed.fill(0);
    }
  }
}

/** CKR_ATTRIBUTE_READ_ONLY, ATTRIBUTE_TYPE_INVALID, ATTRIBUTE_VALUE_INVALID, TEMPLATE_INCONSISTENT. */
const refusedAttribute: ReadonlySet<number> = new Set([0x10, 0x12, 0x13, 0xd1]);

/** CK_ULONG of each, as the process has them: eight octets. */
function listOf(mechanisms: readonly number[]): Buffer {
  const list = Buffer.alloc(8 * mechanisms.length);
  mechanisms.forEach((mechanism, at) => list.writeBigUInt64LE(BigInt(mechanism), 8 * at));
  return list;
}

function requireSeedOf(type: KeyType): void {
  if (keyRows[type].seed === undefined) throw new HsmError('key-not-usable', 'the stored key has an unknown form');
}

/**
 * AES key wrap with padding of RFC 5649: CKM_AES_KEY_WRAP_KWP by definition. Under CKM_AES_KEY_WRAP_PAD some modules do the same, and others
 * as PKCS#11 2.40 says; a carrying compares the results of both tokens (setup/carry.ts).
 */
export function commonWrapping(mechanisms: ReadonlySet<number>): number {
  return mechanisms.has(ck.CKM_AES_KEY_WRAP_KWP) ? ck.CKM_AES_KEY_WRAP_KWP : ck.CKM_AES_KEY_WRAP_PAD;
}

function wrappingMechanism(mechanisms: ReadonlySet<number>): number {
  for (const mechanism of [ck.CKM_AES_KEY_WRAP_PAD, ck.CKM_AES_KEY_WRAP_KWP]) {
    if (mechanisms.has(mechanism)) return mechanism;
  }
  throw new HsmError('configuration', 'the token offers neither CKM_AES_KEY_WRAP_PAD nor CKM_AES_KEY_WRAP_KWP');
}
