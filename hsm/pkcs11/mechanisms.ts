// Key types in PKCS#11: one row per type with mechanisms, key type and attributes; and the builders of mechanism parameters.
import type { HashName, KeyType, OaepHash, SchemeOptions } from '../api.ts';
import * as ck from './constants.ts';
import { addressOf, wordBytes } from './pointers.ts';

/** The family of a key type, which decides templates, encodings and checks. */
export type KeyFamily = 'aes' | 'secret' | 'cmac' | 'rsa' | 'ec' | 'edwards' | 'montgomery' | 'ml-dsa' | 'ml-kem';

/** One key type. Sizes are octets except `bits`. */
export type KeyRow = {
  readonly family: KeyFamily;
  readonly keyType: number;
  readonly generate: number;
  /** mechanism of use; named in refusals */
  readonly use: number;
  readonly useName: string;
  /** aes, secret, cmac: length of the key · rsa: length of the modulus · ec, edwards, montgomery: length of the private number · ml-dsa, ml-kem: length of the seed */
  readonly bytes: number;
  /** types that sign: length of a signature; cmac: of a MAC */
  readonly signatureBytes?: number;
  /** DER of CKA_EC_PARAMS */
  readonly curve?: string;
  /** CKA_PARAMETER_SET of ML-DSA and ML-KEM */
  readonly parameterSet?: number;
  /** attribute with the octets from which the whole private key follows, if the type has one */
  readonly seed?: 'value' | 'seed';
  /** name in node:crypto: the curve of `ec`, or asymmetricKeyType */
  readonly nodeName?: string;
  /** takes more than about 100 µs per use: runs off the host's main thread */
  readonly slow: boolean;
};

const aes = {
  family: 'aes',
  keyType: ck.CKK_AES,
  generate: ck.CKM_AES_KEY_GEN,
  use: ck.CKM_AES_GCM,
  useName: 'CKM_AES_GCM',
  slow: false,
} as const;
const cmac = {
  ...aes,
  family: 'cmac',
  use: ck.CKM_AES_CMAC,
  useName: 'CKM_AES_CMAC',
  signatureBytes: 16,
} as const;
const rsa = {
  family: 'rsa',
  keyType: ck.CKK_RSA,
  generate: ck.CKM_RSA_PKCS_KEY_PAIR_GEN,
  use: ck.CKM_RSA_PKCS,
  useName: 'CKM_RSA_PKCS',
  slow: true,
} as const;
const ec = { family: 'ec', keyType: ck.CKK_EC, generate: ck.CKM_EC_KEY_PAIR_GEN, use: ck.CKM_ECDSA, useName: 'CKM_ECDSA' } as const;
const ecdh = { ...ec, use: ck.CKM_ECDH1_DERIVE, useName: 'CKM_ECDH1_DERIVE', slow: true } as const;
const mlDsa = {
  family: 'ml-dsa',
  keyType: ck.CKK_ML_DSA,
  generate: ck.CKM_ML_DSA_KEY_PAIR_GEN,
  use: ck.CKM_ML_DSA,
  useName: 'CKM_ML_DSA',
  bytes: 32,
  seed: 'seed',
  slow: true,
} as const;

const mlKem = {
  family: 'ml-kem',
  keyType: ck.CKK_ML_KEM,
  generate: ck.CKM_ML_KEM_KEY_PAIR_GEN,
  use: ck.CKM_ML_KEM,
  useName: 'CKM_ML_KEM',
  bytes: 64,
  seed: 'seed',
  slow: true,
} as const;

/** The table of key types. */
export const keyRows: Readonly<Record<KeyType, KeyRow>> = {
  'aes-128': { ...aes, bytes: 16 },
  'aes-192': { ...aes, bytes: 24 },
  'aes-256': { ...aes, bytes: 32 },
  'secret-256': {
    family: 'secret',
    keyType: ck.CKK_GENERIC_SECRET,
    generate: ck.CKM_GENERIC_SECRET_KEY_GEN,
    use: ck.CKM_SHA256_HMAC,
    useName: 'CKM_SHA256_HMAC',
    bytes: 32,
    slow: false,
  },
  'cmac-128': { ...cmac, bytes: 16 },
  'cmac-256': { ...cmac, bytes: 32 },
  'rsa-2048': { ...rsa, bytes: 256, signatureBytes: 256 },
  'rsa-3072': { ...rsa, bytes: 384, signatureBytes: 384 },
  'rsa-4096': { ...rsa, bytes: 512, signatureBytes: 512 },
  'ecdsa-p256': { ...ec, bytes: 32, signatureBytes: 64, curve: '06082a8648ce3d030107', nodeName: 'prime256v1', slow: false },
  'ecdsa-p384': { ...ec, bytes: 48, signatureBytes: 96, curve: '06052b81040022', nodeName: 'secp384r1', slow: true },
  'ecdsa-p521': { ...ec, bytes: 66, signatureBytes: 132, curve: '06052b81040023', nodeName: 'secp521r1', slow: true },
  'ecdsa-secp256k1': { ...ec, bytes: 32, signatureBytes: 64, curve: '06052b8104000a', nodeName: 'secp256k1', slow: true },
  ed25519: {
    family: 'edwards',
    keyType: ck.CKK_EC_EDWARDS,
    generate: ck.CKM_EC_EDWARDS_KEY_PAIR_GEN,
    use: ck.CKM_EDDSA,
    useName: 'CKM_EDDSA',
    bytes: 32,
    signatureBytes: 64,
    curve: '06032b6570',
    seed: 'value',
    nodeName: 'ed25519',
    slow: false,
  },
  'ecdh-p256': { ...ecdh, bytes: 32, curve: '06082a8648ce3d030107', nodeName: 'prime256v1' },
  'ecdh-p384': { ...ecdh, bytes: 48, curve: '06052b81040022', nodeName: 'secp384r1' },
  'ecdh-p521': { ...ecdh, bytes: 66, curve: '06052b81040023', nodeName: 'secp521r1' },
  x25519: {
    family: 'montgomery',
    keyType: ck.CKK_EC_MONTGOMERY,
    generate: ck.CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
    use: ck.CKM_ECDH1_DERIVE,
    useName: 'CKM_ECDH1_DERIVE',
    bytes: 32,
    curve: '06032b656e',
    seed: 'value',
    nodeName: 'x25519',
    slow: true,
  },
  'ml-dsa-44': { ...mlDsa, signatureBytes: 2420, parameterSet: ck.CKP_ML_DSA_44, nodeName: 'ml-dsa-44' },
  'ml-dsa-65': { ...mlDsa, signatureBytes: 3309, parameterSet: ck.CKP_ML_DSA_65, nodeName: 'ml-dsa-65' },
  'ml-dsa-87': { ...mlDsa, signatureBytes: 4627, parameterSet: ck.CKP_ML_DSA_87, nodeName: 'ml-dsa-87' },
  'ml-kem-768': { ...mlKem, parameterSet: ck.CKP_ML_KEM_768, nodeName: 'ml-kem-768' },
  'ml-kem-1024': { ...mlKem, parameterSet: ck.CKP_ML_KEM_1024, nodeName: 'ml-kem-1024' },
};

/** All key types, in the order of the table. */
export const keyTypes = Object.keys(keyRows) as KeyType[];

/** Tells whether the keys of a family are octets without structure. */
export function isSymmetric(family: KeyFamily): family is 'aes' | 'secret' | 'cmac' {
  return family === 'aes' || family === 'secret' || family === 'cmac';
}

/** CKA_EC_PARAMS of a type with a curve. */
export function curveOf(type: KeyType): Buffer {
  const { curve } = keyRows[type];
  if (curve === undefined) throw new TypeError(`${type} has no curve`);
  return Buffer.from(curve, 'hex');
}

/** One hash function: its mechanisms, and the DER before the digest in a DigestInfo (RFC 8017 section 9.2, note 1). */
export type HashRow = {
  readonly bytes: number;
  readonly hash: number;
  readonly mgf: number;
  readonly hmac: number;
  readonly hmacName: string;
  readonly digestInfo: Buffer;
};

/** The table of hash functions. */
export const hashRows: Readonly<Record<HashName, HashRow>> = {
  sha256: {
    bytes: 32,
    hash: ck.CKM_SHA256,
    mgf: ck.CKG_MGF1_SHA256,
    hmac: ck.CKM_SHA256_HMAC,
    hmacName: 'CKM_SHA256_HMAC',
    digestInfo: Buffer.from('3031300d060960864801650304020105000420', 'hex'),
  },
  sha384: {
    bytes: 48,
    hash: ck.CKM_SHA384,
    mgf: ck.CKG_MGF1_SHA384,
    hmac: ck.CKM_SHA384_HMAC,
    hmacName: 'CKM_SHA384_HMAC',
    digestInfo: Buffer.from('3041300d060960864801650304020205000430', 'hex'),
  },
  sha512: {
    bytes: 64,
    hash: ck.CKM_SHA512,
    mgf: ck.CKG_MGF1_SHA512,
    hmac: ck.CKM_SHA512_HMAC,
    hmacName: 'CKM_SHA512_HMAC',
    digestInfo: Buffer.from('3051300d060960864801650304020305000440', 'hex'),
  },
};

/** The mechanisms of the one job of keys of a type: of `open` that of an RSA key that decrypts, by OAEP alone or with the decoding outside. */
export function mechanismsFor(type: KeyType, job: 'use' | 'open'): readonly number[] {
  const { family, use } = keyRows[type];
  if (job === 'open') return [ck.CKM_RSA_PKCS_OAEP, ck.CKM_RSA_X_509, ck.CKM_RSA_PKCS];
  if (family === 'rsa') return [ck.CKM_RSA_PKCS, ck.CKM_RSA_PKCS_PSS];
  return family === 'secret' ? Object.values(hashRows).map(({ hmac }) => hmac) : [use];
}

/** Octets of every GCM nonce and tag. */
export const nonceBytes = 12;
export const tagBytes = 16;

declare const checked: unique symbol;

/** A mechanism made by one of the builders below. Nothing else is accepted, because a malformed one crashes the process in the binding. */
export type Mechanism = { readonly mechanism: number; readonly parameter?: Buffer | { readonly type: number }; readonly [checked]: true };

/** A mechanism without parameters. */
export function plainMechanism(mechanism: number): Mechanism {
  if (!Number.isInteger(mechanism) || mechanism < 0 || mechanism > 0xffffffff) throw new RangeError('mechanism number out of range');
  return { mechanism } as Mechanism;
}

/**
 * CKM_AES_GCM with a 128-bit tag (CK_GCM_PARAMS of PKCS#11 2.40 errata and later), and an IV of 96 bits, or of 128 as some tokens make them. `ivBytes`:
 * with an empty IV, the octets of the one that the token is to make.
 */
export function gcmMechanism(nonce: Buffer, associatedData: Buffer | undefined, ivBytes = nonce.length): Mechanism {
  if (ivBytes !== nonceBytes && ivBytes !== 16) throw new RangeError(`a GCM nonce has ${nonceBytes} octets, or 16`);
  if (nonce.length !== ivBytes && nonce.length !== 0) throw new RangeError('a GCM nonce is there as a whole, or not at all');
  const aad = associatedData === undefined || associatedData.length === 0 ? undefined : associatedData;
  return {
    mechanism: ck.CKM_AES_GCM,
    parameter: { type: gcmParametersV240, iv: nonce, ivBits: ivBytes * 8, aad, tagBits: tagBytes * 8 },
  } as unknown as Mechanism;
}

/** CKM_RSA_PKCS_PSS over a finished digest: MGF1 with the same hash, salt of hash length (RFC 8017 section 9.1). */
export function pssMechanism(hash: HashName): Mechanism {
  const row = hashRows[hash];
  return {
    mechanism: ck.CKM_RSA_PKCS_PSS,
    parameter: { type: pssParameters, hashAlg: row.hash, mgf: row.mgf, saltLen: row.bytes },
  } as unknown as Mechanism;
}

/** CKM_RSA_PKCS_OAEP with an empty label. */
export function oaepMechanism(name: OaepHash, mgf1Hash = name): Mechanism {
  const [{ hash: hashAlg }, { mgf }] = [oaepRow(name), oaepRow(mgf1Hash)];
  return {
    mechanism: ck.CKM_RSA_PKCS_OAEP,
    parameter: { type: oaepParameters, hashAlg, mgf, source: dataSpecified },
  } as unknown as Mechanism;
}

/** CKM_ECDH1_DERIVE without a key derivation: the secret is the coordinate (SEC 1 section 3.3.1, RFC 7748 section 6). `point` is raw, which all modules take. */
export function agreementMechanism(point: Buffer): Mechanism {
  return {
    mechanism: ck.CKM_ECDH1_DERIVE,
    parameter: { type: ecdhParameters, kdf: ck.CKD_NULL, publicData: point },
  } as unknown as Mechanism;
}

/** CKM_EDDSA: without options Ed25519 itself, else with CK_EDDSA_PARAMS, phFlag ‖ length of the context ‖ its address (PKCS#11 3.2 section 6.3.17). */
export function eddsaMechanism({ context, prehash }: SchemeOptions = {}): Mechanism {
  const mechanism = ck.CKM_EDDSA;
  if (prehash !== true && (context?.length ?? 0) === 0) return plainMechanism(mechanism);
  return structured(mechanism, BigInt(prehash === true ? 1 : 0), lengthOf(context), pointerTo(context));
}

/** CKM_ML_DSA: without options hedged, else with CK_SIGN_ADDITIONAL_CONTEXT, hedgeVariant ‖ address of the context ‖ its length (section 6.67.5). */
export function mlDsaMechanism({ context, deterministic }: SchemeOptions = {}): Mechanism {
  const mechanism = ck.CKM_ML_DSA;
  if (deterministic !== true && (context?.length ?? 0) === 0) return plainMechanism(mechanism);
  const hedge = deterministic === true ? ck.CKH_DETERMINISTIC_REQUIRED : ck.CKH_HEDGE_PREFERRED;
  return structured(mechanism, BigInt(hedge), pointerTo(context), lengthOf(context));
}

/** A mechanism whose parameter is a structure of words. */
function structured(mechanism: number, ...words: readonly bigint[]): Mechanism {
  const parameter = Buffer.alloc(words.length * wordBytes);
  for (const [at, word] of words.entries()) parameter.writeBigUInt64LE(word, at * wordBytes);
  return { mechanism, parameter } as Mechanism;
}

/** Keeps the last context referenced: calls are synchronous, and the token reads it until C_Sign has returned. */
let pointedAt: Buffer | undefined;

function pointerTo(context: Uint8Array | undefined): bigint {
  if (context === undefined || context.length === 0) return 0n;
  pointedAt = Buffer.from(context);
  return addressOf(pointedAt);
}

function lengthOf(context: Uint8Array | undefined): bigint {
  return BigInt(context?.length ?? 0);
}

function oaepRow(name: OaepHash): Pick<HashRow, 'hash' | 'mgf'> {
  return name === 'sha1' ? { hash: ck.CKM_SHA_1, mgf: ck.CKG_MGF1_SHA1 } : hashRows[name];
}

/** Tags of the binding for parameter structures (CK_PARAMS_AES_GCM_v240, CK_PARAMS_RSA_PSS, CK_PARAMS_RSA_OAEP, CK_PARAMS_EC_DH). */
const gcmParametersV240 = 7;
const pssParameters = 5;
const oaepParameters = 4;
const ecdhParameters = 6;
/** CKZ_DATA_SPECIFIED */
const dataSpecified = 1;
