// Public keys that verify signed heads: their ids in records, and the PEM file in which they are published.
import { createHash, type KeyObject } from 'node:crypto';
import { readPem } from '../base/texts/pem.ts';

/** The `key-id` of head records: the first 16 octets of the SHA-256 of the key's SubjectPublicKeyInfo, hexadecimal. */
export function auditKeyId(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 32);
}

/** Splits a file of public keys into PEM blocks. */
export function splitPublicKeys(pem: string): readonly string[] {
  return readPem(pem).flatMap(({ label, text }) => (label === 'PUBLIC KEY' ? [text] : []));
}
