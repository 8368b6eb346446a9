// The operations of an HSM host: their codes on the wire, whether they may be repeated, and how their arguments are packed into parts.
import type {
  AeadKey,
  Custody,
  Derivation,
  HashName,
  KeyBinding,
  KeyReference,
  KeyType,
  OaepHash,
  OaepOptions,
  SchemeOptions,
  SignScheme,
} from '../api.ts';
import { encodeKeyReference, frames } from './key-encoding.ts';
import { keyRows } from '../pkcs11/mechanisms.ts';
import { json, type Message } from './wire.ts';

/** One operation. `repeatable`: a job in flight when its host dies is sent to the next host once. `making`: it makes a key, which is slow. */
type OperationRow = { readonly code: number; readonly repeatable: boolean; readonly making: boolean };

/** The table of operations. */
export const operations = {
  open: { code: 1, repeatable: false, making: false },
  ping: { code: 2, repeatable: false, making: false },
  close: { code: 3, repeatable: false, making: false },
  encrypt: { code: 10, repeatable: true, making: false },
  decrypt: { code: 11, repeatable: true, making: false },
  sign: { code: 12, repeatable: true, making: false },
  hmac: { code: 13, repeatable: true, making: false },
  random: { code: 14, repeatable: true, making: false },
  selfTest: { code: 15, repeatable: true, making: false },
  inspect: { code: 17, repeatable: true, making: false },
  decryptOaep: { code: 16, repeatable: true, making: false },
  decryptPkcs1: { code: 18, repeatable: true, making: false },
  agree: { code: 19, repeatable: true, making: false },
  generate: { code: 20, repeatable: false, making: true },
  import: { code: 21, repeatable: false, making: true },
  export: { code: 22, repeatable: false, making: false },
  destroy: { code: 23, repeatable: false, making: false },
  reserve: { code: 24, repeatable: true, making: false },
  rewrap: { code: 25, repeatable: true, making: true },
  wrappingKeys: { code: 26, repeatable: true, making: true },
  makeWrappingKey: { code: 27, repeatable: true, making: true },
  destroyWrappingKey: { code: 28, repeatable: true, making: true },
  widerObjects: { code: 29, repeatable: true, making: true },
  ownObjects: { code: 30, repeatable: true, making: true },
  forget: { code: 31, repeatable: true, making: false },
  evidence: { code: 32, repeatable: true, making: true },
  forbiddenUses: { code: 33, repeatable: true, making: true },
  decapsulate: { code: 34, repeatable: true, making: false },
} as const satisfies Record<string, OperationRow>;

export type OperationName = keyof typeof operations;

/** The operations of an engine; the others concern supervisor and host. */
export type EngineOperation = Exclude<OperationName, 'open' | 'ping' | 'close'>;

/** The name of a code. Throws RangeError on an unknown one. */
export function operationNamed(code: number): OperationName {
  const name = names.get(code);
  if (name === undefined) throw new RangeError(`unknown operation ${code}`);
  return name;
}

const names = new Map(Object.entries(operations).map(([name, row]) => [row.code as number, name as OperationName]));

/** Flag of a job: it takes long enough to be moved off the host's main thread. */
export const flagSlow = 1;
/** Flag of a job: its key is derived from the key it names. */
export const flagDerived = 2;
/** Flag of a job: it is a list of calls (protocol/call-lists.ts). */
export const flagList = 4;

/** Payloads of this size are slow even with a quick mechanism. */
const slowPayloadBytes = 65_536;

/** One packed call. */
export type Call = {
  readonly name: OperationName;
  readonly flags: number;
  readonly parts: Message['parts'];
  /** zeroed as soon as the call has been sent */
  readonly wipe?: Uint8Array;
  /** number of calls, if it is a list of them */
  readonly calls?: number;
  /** tenant of the key that it uses or makes, or the `Asker`; absent: the appliance itself */
  readonly owner?: string;
};

const hashCodes: readonly HashName[] = ['sha256', 'sha384', 'sha512'];
const oaepCodes: readonly OaepHash[] = [...hashCodes, 'sha1'];
const schemeCodes: readonly SignScheme['scheme'][] = ['rsa-pkcs1v15', 'rsa-pss', 'ecdsa', 'ed25519', 'ml-dsa', 'cmac'];
const noHash = 255;

/** Octets of each hash, and of each scheme with each hash: the same buffers each time, so that equal parts are found by identity. */
const hashParts = new Map(hashCodes.map((hash, code) => [hash, Buffer.of(code)]));
const schemeParts = new Map(
  schemeCodes.map((scheme, code) => [
    scheme,
    new Map([undefined, ...hashCodes].map((hash) => [hash, Buffer.of(code, hash === undefined ? noHash : hashCodes.indexOf(hash))])),
  ]),
);

/** AEAD parts: reference of the key, or of the secret it is derived from · derivation · payload · associated data · nonce. */
function aead(name: 'encrypt' | 'decrypt', key: AeadKey, payload: Uint8Array, associatedData?: Uint8Array, nonce?: Uint8Array): Call {
  if (!('derivation' in key)) {
    return {
      name,
      flags: payloadFlags(payload),
      parts: [encodeKeyReference(key), undefined, payload, associatedData, nonce],
      owner: key.binding.tenant,
    };
  }
  const { secret } = key.derivation;
  const derivation = derivationPart(key.derivation);
  return {
    name,
    flags: payloadFlags(payload) | flagDerived,
    parts: [encodeKeyReference(secret), derivation, payload, associatedData, nonce],
    owner: secret.binding.tenant,
  };
}

/** The inputs of a derivation: type · iterations · hash of the context · salt, or those of HKDF: type · info. */
function derivationPart(derivation: Derivation): Buffer {
  if ('info' in derivation) return frames(derivation.type, derivation.info);
  const { type, iterations, contextHash, salt } = derivation;
  return frames(type, String(iterations), contextHash, salt);
}

function payloadFlags(payload: Uint8Array): number {
  return payload.length >= slowPayloadBytes ? flagSlow : 0;
}

function secretUse(name: 'agree' | 'decapsulate', key: KeyReference, octets: Uint8Array): Call {
  const flags = makingFlags(key.stored.type, key.stored.custody);
  return { name, flags, parts: [encodeKeyReference(key), undefined, octets], owner: key.binding.tenant };
}

/** Packs the arguments of each operation. */
export const call = {
  encrypt: (key: AeadKey, plaintext: Uint8Array, associatedData?: Uint8Array, nonce?: Uint8Array) =>
    aead('encrypt', key, plaintext, associatedData, nonce),
  decrypt: (key: AeadKey, sealed: Uint8Array, associatedData?: Uint8Array, _nonce?: Uint8Array) =>
    aead('decrypt', key, sealed, associatedData),
  sign: (key: KeyReference, scheme: SignScheme): Call => {
    const data = 'message' in scheme ? scheme.message : scheme.digest;
    const hash = 'hash' in scheme ? scheme.hash : undefined;
    const plain = schemeParts.get(scheme.scheme)?.get(hash);
    return {
      name: 'sign',
      flags: keyRows[key.stored.type]?.slow ? flagSlow : payloadFlags(data),
      parts: [encodeKeyReference(key), 'options' in scheme ? withOptions(plain, scheme.options) : plain, data],
      owner: key.binding.tenant,
    };
  },
  hmac: (key: KeyReference, hash: HashName, data: Uint8Array): Call => ({
    name: 'hmac',
    flags: payloadFlags(data),
    parts: [encodeKeyReference(key), hashParts.get(hash), data],
    owner: key.binding.tenant,
  }),
  decryptOaep: (key: KeyReference, hash: OaepHash, sealed: Uint8Array, { mgf1Hash = hash, label }: OaepOptions = {}): Call => ({
    name: 'decryptOaep',
    flags: makingFlags(key.stored.type, key.stored.custody),
    parts: [encodeKeyReference(key), Buffer.of(oaepCodes.indexOf(hash), oaepCodes.indexOf(mgf1Hash)), sealed, label],
    owner: key.binding.tenant,
  }),
  decryptPkcs1: (key: KeyReference, bytes: number, sealed: Uint8Array): Call => ({
    name: 'decryptPkcs1',
    flags: makingFlags(key.stored.type, key.stored.custody),
    parts: [encodeKeyReference(key), Buffer.of(bytes >>> 8, bytes & 0xff), sealed],
    owner: key.binding.tenant,
  }),
  agree: (key: KeyReference, point: Uint8Array): Call => secretUse('agree', key, point),
  decapsulate: (key: KeyReference, ciphertext: Uint8Array): Call => secretUse('decapsulate', key, ciphertext),
  random: (bytes: number): Call => ({ name: 'random', flags: 0, parts: [json({ bytes })] }),
  selfTest: (): Call => ({ name: 'selfTest', flags: 0, parts: [] }),
  inspect: (): Call => ({ name: 'inspect', flags: 0, parts: [] }),
  generate: (type: KeyType, making: Making): Call => ({
    name: 'generate',
    flags: makingFlags(type, making.custody),
    parts: [json({ type, ...making })],
    owner: making.binding.tenant,
  }),
  import: (type: KeyType, making: Making, material: Uint8Array): Call => ({
    name: 'import',
    flags: makingFlags(type, making.custody),
    parts: [json({ type, ...making }), material],
    wipe: material,
    owner: making.binding.tenant,
  }),
  forget: (key: KeyReference): Call => ({ name: 'forget', flags: 0, parts: [encodeKeyReference(key)] }),
  reserve: (type: KeyType, binding: KeyBinding): Call => ({
    name: 'reserve',
    flags: 0,
    parts: [json({ type, binding })],
    owner: binding.tenant,
  }),
  export: (key: KeyReference): Call => ({
    name: 'export',
    flags: makingFlags(key.stored.type, key.stored.custody),
    parts: [encodeKeyReference(key)],
    owner: key.binding.tenant,
  }),
  destroy: (key: KeyReference): Call => ({
    name: 'destroy',
    flags: makingFlags(key.stored.type, key.stored.custody),
    parts: [encodeKeyReference(key)],
    owner: key.binding.tenant,
  }),
  rewrap: (key: KeyReference, under: number): Call => ({
    name: 'rewrap',
    flags: flagSlow,
    parts: [encodeKeyReference(key), json({ under })],
  }),
  widerObjects: (): Call => ({ name: 'widerObjects', flags: flagSlow, parts: [] }),
  forbiddenUses: (): Call => ({ name: 'forbiddenUses', flags: flagSlow, parts: [] }),
  ownObjects: (most: number): Call => ({ name: 'ownObjects', flags: flagSlow, parts: [json({ most })] }),
  evidence: (key: KeyReference): Call => ({
    name: 'evidence',
    flags: flagSlow,
    parts: [encodeKeyReference(key)],
    owner: key.binding.tenant,
  }),
  wrappingKeys: (): Call => ({ name: 'wrappingKeys', flags: flagSlow, parts: [] }),
  makeWrappingKey: (after: number): Call => ({ name: 'makeWrappingKey', flags: flagSlow, parts: [json({ after })] }),
  destroyWrappingKey: (number: number): Call => ({ name: 'destroyWrappingKey', flags: flagSlow, parts: [json({ number })] }),
};

/**
 * Storage of a new key. `id`: hexadecimal CKA_ID that was reserved for a persistent key; without it the key gets a random one. `under`:
 * number of the newest wrapping key, which the host may not have seen yet.
 */
export type Making = {
  readonly binding: KeyBinding;
  readonly custody: Custody;
  readonly extractable: boolean;
  readonly under: number;
  readonly id?: string;
};

const prehashFlag = 1;
const deterministicFlag = 2;

/** Adds the options of a scheme: codes of scheme and hash ‖ flags ‖ context. */
function withOptions(plain: Buffer | undefined, { context, prehash, deterministic }: SchemeOptions = {}): Buffer | undefined {
  const flags = (prehash === true ? prehashFlag : 0) | (deterministic === true ? deterministicFlag : 0);
  if (plain === undefined || (flags === 0 && (context?.length ?? 0) === 0)) return plain;
  return Buffer.concat([plain, Buffer.of(flags), context ?? Buffer.alloc(0)]);
}

/** Request for a signature, without the data. */
export type UnpackedScheme = {
  readonly scheme: SignScheme['scheme'];
  readonly hash?: HashName | undefined;
  readonly options?: SchemeOptions | undefined;
};

/** The reverse of the packing of `sign`: scheme, hash and options. */
export function unpackScheme(codes: Buffer): UnpackedScheme {
  const scheme = schemeCodes[codes[0] ?? noHash];
  if (scheme === undefined) throw new RangeError('unknown signature scheme');
  const flags = codes[2];
  const options =
    flags === undefined
      ? undefined
      : { context: codes.subarray(3), prehash: (flags & prehashFlag) !== 0, deterministic: (flags & deterministicFlag) !== 0 };
  return { scheme, hash: hashCodes[codes[1] ?? noHash], options };
}

/** The reverse of the packing of `hmac`: the hash. */
export function unpackHash(codes: Buffer): HashName {
  return required(hashCodes[codes[0] ?? noHash]);
}

/** The reverse of the packing of `decryptOaep`: its hash and that of MGF1. */
export function unpackOaepHashes(codes: Buffer): { hash: OaepHash; mgf1Hash: OaepHash } {
  return { hash: required(oaepCodes[codes[0] ?? noHash]), mgf1Hash: required(oaepCodes[codes[1] ?? noHash]) };
}

function required<T>(hash: T | undefined): T {
  if (hash === undefined) throw new RangeError('unknown hash');
  return hash;
}

/** Persistent objects are slow for every type: the token searches and rewrites its files. */
function makingFlags(type: KeyType, custody: Custody): number {
  return custody === 'token' || keyRows[type]?.slow ? flagSlow : 0;
}
