// The few fields of certificates that messages need; nothing of them is verified here.
import { Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';

export type MessageCertificate = {
  readonly der: Uint8Array;
  /** DER Name */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** lower-case hexadecimal of the content of the INTEGER */
  readonly serial: string;
  /** object identifier of the signature */
  readonly signatureAlgorithm: string;
  /** value of subjectKeyIdentifier; undefined without the extension */
  readonly keyId: Uint8Array | undefined;
};

/** Reads one DER certificate that fills the octets. Throws DerError. */
export function readCertificate(der: Uint8Array): MessageCertificate {
  const outer = readOnly(der, tag.sequence);
  const tbs = outer.enter(tag.sequence);
  const algorithm = outer.enter(tag.sequence);
  outer.next(tag.bitString);
  outer.end();
  tbs.optional(tag.constructed(0));
  const serial = Buffer.from(tbs.next(tag.integer).content).toString('hex');
  tbs.next(tag.sequence);
  const issuer = tbs.next(tag.sequence).whole;
  tbs.next(tag.sequence);
  const subject = tbs.next(tag.sequence).whole;
  tbs.next(tag.sequence);
  tbs.optional(tag.primitive(1));
  tbs.optional(tag.primitive(2));
  const extensions = tbs.optional(tag.constructed(3));
  tbs.end();
  const signatureAlgorithm = readObjectIdentifier(algorithm.next(tag.oid).content);
  const keyId = extensions === undefined ? undefined : findKeyId(extensions.content);
  return { der, issuer, subject, serial, signatureAlgorithm, keyId };
}

function findKeyId(explicit: Uint8Array): Uint8Array | undefined {
  for (const { whole } of readOnly(explicit, tag.sequence).rest()) {
    const fields = readOnly(whole, tag.sequence);
    if (readObjectIdentifier(fields.next(tag.oid).content) !== extensionId.subjectKeyIdentifier) continue;
    fields.optional(tag.boolean);
    return new Reader(fields.next(tag.octetString).content).next(tag.octetString).content;
  }
  return undefined;
}

/** Tells whether the certificate is its own issuer. */
export const isRoot = ({ issuer, subject }: MessageCertificate): boolean => Buffer.compare(issuer, subject) === 0;
