// Symmetric keys that Create makes: Cryptographic Algorithm of the specification, and the lengths in bits with their octets.
import { fail } from '../errors.ts';
import type { StoredAttribute } from '../records/object-record.ts';
import type { ObjectType } from '../records/object-values.ts';
import { invalid } from './attribute-json.ts';
import { numberOf } from './attributes.ts';

type Lengths = ReadonlyMap<number, number>;

const plain = (...bits: readonly number[]): Lengths => new Map(bits.map((length) => [length, length / 8]));
/** HMAC keys of whole octets (RFC 2104 section 3). */
const hmac: Lengths = plain(...Array.from({ length: 121 }, (_, index) => 64 + index * 8));

/** 3DES: the lengths without and with the parity bits. */
const tripleDes: Lengths = new Map([
  [112, 16],
  [128, 16],
  [168, 24],
  [192, 24],
]);

export const tripleDesNumber = 2;
export const aesNumber = 3;

const algorithms: ReadonlyMap<number, Lengths> = new Map([
  [tripleDesNumber, tripleDes],
  [aesNumber, plain(128, 192, 256)],
  ...[7, 8, 9, 10, 11].map((number) => [number, hmac] as const),
]);

/** Octets of a new key. Throws `kmip-algorithm-unsupported`. */
export function octetsOf(algorithm: number, bits: number): number {
  const octets = algorithms.get(algorithm)?.get(bits);
  if (octets === undefined) throw fail('kmip-algorithm-unsupported');
  return octets;
}

/** Requires that a registered object is as long as its attributes say. Throws `kmip-attribute-invalid`. */
export function requireFitting(objectType: ObjectType, octets: number, attributes: readonly StoredAttribute[]): void {
  const bits = numberOf(attributes, 'Cryptographic Length');
  if (bits !== undefined && bits < 1) throw invalid('Cryptographic Length', 'must be a number of bits');
  const algorithm = numberOf(attributes, 'Cryptographic Algorithm');
  if (objectType !== 'symmetric-key' || (algorithm !== aesNumber && algorithm !== tripleDesNumber)) return;
  const lengths = algorithms.get(algorithm);
  if (!lengths?.values().some((one) => one === octets))
    throw invalid('Key Material', `has ${octets} octets, which no key of the algorithm has`);
  if (bits !== undefined && lengths.get(bits) !== octets) throw invalid('Cryptographic Length', `does not fit a key of ${octets} octets`);
}

/** Gives each octet of a 3DES key odd parity (FIPS 46-3), which some devices check. */
export function setOddParity(key: Uint8Array): void {
  for (let at = 0; at < key.length; at += 1) {
    let bits = (key[at] ?? 0) & 0xfe;
    let odd = 1;
    for (let rest = bits; rest !== 0; rest >>= 1) odd ^= rest & 1;
    key[at] = bits |= odd;
  }
}
