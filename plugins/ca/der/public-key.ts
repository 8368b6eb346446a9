// SubjectPublicKeyInfo: which keys are certified, and node:crypto's key object of one.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { findPublicKeyProblem, hasMadeUpCurve } from '../../../core/base/public-keys/public-key.ts';
import { isPssInDer, type PssParameters, readPss, rsassaPss } from '../../../core/cms/pss.ts';
import { plainRsa, spkiNamedAs } from '../../../core/der/rsa-pss.ts';
import {
  DerError,
  nullValue,
  objectIdentifier,
  readBitString,
  readObjectIdentifier,
  readOnly,
  sequence,
  tag,
} from '../../../core/der/der.ts';

const keyObjects = new WeakMap<Uint8Array, KeyObject>();

/** Returns the key object of a SubjectPublicKeyInfo; throws if it is not one. Remembered for as long as the caller keeps the same array. */
export function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const known = keyObjects.get(publicKey);
  if (known !== undefined) return known;
  const made = makeKeyObject(publicKey);
  keyObjects.set(publicKey, made);
  return made;
}

function makeKeyObject(publicKey: Uint8Array): KeyObject {
  if (hasMadeUpCurve(publicKey)) throw new DerError('curve that is written out');
  return cleanly(() => createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }));
}

/** The octets of subjectPublicKey, which key identifiers and OCSP issuer hashes are made of. */
export function bitStringOfPublicKey(publicKey: Uint8Array): Uint8Array {
  const fields = readOnly(publicKey, tag.sequence);
  fields.next(tag.sequence);
  return readBitString(fields.next(tag.bitString).content);
}

/** Families of keys that a CA certifies. */
export type KeyFamily = 'rsa' | 'rsa-pss' | 'ec' | 'ed25519' | 'ml-dsa';

/** Kind of key a CA certifies, by its whole AlgorithmIdentifier: explicit curves and stray parameters are not here. Keys for RSASSA-PSS have parameters of their own. */
type CertifiedKey = { readonly name: string; readonly family: KeyFamily; readonly identifier: Uint8Array };

const certifiedKeys: readonly CertifiedKey[] = [
  ec('ECDSA P-256', '1.2.840.10045.3.1.7'),
  ec('ECDSA P-384', '1.3.132.0.34'),
  ec('ECDSA P-521', '1.3.132.0.35'),
  { name: 'RSA', family: 'rsa', identifier: sequence(objectIdentifier('1.2.840.113549.1.1.1'), nullValue) },
  { name: 'Ed25519', family: 'ed25519', identifier: sequence(objectIdentifier('1.3.101.112')) },
  mlDsa('ML-DSA-44', '2.16.840.1.101.3.4.3.17'),
  mlDsa('ML-DSA-65', '2.16.840.1.101.3.4.3.18'),
  mlDsa('ML-DSA-87', '2.16.840.1.101.3.4.3.19'),
];

/** A key that may be certified: its family, a name for records, and the key object. */
export type CheckedKey = {
  readonly family: KeyFamily;
  readonly name: string;
  readonly keyObject: KeyObject;
  /** of a key for RSASSA-PSS with parameters: its hash, and the length of the shortest salt */
  readonly pss?: PssParameters | undefined;
};

/**
 * Checks a key offered for certification: named NIST curves, RSA (also by the name of RSASSA-PSS), Ed25519, ML-DSA, each by the rule for keys that are encrypted
 * to, and in DER, as the octets go into the certificate. The answer says what is wrong with it, for the requester.
 */
export function checkKey(publicKey: Uint8Array): CheckedKey | { readonly problem: string } {
  const identifier = algorithmOf(publicKey);
  const isPss = readObjectIdentifier(readOnly(identifier, tag.sequence).next(tag.oid).content) === rsassaPss;
  const pss = isPss ? readPssKey(identifier) : undefined;
  if (isPss && pss === undefined) return { problem: refusedPss };
  const row = isPss ? pssRow : certifiedKeys.find((key) => Buffer.compare(key.identifier, identifier) === 0);
  if (row === undefined) return { problem: 'has a key whose type, curve or parameters are not certified here' };
  // Not remembered: a request is met once.
  const keyObject = makeKeyObject(publicKey);
  const problem = isWrittenPoint(row, publicKey) ? undefined : findPublicKeyProblem(keyObject, 'encrypt');
  if (problem !== undefined) return { problem: `carries a key that ${problem}` };
  if (!isWrittenAsDer(publicKey, keyObject)) return { problem: 'carries a key that is not written in DER' };
  if (row.family !== 'rsa' && row.family !== 'rsa-pss') return { family: row.family, name: row.name, keyObject };
  const name = `${row.name} ${keyObject.asymmetricKeyDetails?.modulusLength}`;
  return { family: row.family, name, keyObject, ...(pss === undefined || pss === 'none' ? {} : { pss }) };
}

const pssRow: CertifiedKey = { name: 'RSA-PSS', family: 'rsa-pss', identifier: sequence(objectIdentifier(rsassaPss)) };
const refusedPss =
  'has a key for RSASSA-PSS with parameters that are not certified here: leave them out, or name SHA-256, SHA-384 or SHA-512 with MGF1 of the same hash, in DER';

/** Parameters of a key for RSASSA-PSS; undefined for those that are refused (SHA-1, which is meant by default). */
export function readPssKey(identifier: Uint8Array): PssParameters | 'none' | undefined {
  const read = readPss(identifier);
  return read === undefined || read === 'none' || isPssInDer(identifier, read) ? read : undefined;
}

/**
 * Tells whether the key is a point with coordinates (SEC 1 2.3.3): infinity, the one point that the rule for EC keys refuses, is a single
 * octet 0. OpenSSL has checked that it is on the curve.
 */
function isWrittenPoint({ family }: CertifiedKey, publicKey: Uint8Array): boolean {
  return family === 'ec' && pointForms.has(bitStringOfPublicKey(publicKey)[0] ?? 0);
}

/** Compressed with either sign, and uncompressed. */
const pointForms: ReadonlySet<number> = new Set([2, 3, 4]);

// OpenSSL reads negative numbers, numbers with zeros before them and hybrid points (RFC 5480 2.2 forbids these); others do not.
function isWrittenAsDer(publicKey: Uint8Array, keyObject: KeyObject): boolean {
  if (keyObject.asymmetricKeyType === 'ec') return (bitStringOfPublicKey(publicKey)[0] ?? 0) <= 4;
  const written = cleanly(() => plainRsa(keyObject).export({ format: 'der', type: 'spki' }));
  return Buffer.compare(keyObject.asymmetricKeyType === 'rsa-pss' ? spkiNamedAs(publicKey, written) : written, publicKey) === 0;
}

/** DER AlgorithmIdentifier of a SubjectPublicKeyInfo. */
export function algorithmOf(publicKey: Uint8Array): Uint8Array {
  return readOnly(publicKey, tag.sequence).next(tag.sequence).whole;
}

function ec(name: string, curve: string): CertifiedKey {
  return { name, family: 'ec', identifier: sequence(objectIdentifier('1.2.840.10045.2.1'), objectIdentifier(curve)) };
}

function mlDsa(name: string, dotted: string): CertifiedKey {
  return { name, family: 'ml-dsa', identifier: sequence(objectIdentifier(dotted)) };
}
