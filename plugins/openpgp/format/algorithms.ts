// The ciphers that exist as OpenPGP keys, one row each: numbers, key material, and how a digest is signed (RFC 9580, 9.1 and 5.2.3).
import { type KeyObject, verify } from 'node:crypto';
import type { Owner } from '../../../core/base/async/shares.ts';
import { concat } from '../../../core/base/bytes.ts';
import { hashBytes } from '../../../core/base/hash.ts';
import { pkcs1VerifiesDigest } from '../../../core/base/public-keys/finished-hash.ts';
import { slowVerifier } from '../../../core/base/public-keys/slow-verifier.ts';
import { type HashName, schemeFor, type SigningKeyType, type SignScheme } from '../../../hsm/api.ts';
import { mpi } from './packets.ts';
import type { PacketVersion } from '../records.ts';

/** Input of a signature: its digest, and the octets of the digest, unless the caller has hashed them. */
export type Signed = { readonly hash: HashName; readonly digest: Uint8Array; readonly octets?: () => Uint8Array };

/** Row of an algorithm. Material and signatures are the algorithm-specific octets of a packet. */
export type Algorithm = {
  /** public-key algorithm number */
  readonly id: number;
  /** hashes that every verifier takes with it, the default first */
  readonly hashes: readonly [HashName, ...HashName[]];
  publicMaterial(key: JsonWebKey): Uint8Array;
  /** Returns the secret in clear; the caller zeroes it. */
  secretMaterial(key: JsonWebKey): Uint8Array;
  scheme(digest: Uint8Array, hash: HashName): SignScheme;
  /** Tells whether the octets from the token are a signature of the input. `by`: who waits, in turns with others where a thread verifies. */
  verifies(publicKey: KeyObject, signed: Signed, raw: Uint8Array, by: Owner): boolean | Promise<boolean>;
  /** Converts a signature from the token. */
  signatureMaterial(raw: Uint8Array): Uint8Array;
};

const rsa: Algorithm = {
  id: 1,
  hashes: ['sha512', 'sha384', 'sha256'],
  publicMaterial: ({ n, e }) => concat(mpi(octets(n)), mpi(octets(e))),
  secretMaterial: rsaSecret,
  scheme: (digest, hash) => schemeFor('rsa', digest, hash, () => digest),
  verifies: (key, { digest, hash, octets: all }, raw) =>
    all === undefined ? pkcs1VerifiesDigest(key, hash, digest, raw) : verify(hash, all(), key, raw),
  signatureMaterial: mpi,
};

// Algorithm 22, not 27: gpg and rnp do not read 27. It signs the digest as its message; the two halves are written as integers.
const ed25519Oid = Uint8Array.of(0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01);
const ed25519: Algorithm = {
  id: 22,
  hashes: ['sha512', 'sha384', 'sha256'],
  publicMaterial: ({ x }) => concat(ed25519Oid, mpi(concat(Uint8Array.of(0x40), octets(x)))),
  secretMaterial: ({ d }) => mpi(octets(d)),
  scheme: (digest, hash) => schemeFor('ed25519', digest, hash, () => digest),
  verifies: (key, { digest }, raw) => verify(null, digest, key, raw),
  signatureMaterial: halves,
};

// Algorithm 27 of RFC 9580: the octets as they are, for keys of version 6.
const nativeEd25519: Algorithm = {
  ...ed25519,
  id: 27,
  publicMaterial: ({ x }) => octets(x),
  secretMaterial: ({ d }) => octets(d),
  signatureMaterial: (raw) => raw,
};

// No hash is shorter than the curve: gpg refuses one. Of a longer one the first octets count (FIPS 186-5, 6.4); some tokens take no others.
function ecdsa(hashes: Algorithm['hashes'], oid: readonly number[]): Algorithm {
  const lengthAndOid = Uint8Array.of(oid.length, ...oid);
  const counting = (digest: Uint8Array): Uint8Array => digest.subarray(0, hashBytes[hashes[0]]);
  return {
    id: 19,
    hashes,
    publicMaterial: ({ x, y }) => concat(lengthAndOid, mpi(concat(Uint8Array.of(4), octets(x), octets(y)))),
    secretMaterial: ({ d }) => mpi(octets(d)),
    scheme: (digest, hash) => schemeFor('ecdsa', digest, hash, () => counting(digest)),
    verifies: (key, { digest, hash, octets: all }, raw, by) =>
      all === undefined
        ? slowVerifier.verify(by, { ecdsa: 'compact' }, key, counting(digest), raw)
        : verify(hash, all(), { key, dsaEncoding: 'ieee-p1363' }, raw),
    signatureMaterial: halves,
  };
}

/** A row for each key type that signs; a new one does not compile without. */
const rows: Readonly<Record<SigningKeyType, Algorithm | undefined>> = {
  'rsa-2048': rsa,
  'rsa-3072': rsa,
  'rsa-4096': rsa,
  ed25519,
  'ecdsa-p256': ecdsa(['sha256', 'sha384', 'sha512'], [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]),
  'ecdsa-p384': ecdsa(['sha384', 'sha512'], [0x2b, 0x81, 0x04, 0x00, 0x22]),
  'ecdsa-p521': ecdsa(['sha512'], [0x2b, 0x81, 0x04, 0x00, 0x23]),
  // The curve has no OID in RFC 9580, and the others no algorithm number.
  'ecdsa-secp256k1': undefined,
  'ml-dsa-44': undefined,
  'ml-dsa-65': undefined,
  'ml-dsa-87': undefined,
};

const algorithms: ReadonlyMap<string, Algorithm | undefined> = new Map(Object.entries(rows));

/** The row of a cipher, or undefined when it does not exist in OpenPGP. */
export function findAlgorithm(cipher: string, version: PacketVersion = 4): Algorithm | undefined {
  return version === 6 && cipher === 'ed25519' ? nativeEd25519 : algorithms.get(cipher);
}

/** Hash algorithm numbers (RFC 9580, 9.5). */
export const hashIds: Readonly<Record<HashName, number>> = { sha256: 8, sha384: 9, sha512: 10 };

/** mpi d ‖ mpi p ‖ mpi q ‖ mpi u, where p < q and u = p⁻¹ mod q (RFC 9580, 5.5.5.1). */
function rsaSecret({ d, p, q, qi }: JsonWebKey): Uint8Array {
  const [first, second] = [octets(p), octets(q)];
  // JWK gives qi = q⁻¹ mod p, which is our u when q is the smaller prime.
  if (Buffer.compare(second, first) < 0) return concat(...[octets(d), second, first, octets(qi)].map(mpi));
  return concat(...[octets(d), first, second, inverse(first, second)].map(mpi));
}

// Extended Euclidean algorithm; needed only when the primes are in the other order.
function inverse(value: Uint8Array, modulus: Uint8Array): Uint8Array {
  const m = BigInt(`0x${modulus.toHex()}`);
  let [r0, r1] = [m, BigInt(`0x${value.toHex()}`)];
  let [t0, t1] = [0n, 1n];
  while (r1 !== 0n) {
    const quotient = r0 / r1;
    [r0, r1] = [r1, r0 - quotient * r1];
    [t0, t1] = [t1, t0 - quotient * t1];
  }
  const hex = (t0 < 0n ? t0 + m : t0).toString(16);
  return Buffer.from(hex.padStart(modulus.length * 2, '0'), 'hex');
}

/** r ‖ s of fixed width becomes mpi r ‖ mpi s. */
function halves(raw: Uint8Array): Uint8Array {
  return concat(mpi(raw.subarray(0, raw.length / 2)), mpi(raw.subarray(raw.length / 2)));
}

function octets(field: string | undefined): Buffer {
  if (field === undefined) throw new TypeError('the key lacks a component of its type');
  return Buffer.from(field, 'base64url');
}
