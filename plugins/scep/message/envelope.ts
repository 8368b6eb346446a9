// The encrypted part of a message (RFC 8894 section 3.2.2): recipients, cipher, and the content once its key is known.
import { createDecipheriv, randomBytes } from 'node:crypto';
import { concat } from '../../../core/base/bytes.ts';
import { Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { contentType } from '../../../core/der/oids.ts';
import { type ContentCipher, contentCiphers, type KeyTransport, readContentCipher, readKeyTransport, readVersion } from './algorithms.ts';
import { toDer } from './ber.ts';
import { type CertificateName, isNamed, type MessageCertificate, readCertificateName } from './certificate.ts';
import type { MessageLimits } from './limits.ts';
import { ScepMalformed } from './malformed.ts';

/** The content key for one recipient. */
export type Recipient = CertificateName & { readonly keyTransport: KeyTransport; readonly encryptedKey: Uint8Array };

export type Envelope = {
  /** one at least; those that have no key by RSA key transport are left out */
  readonly recipients: readonly Recipient[];
  readonly contentCipher: ContentCipher;
  readonly iv: Uint8Array;
  /** whole blocks, one at least */
  readonly ciphertext: Uint8Array;
  /** octets of the content key, for implicit rejection: a decryption that fails goes on with a random key of so many octets */
  readonly keyLength: number;
  /**
   * Decrypts the content. The content key is zeroed. Never fails: whatever is wrong, a key of another length, bad padding or a wrong key, the answer is octets
   * that no reader of content.ts takes, and these have one refusal for all. So bad padding is not told apart from a bad key, neither by an
   * answer nor by the time that it takes.
   */
  open(contentKey: Uint8Array): Uint8Array;
};

/** Finds the recipient with this certificate, not the first: micromdm's client encrypts for every certificate of GetCACert. */
export function findRecipient(
  { recipients }: Pick<Envelope, 'recipients'>,
  certificate: Pick<MessageCertificate, 'issuer' | 'serial' | 'subjectKeyId'>,
): Recipient | undefined {
  return recipients.find((one) => isNamed(certificate, one));
}

/** Reads the ContentInfo of an EnvelopedData. Throws ScepMalformed and DerError. */
export function readEnvelope(octets: Uint8Array, limits: MessageLimits): Envelope {
  const info = readOnly(toDer(octets, limits), tag.sequence);
  if (readObjectIdentifier(info.next(tag.oid).content) !== contentType.envelopedData)
    throw new ScepMalformed(
      'badRequest',
      'the content that is signed is not an EnvelopedData: encrypt it for the certificate of GetCACert',
    );
  const wrapped = info.enter(tag.constructed(0));
  info.end();
  const fields = wrapped.enter(tag.sequence);
  wrapped.end();
  readVersion(fields);
  // originatorInfo: certificates of senders who agree on keys, which nobody here does.
  fields.optional(tag.constructed(0));
  const recipients = readRecipients(fields.next(tag.set).content, limits);
  const content = fields.enter(tag.sequence);
  fields.optional(tag.constructed(1));
  fields.end();
  if (readObjectIdentifier(content.next(tag.oid).content) !== contentType.data)
    throw new ScepMalformed('badRequest', 'the encrypted content has a type other than data');
  const { contentCipher, iv } = readContentCipher(content.next(tag.sequence).whole);
  const ciphertext = readCiphertext(content);
  content.end();
  const { keyLength, blockLength } = contentCiphers[contentCipher];
  if (ciphertext.length === 0 || ciphertext.length % blockLength !== 0)
    throw new ScepMalformed('badRequest', 'the encrypted content is empty, or not of whole blocks of its cipher');
  const sealed = { contentCipher, iv, ciphertext };
  return { recipients, ...sealed, keyLength, open: (contentKey) => open(sealed, contentKey) };
}

function readRecipients(content: Uint8Array, limits: MessageLimits): readonly Recipient[] {
  const recipients: Recipient[] = [];
  let count = 0;
  for (const { tag: kind, whole } of new Reader(content).rest()) {
    if (++count > limits.recipients) throw new ScepMalformed('badRequest', `the message has more than ${limits.recipients} recipients`);
    // Others have their key by agreement, by a shared key or by a password.
    if (kind === tag.sequence) recipients.push(readRecipient(whole));
  }
  if (recipients.length === 0)
    throw new ScepMalformed('badAlg', 'the message has no recipient by RSA key transport: encrypt it for the RSA certificate of GetCACert');
  return recipients;
}

function readRecipient(whole: Uint8Array): Recipient {
  const fields = readOnly(whole, tag.sequence);
  readVersion(fields);
  const name = readCertificateName(fields);
  const keyTransport = readKeyTransport(fields.next(tag.sequence).whole);
  const encryptedKey = fields.next(tag.octetString).content;
  fields.end();
  return { ...name, keyTransport, encryptedKey };
}

/** encryptedContent: in one piece, or in pieces, whose type toDer cannot know. */
function readCiphertext(content: Reader): Uint8Array {
  const whole = content.optional(tag.primitive(0));
  if (whole !== undefined) return whole.content;
  const pieces = new Reader(content.next(tag.constructed(0)).content);
  const octets: Uint8Array[] = [];
  while (pieces.more) octets.push(pieces.next(tag.octetString).content);
  return concat(...octets);
}

type Sealed = Pick<Envelope, 'contentCipher' | 'iv' | 'ciphertext'>;

function open({ contentCipher, iv, ciphertext }: Sealed, contentKey: Uint8Array): Uint8Array {
  const { keyLength, blockLength } = contentCiphers[contentCipher];
  const hasLength = contentKey.length === keyLength;
  const key = hasLength ? Buffer.from(contentKey) : randomBytes(keyLength);
  try {
    const decipher = createDecipheriv(...openedBy(contentCipher, key), iv).setAutoPadding(false);
    const padded = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
    const length = paddingLength(padded, blockLength);
    // Zeros begin no DER.
    const nothing = Buffer.alloc(padded.length);
    return length === 0 ? nothing : padded.subarray(0, padded.length - length);
  } finally {
    key.fill(0);
    contentKey.fill(0);
  }
}

/** Octets of PKCS#7 padding (RFC 5652 section 6.3), or 0 if it is bad; the time depends on the length of a block alone. */
function paddingLength(padded: Uint8Array, blockLength: number): number {
  const last = padded[padded.length - 1] ?? 0;
  // Each term is negative when its condition is broken, and the sign of all is looked at once.
  let sign = (last - 1) | (blockLength - last);
  for (let back = 1; back <= blockLength; back++) {
    const difference = (padded[padded.length - back] ?? 0) ^ last;
    // -1 within the padding, 0 before it.
    const isWithin = (back - 1 - last) >> 31;
    sign |= -difference & isWithin;
  }
  return last & ~(sign >> 31);
}

/**
 * Name of the cipher in node:crypto, and its key. OpenSSL 3 keeps single DES in its legacy provider; triple DES with one key three times is the
 * same.
 */
export function openedBy(cipher: ContentCipher, key: Uint8Array): [name: string, key: Uint8Array] {
  return cipher === 'des-cbc' ? ['des-ede3-cbc', concat(key, key, key)] : [cipher, key];
}
