// Converts key material in clear: PKCS#8 to attributes on import, and back on export. Every temporary buffer is zeroed.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { HsmError, type KeyType } from '../api.ts';
import { readSequence, sequence, unsignedInteger } from './der.ts';
import { curveOf, isSymmetric, keyRows, type KeyFamily, type KeyRow } from './mechanisms.ts';
import type { ObjectHandle, PkcsModule, SessionHandle } from './module.ts';
import { CKR_OK, TokenError } from './return-values.ts';
import type { AttributeName, Attributes } from './template.ts';

const versionZero = Buffer.from('020100', 'hex');

/** The eight numbers of an RSA key, in the order of RSAPrivateKey (RFC 8017 A.1.2). */
const rsaNumbers = [
  'modulus',
  'publicExponent',
  'privateExponent',
  'prime1',
  'prime2',
  'exponent1',
  'exponent2',
  'coefficient',
] as const satisfies readonly AttributeName[];

/** Parsed material: the attributes with its value, its public key, and a function that zeroes the copies. */
export type Material = { readonly values: Attributes; readonly publicKey?: Buffer; wipe(): void };

/** Parses material of a type: raw octets or PKCS#8 DER. `invalid-key-data` when it is not a key of that type. */
export function parseMaterial(type: KeyType, material: Buffer): Material {
  const row = keyRows[type];
  if (isSymmetric(row.family)) {
    if (material.length !== row.bytes) throw new HsmError('invalid-key-data', `${type} has ${row.bytes} octets`);
    return { values: { value: material }, wipe: () => {} };
  }
  const key = parsePkcs8(material);
  if (nodeTypeOf(key) !== nodeTypeFor(type)) throw new HsmError('invalid-key-data', `the key is ${nodeTypeOf(key)}, not ${type}`);
  const publicKey = publicKeyOf(key);
  const { values, used } = valuesOf(type, key);
  return { values, publicKey, wipe: () => used.forEach((buffer) => buffer.fill(0)) };
}

/** Reads the material of an object that was loaded readable: raw octets or PKCS#8 DER. TokenError if its attributes are not such a key. */
export function readMaterial(module: PkcsModule, session: SessionHandle, object: ObjectHandle, type: KeyType): Buffer {
  const row = keyRows[type];
  try {
    return rebuild[row.family](row, (name) => module.attribute(session, object, name));
  } catch (cause) {
    throw cause instanceof TokenError ? cause : new TokenError(CKR_OK, 'C_GetAttributeValue');
  }
}

type Read = (name: AttributeName) => Buffer;

/** By family: builds the material from attributes. */
const rebuild: Readonly<Record<KeyFamily, (row: KeyRow, read: Read) => Buffer>> = {
  aes: (_row, read) => read('value'),
  secret: (_row, read) => read('value'),
  cmac: (_row, read) => read('value'),
  rsa: (_row, read) =>
    zeroing(rsaNumbers.map(read), (numbers) =>
      zeroing([sequence(versionZero, ...numbers.map(unsignedInteger))], ([key]) => toPkcs8({ key, format: 'der', type: 'pkcs1' })),
    ),
  ec: ({ bytes, nodeName }, read) =>
    zeroing([leftPadded(read('value'), bytes)], ([key]) =>
      toPkcs8({ key, format: 'raw-private', asymmetricKeyType: 'ec', namedCurve: nodeName }),
    ),
  edwards: (_row, read) => zeroing([read('value')], ([key]) => toPkcs8({ key, format: 'raw-private', asymmetricKeyType: 'ed25519' })),
  montgomery: (_row, read) => zeroing([read('value')], ([key]) => toPkcs8({ key, format: 'raw-private', asymmetricKeyType: 'x25519' })),
  'ml-dsa': ({ nodeName }, read) =>
    zeroing([read('seed')], ([key]) => toPkcs8({ key, format: 'raw-seed', asymmetricKeyType: nodeName as 'ml-dsa-65' })),
  'ml-kem': ({ nodeName }, read) =>
    zeroing([read('seed')], ([key]) => toPkcs8({ key, format: 'raw-seed', asymmetricKeyType: nodeName as 'ml-kem-768' })),
};

function parsePkcs8(material: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: material, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new HsmError('invalid-key-data', 'the key material is not a PKCS#8 private key', { cause });
  }
}

/** Returns the public key. node:crypto reads a scalar of zero as a key, which has no public key. */
function publicKeyOf(key: KeyObject): Buffer {
  try {
    return createPublicKey(key).export({ format: 'der', type: 'spki' });
  } catch (cause) {
    throw new HsmError('invalid-key-data', 'the private key has no public key', { cause });
  }
}

/** The type of the key in node:crypto, with size or curve: `rsa 2048`, `ec prime256v1`, `ed25519`. */
function nodeTypeOf(key: KeyObject): string {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'rsa') return `rsa ${details?.modulusLength}`;
  if (key.asymmetricKeyType === 'ec') return `ec ${details?.namedCurve}`;
  return String(key.asymmetricKeyType);
}

function nodeTypeFor(type: KeyType): string {
  const row = keyRows[type];
  if (row.family === 'rsa') return `rsa ${row.bytes * 8}`;
  if (row.family === 'ec') return `ec ${row.nodeName}`;
  return row.nodeName ?? type;
}

function valuesOf(type: KeyType, key: KeyObject): { values: Attributes; used: Buffer[] } {
  const row = keyRows[type];
  if (row.family === 'rsa') {
    const der = key.export({ format: 'der', type: 'pkcs1' });
    const [, ...numbers] = readSequence(der).map(({ contents }) => withoutSign(contents));
    if (!belongTogether(numbers)) {
      der.fill(0);
      throw new HsmError('invalid-key-data', 'the numbers of the RSA key do not belong together');
    }
    return { values: Object.fromEntries(rsaNumbers.map((name, index) => [name, numbers[index]])), used: [der] };
  }
  if (row.seed === 'seed') {
    const seed = rawSeed(type, key);
    return { values: seedValues(type, seed), used: [seed] };
  }
  const value = key.export({ format: 'raw-private' });
  return { values: { ecParams: curveOf(type), value }, used: [value] };
}

/** Attributes of a private key that is made from its seed. */
export function seedValues(type: KeyType, seed: Buffer): Attributes {
  const { parameterSet } = keyRows[type];
  return parameterSet !== undefined ? { parameterSet, seed } : { ecParams: curveOf(type), value: seed };
}

type Eight<T> = [T, T, T, T, T, T, T, T];

/** Neither Node nor the token compares the numbers of an RSA key, and CRT signatures never use some of them (RFC 8017 section 3.2). */
function belongTogether(octets: readonly Buffer[]): boolean {
  if (octets.length !== rsaNumbers.length) return false;
  const [n, e, d, p, q, dp, dq, qi] = octets.map((number) => BigInt(`0x${number.toString('hex')}`)) as Eight<bigint>;
  if (p < 3n || q < 3n || n !== p * q) return false;
  return (e * d) % (p - 1n) === 1n && (e * d) % (q - 1n) === 1n && dp === d % (p - 1n) && dq === d % (q - 1n) && (qi * q) % p === 1n;
}

function rawSeed(type: KeyType, key: KeyObject): Buffer {
  try {
    return key.export({ format: 'raw-seed' });
  } catch (cause) {
    throw new HsmError('invalid-key-data', `the ${type} key has no seed`, { cause });
  }
}

function toPkcs8(key: Parameters<typeof createPrivateKey>[0]): Buffer {
  return createPrivateKey(key).export({ format: 'der', type: 'pkcs8' });
}

function zeroing(buffers: readonly Buffer[], use: (buffers: [Buffer, ...Buffer[]]) => Buffer): Buffer {
  try {
    return use(buffers as [Buffer, ...Buffer[]]);
  } finally {
    for (const buffer of buffers) buffer.fill(0);
  }
}

function withoutSign(value: Buffer): Buffer {
  return value.length > 1 && value[0] === 0 ? value.subarray(1) : value;
}

function leftPadded(value: Buffer, bytes: number): Buffer {
  if (value.length === bytes) return value;
  const padded = Buffer.alloc(bytes);
  padded.set(withoutSign(value), bytes - withoutSign(value).length);
  value.fill(0);
  return padded;
}
