// The public keys under which heads of the audit trail are signed: how records name one, and the PEM file they are published in.
import { createHash, type KeyObject } from 'node:crypto';

/** The `key-id` of head records: the first 16 octets of the SHA-256 of the key's SubjectPublicKeyInfo, hexadecimal. */
export function auditKeyId(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 32);
}

/** The PEM blocks of a file of public keys, one after another. */
export function splitPublicKeys(pem: string): string[] {
  return pem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? [];
}
