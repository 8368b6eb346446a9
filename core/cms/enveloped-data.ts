// Reads encrypted CMS messages (RFC 5652 section 6), strictly: DER alone, keys sent by RSA, content in AES-CBC.
import { createDecipheriv } from 'node:crypto';
import { Reader, readOnly, tag } from '../der/der.ts';
import { contentType } from '../der/oids.ts';
import { CmsError, cipherKeyBytes, type CmsCipher, type KeyTransport, readCipher, readingCms, readKeyTransport } from './algorithms.ts';
import { requireType, requireVersion } from './signed-data.ts';

/** The content key, encrypted for one recipient. */
export type Recipient = {
  /** DER Name and content of the INTEGER of the recipient's certificate */
  readonly issuer: Uint8Array;
  readonly serial: Uint8Array;
  readonly transport: KeyTransport;
  readonly encryptedKey: Uint8Array;
};

export type EnvelopedData = {
  readonly recipients: readonly Recipient[];
  readonly cipher: CmsCipher;
  readonly iv: Uint8Array;
  readonly encryptedContent: Uint8Array;
};

/** Most recipients of a message; some clients encrypt for every certificate that they are given. */
const maxRecipients = 16;

/** Reads a ContentInfo. Throws CmsError. */
export function readEnvelopedData(der: Uint8Array): EnvelopedData {
  return readingCms(() => {
    const info = readOnly(der, tag.sequence);
    requireType(info, contentType.envelopedData, 'encrypted message');
    const wrapped = info.enter(tag.constructed(0));
    info.end();
    const fields = wrapped.enter(tag.sequence);
    wrapped.end();
    // 0: recipients are named by issuer and serial number (section 6.1).
    requireVersion(fields, [0]);
    const recipients = Array.from(new Reader(fields.next(tag.set).content).rest(), ({ whole }) => readRecipient(whole));
    if (recipients.length === 0 || recipients.length > maxRecipients)
      throw new CmsError('unsupported', `a message has 1 to ${maxRecipients} recipients`);
    const content = fields.enter(tag.sequence);
    // Unprotected attributes.
    if (fields.more) throw new CmsError('unsupported', 'attributes that nobody protects are not taken');
    requireType(content, contentType.data, 'message with data inside');
    const { cipher, iv } = readCipher(content.next(tag.sequence));
    const { content: encryptedContent } = content.next(tag.primitive(0));
    content.end();
    return { recipients, cipher, iv, encryptedContent };
  });
}

function readRecipient(whole: Uint8Array): Recipient {
  const fields = readOnly(whole, tag.sequence);
  requireVersion(fields, [0]);
  const name = fields.enter(tag.sequence);
  const issuer = name.next(tag.sequence).whole;
  const serial = name.next(tag.integer).content;
  name.end();
  const transport = readKeyTransport(fields.next(tag.sequence));
  const { content: encryptedKey } = fields.next(tag.octetString);
  fields.end();
  return { issuer, serial, transport, encryptedKey };
}

/** The recipient with this certificate, not the first: some clients encrypt for several. */
export function findRecipient({ recipients }: EnvelopedData, certificate: Pick<Recipient, 'issuer' | 'serial'>): Recipient | undefined {
  return recipients.find(
    ({ issuer, serial }) => Buffer.compare(issuer, certificate.issuer) === 0 && Buffer.compare(serial, certificate.serial) === 0,
  );
}

/** The content under a content key, which is zeroed. One CmsError `undecryptable` whatever is wrong: key, length or padding. */
export function decryptContent({ cipher, iv, encryptedContent }: EnvelopedData, key: Uint8Array): Uint8Array {
  try {
    if (key.length !== cipherKeyBytes[cipher]) throw undecryptable();
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(encryptedContent), decipher.final()]);
  } catch {
    throw undecryptable();
  } finally {
    key.fill(0);
  }
}

/** Error of every failed decryption: different errors would reveal the content to the sender of forged messages. */
export function undecryptable(): CmsError {
  return new CmsError('undecryptable', 'the message cannot be decrypted with the key of this recipient');
}
