// Keys that count on a path of certificates: those that nobody can find from the public half.
import type { KeyObject } from 'node:crypto';
import { Reader, tag } from '../../../core/der/der.ts';
import { findPublicKeyProblem } from '../../../core/base/public-keys/public-key.ts';
import { algorithmOf, bitStringOfPublicKey, publicKeyObject } from '../der/public-key.ts';

/** Octets of a coordinate on a curve of 224 bits: 112 bits of strength (NIST SP 800-57 part 1, 5.6.1.1), as RSA with 2,048 bits. */
const leastCoordinateOctets = 28;

/**
 * Tells whether a path may go over this SubjectPublicKeyInfo: it keeps the rule for keys of others, has at least 112 bits of strength, and
 * its curve is named (RFC 5480 2.1.1). DSA, which FIPS 186-5 withdrew, does not count. Throws if it is not a public key.
 */
export function isFitForPath(publicKey: Uint8Array): boolean {
  const key = publicKeyObject(publicKey);
  return findPublicKeyProblem(key, 'verify') === undefined && isStrong(key, publicKey);
}

function isStrong({ asymmetricKeyType }: KeyObject, publicKey: Uint8Array): boolean {
  if (asymmetricKeyType === 'dsa') return false;
  return asymmetricKeyType !== 'ec' || (hasNamedCurve(publicKey) && coordinateOctets(publicKey) >= leastCoordinateOctets);
}

function hasNamedCurve(publicKey: Uint8Array): boolean {
  const identifier = new Reader(algorithmOf(publicKey)).enter(tag.sequence);
  identifier.next(tag.oid);
  return identifier.optional(tag.oid) !== undefined;
}

/** Points are compressed, `02 or 03 ‖ x`, or both coordinates follow the first octet. */
function coordinateOctets(publicKey: Uint8Array): number {
  const point = bitStringOfPublicKey(publicKey);
  const isCompressed = point[0] === 2 || point[0] === 3;
  return (point.length - 1) / (isCompressed ? 1 : 2);
}
