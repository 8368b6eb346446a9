// The public keys that verify signed heads: their ids in records, and the PEM file they are published in.
import { createHash, type KeyObject } from 'node:crypto';
import { readPem } from '../base/texts/pem.ts';

/** The `key-id` of head records: the first 16 octets of the SHA-256 of the key's SubjectPublicKeyInfo, hexadecimal. */
export function auditKeyId(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 32);
}

/** The PEM blocks of a file of public keys. */
export function splitPublicKeys(pem: string): readonly string[] {
  return readPem(pem).flatMap(({ label, text }) => (label === 'PUBLIC KEY' ? [text] : []));
}
