// The table of CA key types: key in the token, signature algorithm of what it signs, and the digest that goes into C_Sign.
import { createHash } from 'node:crypto';
import type { HashName, KeyType, SignScheme } from '../../../hsm/api.ts';
import { integer, nullValue, objectIdentifier, Reader, readObjectIdentifier, sequence, tag } from '../../../core/der/der.ts';
import type { KeyFamily } from '../der/public-key.ts';

/** What a CA of one key type signs with. */
export type CaAlgorithm = {
  /** key type as the HSM names it */
  readonly keyType: KeyType;
  /** AlgorithmIdentifier, DER; the same in tbsCertificate and outside (RFC 5280 4.1.1.2) */
  readonly identifier: Uint8Array;
  /** digest for node:crypto verification; null where the algorithm hashes by itself */
  readonly hash: HashName | null;
  /** what to ask of the token for these octets */
  scheme(toBeSigned: Uint8Array): SignScheme;
  /** the token's raw signature as X.509 carries it */
  encodeSignature(raw: Uint8Array): Uint8Array;
};

/** RFC 5758 (ECDSA), RFC 4055 5 (RSA: parameters NULL), RFC 8410 (Ed25519), RFC 9881 (ML-DSA); others have no parameters. */
const rows: readonly CaAlgorithm[] = [
  ecdsa('ecdsa-p256', '1.2.840.10045.4.3.2', 'sha256'),
  ecdsa('ecdsa-p384', '1.2.840.10045.4.3.3', 'sha384'),
  ecdsa('ecdsa-p521', '1.2.840.10045.4.3.4', 'sha512'),
  rsa('rsa-2048'),
  rsa('rsa-3072'),
  rsa('rsa-4096'),
  wholeMessage('ed25519', '1.3.101.112', 'ed25519'),
  wholeMessage('ml-dsa-44', '2.16.840.1.101.3.4.3.17', 'ml-dsa'),
  wholeMessage('ml-dsa-65', '2.16.840.1.101.3.4.3.18', 'ml-dsa'),
  wholeMessage('ml-dsa-87', '2.16.840.1.101.3.4.3.19', 'ml-dsa'),
];

const byKeyType = new Map(rows.map((row) => [row.keyType, row]));

/** The row of a CA key type; symmetric types have none. */
export function requireCaAlgorithm(keyType: KeyType): CaAlgorithm {
  const row = byKeyType.get(keyType);
  if (row === undefined) throw new TypeError(`${keyType} is not a CA key type`);
  return row;
}

/** ECDSA-Sig-Value (RFC 3279 2.2.3) of PKCS#11's r‖s: `SEQUENCE { INTEGER r, INTEGER s }`. */
export function encodeEcdsaSignature(raw: Uint8Array): Uint8Array {
  const half = raw.length / 2;
  return sequence(integer(raw.subarray(0, half)), integer(raw.subarray(half)));
}

/**
 * Digest of the signature algorithm of a request made with a key of that family; null: the algorithm hashes by itself; undefined:
 * not accepted. SHA-1, MD5, RSA-PSS and HashML-DSA are not here (R27, R29).
 */
export function findRequestDigest(identifier: Uint8Array, family: KeyFamily): HashName | null | undefined {
  return requestDigests[family].get(readObjectIdentifier(new Reader(identifier).enter(tag.sequence).next(tag.oid).content));
}

const requestDigests: Readonly<Record<KeyFamily, ReadonlyMap<string, HashName | null>>> = {
  ec: new Map([
    ['1.2.840.10045.4.3.2', 'sha256'],
    ['1.2.840.10045.4.3.3', 'sha384'],
    ['1.2.840.10045.4.3.4', 'sha512'],
  ]),
  rsa: new Map([
    ['1.2.840.113549.1.1.11', 'sha256'],
    ['1.2.840.113549.1.1.12', 'sha384'],
    ['1.2.840.113549.1.1.13', 'sha512'],
  ]),
  ed25519: new Map([['1.3.101.112', null]]),
  'ml-dsa': new Map([
    ['2.16.840.1.101.3.4.3.17', null],
    ['2.16.840.1.101.3.4.3.18', null],
    ['2.16.840.1.101.3.4.3.19', null],
  ]),
};

function ecdsa(keyType: KeyType, dotted: string, hash: HashName): CaAlgorithm {
  return {
    keyType,
    hash,
    identifier: sequence(objectIdentifier(dotted)),
    scheme: (toBeSigned) => ({ scheme: 'ecdsa', digest: digest(hash, toBeSigned) }),
    encodeSignature: encodeEcdsaSignature,
  };
}

function rsa(keyType: KeyType): CaAlgorithm {
  return {
    keyType,
    hash: 'sha256',
    identifier: sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue),
    scheme: (toBeSigned) => ({ scheme: 'rsa-pkcs1v15', hash: 'sha256', digest: digest('sha256', toBeSigned) }),
    encodeSignature: (raw) => raw,
  };
}

function wholeMessage(keyType: KeyType, dotted: string, scheme: 'ed25519' | 'ml-dsa'): CaAlgorithm {
  return {
    keyType,
    hash: null,
    identifier: sequence(objectIdentifier(dotted)),
    scheme: (message) => ({ scheme, message }),
    encodeSignature: (raw) => raw,
  };
}

function digest(hash: HashName, data: Uint8Array): Uint8Array {
  return createHash(hash).update(data).digest();
}
