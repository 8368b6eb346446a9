// Writes an EnvelopedData (RFC 5652 section 6) in DER: content under a new key, which RSA carries to one recipient.
import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { mgf1, rsaEncryption, rsaesOaep } from '../../../core/cms/algorithms.ts';
import { encode, explicit, implicit, integer, objectIdentifier, octetString, sequence, setOf, tag } from '../../../core/der/der.ts';
import { contentType } from '../../../core/der/oids.ts';
import { type ContentCipher, contentCiphers, digestIds, type KeyTransport, withNull } from './algorithms.ts';
import { openedBy } from './envelope.ts';
import { ScepMalformed } from './malformed.ts';
import type { Signer } from './key.ts';

export type ContentToEncrypt = {
  readonly content: Uint8Array;
  /** has an RSA key */
  readonly recipient: Pick<Signer, 'issuer' | 'serial' | 'key'>;
  readonly cipher: ContentCipher;
  /** default: PKCS#1 v1.5, which every client opens */
  readonly keyTransport?: KeyTransport;
};

/** DER ContentInfo of an EnvelopedData of version 0. Throws ScepMalformed `badAlg` for a recipient whose key is not RSA. */
export function writeEnvelope({ content, recipient, cipher, keyTransport = { padding: 'pkcs1v15' } }: ContentToEncrypt): Uint8Array {
  const { type, keyObject } = recipient.key;
  if (type !== 'rsa') throw new ScepMalformed('badAlg', 'the key of the signer is not an RSA key, for which answers can be encrypted');
  const { id, keyLength, blockLength } = contentCiphers[cipher];
  const key = randomBytes(keyLength);
  const iv = randomBytes(blockLength);
  const padding =
    keyTransport.padding === 'pkcs1v15'
      ? { padding: constants.RSA_PKCS1_PADDING }
      : { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: keyTransport.hash };
  try {
    const encryption = createCipheriv(...openedBy(cipher, key), iv);
    const ciphertext = Buffer.concat([encryption.update(content), encryption.final()]);
    const encryptedKey = cleanly(() => publicEncrypt({ key: keyObject, ...padding }, key));
    const recipientInfo = sequence(
      integer(0),
      sequence(recipient.issuer, encode(tag.integer, recipient.serial)),
      transportAlgorithm(keyTransport),
      octetString(encryptedKey),
    );
    const encrypted = sequence(
      objectIdentifier(contentType.data),
      sequence(objectIdentifier(id), octetString(iv)),
      implicit(0, ciphertext),
    );
    return sequence(objectIdentifier(contentType.envelopedData), explicit(0, sequence(integer(0), setOf(recipientInfo), encrypted)));
  } finally {
    key.fill(0);
  }
}

function transportAlgorithm(transport: KeyTransport): Uint8Array {
  if (transport.padding === 'pkcs1v15') return withNull(rsaEncryption);
  // The defaults, SHA-1, are absent in DER.
  if (transport.hash === 'sha1') return sequence(objectIdentifier(rsaesOaep), sequence());
  const hash = withNull(digestIds[transport.hash]);
  return sequence(objectIdentifier(rsaesOaep), sequence(explicit(0, hash), explicit(1, sequence(objectIdentifier(mgf1), hash))));
}
