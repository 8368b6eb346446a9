// The table of CA key types: how users write one, the key in the token, the signature algorithm, and the digest that goes into C_Sign.
import { constants, createHash, type KeyObject, verify } from 'node:crypto';
import { pssIdentifier, readPss, rsassaPss } from '../../../core/cms/pss.ts';
import { type HashName, type KeyType, keyUses, schemeFor, type SigningKeyType, type SignScheme } from '../../../hsm/api.ts';
import { nullValue, objectIdentifier, Reader, readObjectIdentifier, sequence, tag } from '../../../core/der/der.ts';
import { encodeEcdsaSignature } from '../../../core/der/ecdsa-signature.ts';
import type { CaKey, CaPadding } from '../records/records.ts';
import type { CheckedKey, KeyFamily } from '../der/public-key.ts';

/** Key type as users write it: `cert-key-type`, with `cert-key-curve` or `cert-key-bits` if there is a choice. */
export type WrittenKeyType = {
  readonly certKeyType: 'ecdsa' | 'rsa' | 'ed25519' | 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';
  readonly certKeyCurve?: 'secp256r1' | 'secp384r1' | 'secp521r1';
  readonly certKeyBits?: 2048 | 3072 | 4096;
};

/** The token's part follows from the use of its key type. */
type Row = Omit<CaAlgorithm, 'scheme' | 'holds'> & { readonly isPss?: true };

/** Key type of CAs, and the algorithm with which a CA of it signs. */
export type CaAlgorithm = {
  readonly written: WrittenKeyType;
  /** AlgorithmIdentifier, DER; the same in tbsCertificate and outside (RFC 5280 4.1.1.2) */
  readonly identifier: Uint8Array;
  /** digest for node:crypto verification; null if the algorithm includes the hash */
  readonly hash: HashName | null;
  /** Returns the scheme with which the token signs these octets. */
  scheme(toBeSigned: Uint8Array): SignScheme;
  /** Tells whether a signature, as X.509 carries it, is one over these octets. Throws what OpenSSL throws. */
  holds(key: KeyObject, octets: Uint8Array, signature: Uint8Array): boolean;
  /** the token's raw signature as X.509 carries it */
  encodeSignature(raw: Uint8Array): Uint8Array;
};

/**
 * Algorithms by key type as the HSM names it: a key type that signs and has no row does not compile, but for secp256k1, on which nobody certifies. The first row of each `cert-key-type`
 * is its default. RFC 5758 (ECDSA), RFC 4055 5 (RSA: parameters NULL), RFC 8410 (Ed25519), RFC 9881 (ML-DSA); others have no parameters.
 */
type CaKeyType = Exclude<SigningKeyType, 'ecdsa-secp256k1'>;
const rows: Readonly<Record<CaKeyType, Row>> = {
  'ecdsa-p256': ecdsa('secp256r1', '1.2.840.10045.4.3.2', 'sha256'),
  'ecdsa-p384': ecdsa('secp384r1', '1.2.840.10045.4.3.3', 'sha384'),
  'ecdsa-p521': ecdsa('secp521r1', '1.2.840.10045.4.3.4', 'sha512'),
  'rsa-3072': rsa(3072),
  'rsa-2048': rsa(2048),
  'rsa-4096': rsa(4096),
  ed25519: wholeMessage('ed25519', '1.3.101.112'),
  'ml-dsa-44': wholeMessage('ml-dsa-44', '2.16.840.1.101.3.4.3.17'),
  'ml-dsa-65': wholeMessage('ml-dsa-65', '2.16.840.1.101.3.4.3.18'),
  'ml-dsa-87': wholeMessage('ml-dsa-87', '2.16.840.1.101.3.4.3.19'),
};

/** Every key type of CAs, in the order of the table. */
export const caAlgorithms: ReadonlyMap<KeyType, CaAlgorithm> = new Map(
  (Object.entries(rows) as [CaKeyType, Row][]).map(([type, row]) => [type, algorithmOf(type, row)]),
);

/** The same for RSA keys that sign by RSASSA-PSS, with a salt as long as the hash. */
const pssAlgorithms: ReadonlyMap<KeyType, CaAlgorithm> = new Map(
  (Object.entries(rows) as [CaKeyType, Row][]).flatMap(([type, row]) =>
    keyUses[type].family === 'rsa' && row.hash !== null
      ? [[type, algorithmOf(type, { ...row, identifier: pssIdentifier(row.hash), isPss: true })] as const]
      : [],
  ),
);

function algorithmOf(type: SigningKeyType, { isPss, ...row }: Row): CaAlgorithm {
  const padding = isPss === true ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : undefined;
  return {
    ...row,
    scheme(message) {
      const hash = row.hash ?? 'sha256';
      const digest = (): Uint8Array => createHash(hash).update(message).digest();
      return isPss === true ? { scheme: 'rsa-pss', hash, digest: digest() } : schemeFor(keyUses[type].family, message, hash, digest);
    },
    holds: (key, octets, signature) => verify(row.hash, octets, padding === undefined ? key : { key, ...padding }, signature),
  };
}

/** The row of a CA key; symmetric types have none, and only RSA keys one for RSASSA-PSS. */
export function requireCaAlgorithm({ type, padding }: Pick<CaKey, 'type' | 'padding'>): CaAlgorithm {
  const row = findCaAlgorithm(type, padding);
  if (row === undefined) throw new TypeError(`${type} is not a CA key type`);
  return row;
}

/** The same; undefined without a row. */
export function findCaAlgorithm(type: KeyType, padding?: CaPadding): CaAlgorithm | undefined {
  return (padding === 'pss' ? pssAlgorithms : caAlgorithms).get(type);
}

/** Signature algorithm of a request. `hash`: null if the algorithm includes it; `saltLength`: of RSASSA-PSS. */
type RequestSignature = { readonly hash: HashName | null; readonly saltLength?: number };

/**
 * Signature algorithm of a request made with this key; undefined: not accepted. SHA-1, MD5 and HashML-DSA are not here. A key for RSASSA-PSS
 * with parameters makes signatures with their hash and at least its salt (RFC 4055 section 3.3). Throws DerError.
 */
export function findRequestSignature(
  identifier: Uint8Array,
  { family, pss }: Pick<CheckedKey, 'family' | 'pss'>,
): RequestSignature | undefined {
  const id = readObjectIdentifier(new Reader(identifier).enter(tag.sequence).next(tag.oid).content);
  if (id !== rsassaPss || (family !== 'rsa' && family !== 'rsa-pss')) {
    const hash = requestDigests[family].get(id);
    return hash === undefined ? undefined : { hash };
  }
  const read = readPss(identifier);
  if (read === undefined || read === 'none') return undefined;
  return pss === undefined || (pss.hash === read.hash && pss.saltLength <= read.saltLength) ? read : undefined;
}

/** Tells whether such a signature is one over these octets. Throws what OpenSSL throws. */
export function holdsFor(key: KeyObject, { hash, saltLength }: RequestSignature, octets: Uint8Array, signature: Uint8Array): boolean {
  const padding = saltLength === undefined ? undefined : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  return verify(hash, octets, padding === undefined ? key : { key, ...padding }, signature);
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
  'rsa-pss': new Map(),
  ed25519: new Map([['1.3.101.112', null]]),
  'ml-dsa': new Map([
    ['2.16.840.1.101.3.4.3.17', null],
    ['2.16.840.1.101.3.4.3.18', null],
    ['2.16.840.1.101.3.4.3.19', null],
  ]),
};

function ecdsa(certKeyCurve: WrittenKeyType['certKeyCurve'] & string, dotted: string, hash: HashName): Row {
  return {
    written: { certKeyType: 'ecdsa', certKeyCurve },
    hash,
    identifier: sequence(objectIdentifier(dotted)),
    encodeSignature: encodeEcdsaSignature,
  };
}

function rsa(certKeyBits: WrittenKeyType['certKeyBits'] & number): Row {
  return {
    written: { certKeyType: 'rsa', certKeyBits },
    hash: 'sha256',
    identifier: sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue),
    encodeSignature: (raw) => raw,
  };
}

function wholeMessage(certKeyType: WrittenKeyType['certKeyType'], dotted: string): Row {
  return {
    written: { certKeyType },
    hash: null,
    identifier: sequence(objectIdentifier(dotted)),
    encodeSignature: (raw) => raw,
  };
}
