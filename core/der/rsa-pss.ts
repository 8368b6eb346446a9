// RSA keys under the OID of RSASSA-PSS (RFC 4055 section 3): their numbers are those of any RSA key, the OID restricts them to PSS signatures.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { bitString, integer, octetString, readBitString, readOnly, sequence, tag } from './der.ts';

/** Returns the same key under the OID of RSA, which tokens, JWK and all arithmetic accept; any other key unchanged. */
export function plainRsa(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa-pss') return key;
  const isPrivate = key.type === 'private';
  const der = isPrivate ? key.export({ type: 'pkcs8', format: 'der' }) : key.export({ type: 'spki', format: 'der' });
  const fields = readOnly(der, tag.sequence);
  if (isPrivate) fields.next(tag.integer);
  fields.next(tag.sequence);
  if (!isPrivate)
    return createPublicKey({ key: Buffer.from(readBitString(fields.next(tag.bitString).content)), format: 'der', type: 'pkcs1' });
  return createPrivateKey({ key: Buffer.from(fields.next(tag.octetString).content), format: 'der', type: 'pkcs1' });
}

/** A SubjectPublicKeyInfo under the AlgorithmIdentifier of another one. */
export function spkiNamedAs(model: Uint8Array, spki: Uint8Array): Uint8Array {
  const fields = readOnly(spki, tag.sequence);
  fields.next(tag.sequence);
  return sequence(algorithmOf(model), bitString(readBitString(fields.next(tag.bitString).content)));
}

/** A PKCS#8 private key under the AlgorithmIdentifier of its SubjectPublicKeyInfo. The caller zeroes both. */
export function pkcs8NamedAs(model: Uint8Array, pkcs8: Uint8Array): Uint8Array {
  const fields = readOnly(pkcs8, tag.sequence);
  fields.next(tag.integer);
  fields.next(tag.sequence);
  return sequence(integer(0), algorithmOf(model), octetString(fields.next(tag.octetString).content));
}

function algorithmOf(spki: Uint8Array): Uint8Array {
  return readOnly(spki, tag.sequence).next(tag.sequence).whole;
}
