// The kinds of keys in certificates: form of the key, signature algorithms, and key usage bits that its standard forbids.
import { pssIdentifier, rsassaPss } from '../../../core/cms/pss.ts';
import { readPssKey } from '../der/public-key.ts';
import { objectIdentifier, nullValue, Reader, readBitString, readOnly, sequence, tag } from '../../../core/der/der.ts';

/** Bits of KeyUsage by their names (RFC 5280 4.2.1.3), each as a mask. */
export const usageMask = {
  digitalSignature: 1,
  keyEncipherment: 4,
  dataEncipherment: 8,
  keyAgreement: 16,
  keyCertSign: 32,
  encipherOnly: 128,
  decipherOnly: 256,
} as const;

/** Kind of key. Identifiers are whole DER AlgorithmIdentifiers, parameters included. */
export type KeyKind = {
  readonly family: 'rsa' | 'rsa-pss' | 'ec' | 'ed25519' | 'ml-dsa';
  readonly keyIdentifier: Uint8Array;
  readonly signatureIdentifiers: readonly Uint8Array[];
  /** Tells whether the identifier is right, where others than `keyIdentifier` are. */
  readonly isIdentifier?: (identifier: Uint8Array) => boolean;
  /** Tells whether the octets of subjectPublicKey have the form of this key. */
  readonly isKey: (octets: Uint8Array) => boolean;
  /** mask of KeyUsage bits */
  readonly forbiddenUsages: number;
};

const { keyEncipherment, dataEncipherment, keyAgreement, encipherOnly, decipherOnly } = usageMask;
const onlySigns = keyEncipherment | dataEncipherment | keyAgreement | encipherOnly | decipherOnly;

const absent = (dotted: string): Uint8Array => sequence(objectIdentifier(dotted));
const withNull = (dotted: string): Uint8Array => sequence(objectIdentifier(dotted), nullValue);

const ecdsaIdentifiers = ['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4'].map(absent);

/** RFC 4055 3.1: the mask has the hash of the signature, and the salt its length. */
const pssIdentifiers = (['sha256', 'sha384', 'sha512'] as const).map((hash) => pssIdentifier(hash));

const kinds: readonly KeyKind[] = [
  {
    family: 'rsa',
    keyIdentifier: withNull('1.2.840.113549.1.1.1'),
    signatureIdentifiers: [...['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.12', '1.2.840.113549.1.1.13'].map(withNull), ...pssIdentifiers],
    isKey: isRsaKey,
    forbiddenUsages: keyAgreement | encipherOnly | decipherOnly,
  },
  {
    family: 'rsa-pss',
    keyIdentifier: absent(rsassaPss),
    isIdentifier: isPssKey,
    signatureIdentifiers: pssIdentifiers,
    isKey: isRsaKey,
    forbiddenUsages: onlySigns,
  },
  ec('1.2.840.10045.3.1.7', 32),
  ec('1.3.132.0.34', 48),
  ec('1.3.132.0.35', 66),
  signing('ed25519', '1.3.101.112', 32),
  // Lengths of public keys: FIPS 204, table 2.
  signing('ml-dsa', '2.16.840.1.101.3.4.3.17', 1_312),
  signing('ml-dsa', '2.16.840.1.101.3.4.3.18', 1_952),
  signing('ml-dsa', '2.16.840.1.101.3.4.3.19', 2_592),
];

function ec(curve: string, coordinateOctets: number): KeyKind {
  return {
    family: 'ec',
    keyIdentifier: sequence(objectIdentifier('1.2.840.10045.2.1'), objectIdentifier(curve)),
    signatureIdentifiers: ecdsaIdentifiers,
    isKey: (octets) => isPoint(octets, coordinateOctets),
    forbiddenUsages: keyEncipherment | dataEncipherment,
  };
}

function signing(family: 'ed25519' | 'ml-dsa', dotted: string, keyOctets: number): KeyKind {
  return {
    family,
    keyIdentifier: absent(dotted),
    signatureIdentifiers: [absent(dotted)],
    isKey: (octets) => octets.length === keyOctets,
    forbiddenUsages: onlySigns,
  };
}

/** RFC 4055 1.2, 3.1: no parameters, or those with one hash of SHA-2. */
function isPssKey(identifier: Uint8Array): boolean {
  return readPssKey(identifier) !== undefined;
}

/** RFC 5480 2.2: uncompressed or compressed, never hybrid. */
function isPoint(octets: Uint8Array, coordinateOctets: number): boolean {
  const [form] = octets;
  if (form === 4) return octets.length === 1 + 2 * coordinateOctets;
  return (form === 2 || form === 3) && octets.length === 1 + coordinateOctets;
}

/** RFC 3279 2.3.1: `SEQUENCE { modulus INTEGER, publicExponent INTEGER }`, both positive, in DER. */
function isRsaKey(octets: Uint8Array): boolean {
  const fields = readOnly(octets, tag.sequence);
  const numbers = [fields.next(tag.integer).content, fields.next(tag.integer).content];
  fields.end();
  return numbers.every((number) => {
    const [first = 0x80, second = 0x80] = number;
    return first < 0x80 && (first !== 0 || second >= 0x80);
  });
}

/** The kind of a SubjectPublicKeyInfo by the object identifiers alone: parameters and key may still be wrong. */
export function findKeyKind(publicKey: Uint8Array): KeyKind | undefined {
  const { identifier } = readPublicKey(publicKey);
  const exact = kinds.find(({ keyIdentifier }) => Buffer.compare(keyIdentifier, identifier) === 0);
  if (exact !== undefined) return exact;
  const algorithm = oidOf(identifier);
  return kinds.find(({ keyIdentifier }) => Buffer.compare(oidOf(keyIdentifier), algorithm) === 0);
}

/** Both fields of a SubjectPublicKeyInfo. */
export function readPublicKey(publicKey: Uint8Array): { readonly identifier: Uint8Array; readonly octets: Uint8Array } {
  const fields = readOnly(publicKey, tag.sequence);
  const identifier = fields.next(tag.sequence).whole;
  const octets = readBitString(fields.next(tag.bitString).content);
  fields.end();
  return { identifier, octets };
}

function oidOf(identifier: Uint8Array): Uint8Array {
  return new Reader(identifier).enter(tag.sequence).next(tag.oid).content;
}
