// Reads what `backup` of an OpenBao or Vault answers: one key with all of its versions, in clear.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { decodeBase64, decodeUtf8 } from '../../../core/base/bytes.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import { type ForeignKey, flagIn, type ForeignVersion, numberIn, pemOfSeed, textIn } from './foreign-key.ts';

/** Types of keys, by their numbers in a backup. */
const types = [
  ...['aes256-gcm96', 'ecdsa-p256', 'ed25519', 'rsa-2048', 'rsa-4096', 'chacha20-poly1305', 'ecdsa-p384', 'ecdsa-p521', 'aes128-gcm96'],
  ...['rsa-3072', 'hmac'],
];

export type BackedUp = { readonly name: string; readonly key: ForeignKey; readonly versions: ReadonlyMap<number, ForeignVersion> };

/** Throws CommandFailed for another text. */
export function readBackup(text: string): BackedUp {
  const whole = parsed(text);
  const policy = whole['policy'];
  const keys = isJsonObject(policy) ? policy['keys'] : undefined;
  if (!isJsonObject(policy) || !isJsonObject(keys)) throw notOne();
  const type = types[numberIn(policy, 'type')] ?? `of number ${numberIn(policy, 'type')}`;
  const rows = Object.entries(keys).map(([number, one]) => [Number(number), versionOf(type, isJsonObject(one) ? one : {})] as const);
  const publicKeys = rows.flatMap(([number, { publicKey }]) => (publicKey === undefined ? [] : [[number, publicKey] as const]));
  return {
    name: textIn(policy, 'name'),
    key: {
      ...{ type, derived: flagIn(policy, 'derived'), convergent: flagIn(policy, 'convergent_encryption') },
      kdf: numberIn(policy, 'kdf') === 1 ? 'hkdf_sha256' : 'hmac-sha256-counter',
      ...{ exportable: true, deletionAllowed: flagIn(policy, 'deletion_allowed') },
      leastDecryption: numberIn(policy, 'min_decryption_version'),
      leastEncryption: numberIn(policy, 'min_encryption_version'),
      // In nanoseconds, as Go writes a time.
      rotationSeconds: numberIn(policy, 'auto_rotate_period') / 1e9,
      versions: rows.map(([number]) => number).toSorted((one, other) => one - other),
      publicKeys: new Map(publicKeys),
    },
    versions: new Map(rows.map(([number, { version }]) => [number, version])),
  };
}

function versionOf(type: string, entry: JsonObject): { readonly version: ForeignVersion; readonly publicKey?: string } {
  const hmac = textIn(entry, 'hmac_key');
  const withHmac = hmac === '' ? {} : { hmac };
  const secret = textIn(entry, 'key');
  if (!/^(ecdsa|rsa|ed25519)/.test(type)) return { version: { data: secret, ...withHmac } };
  const data = type === 'ed25519' ? pemOfSeed(secret) : pemOf(keyOf(type, entry));
  return { version: { data, ...withHmac }, publicKey: createPublicKey(data).export({ type: 'spki', format: 'pem' }) };
}

/** The private key of a version whose numbers are in the backup. */
function keyOf(type: string, entry: JsonObject): KeyObject {
  const rsa = entry['rsa_key'];
  try {
    if (!isJsonObject(rsa)) {
      const bytes = { 'ecdsa-p256': 32, 'ecdsa-p384': 48 }[type] ?? 66;
      const crv = `P-${type.slice('ecdsa-p'.length)}`;
      const point = { x: octets(entry['ec_x'], bytes), y: octets(entry['ec_y'], bytes) };
      return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv, d: octets(entry['ec_d'], bytes), ...point } });
    }
    const primes = (Array.isArray(rsa['Primes']) ? rsa['Primes'] : []).map(bigOf);
    const [p = 0n, q = 0n] = primes;
    const [n, e, d] = [rsa['N'], rsa['E'], rsa['D']].map(bigOf) as [bigint, bigint, bigint];
    const parts = { n, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
    const key = Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, octets(value)]));
    return createPrivateKey({ format: 'jwk', key: { kty: 'RSA', ...key } });
  } catch {
    throw new CommandFailed(exitCodes.fault, 'the backup has a version whose private key cannot be read');
  }
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

/** Inverse of `value` modulo the prime `modulus`. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (a > 1n) {
    const quotient = a / b;
    [a, b] = [b, a % b];
    [x, y] = [y, x - quotient * y];
  }
  return ((x % modulus) + modulus) % modulus;
}

function bigOf(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new TypeError('not an integer');
}

/** Base64url of a number in `bytes` octets, or in as many as it needs. */
function octets(value: unknown, bytes = 0): string {
  const digits = bigOf(value).toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Buffer.from(even.padStart(2 * bytes, '0'), 'hex').toString('base64url');
}

/** The document; integers that no number has are bigints. */
function parsed(text: string): JsonObject {
  const json = decodeUtf8(decodeBase64(text.replaceAll(/\s/g, '')) ?? new Uint8Array());
  try {
    const exact = (_: string, value: unknown, { source }: { readonly source?: string }): unknown =>
      typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '') ? BigInt(source as string) : value;
    const document: unknown = JSON.parse(json ?? '', exact as (name: string, value: unknown) => unknown);
    if (isJsonObject(document)) return document;
  } catch {
    // Told below.
  }
  throw notOne();
}

function notOne(): CommandFailed {
  return new CommandFailed(
    exitCodes.usage,
    'this is not the backup of a transit key: the base64 that "backup" of an OpenBao or Vault answers',
  );
}
