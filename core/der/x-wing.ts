// SubjectPublicKeyInfo of X-Wing keys (draft-connolly-cfrg-xwing-kem section 5.8), which node:crypto does not read.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { bitString, objectIdentifier, sequence } from './der.ts';

const kemKeyBytes = 1_184;
/** Octets of a raw public key: that of ML-KEM-768, then that of X25519. */
const keyBytes = kemKeyBytes + 32;

/** The SubjectPublicKeyInfo of a raw public key. */
export function xWingSpki(raw: Uint8Array): Uint8Array {
  return sequence(sequence(objectIdentifier('1.3.6.1.4.1.62253.25722')), bitString(raw));
}

/** The two public keys of a raw one, ML-KEM-768 first. */
export function partsOfXWingKey(raw: Uint8Array): readonly [KeyObject, KeyObject] {
  const part = (octets: Uint8Array, asymmetricKeyType: 'ml-kem-768' | 'x25519'): KeyObject =>
    createPublicKey({ key: Buffer.from(octets), format: 'raw-public', asymmetricKeyType });
  return [part(raw.subarray(0, kemKeyBytes), 'ml-kem-768'), part(raw.subarray(kemKeyBytes), 'x25519')];
}

/** The raw public key in a SubjectPublicKeyInfo; undefined for any other. */
export function rawOfXWingSpki(spki: Uint8Array): Uint8Array | undefined {
  const raw = spki.slice(-keyBytes);
  return raw.length === keyBytes && Buffer.compare(xWingSpki(raw), spki) === 0 ? raw : undefined;
}
