// The few fields of certificates that messages need: names of signers and recipients, and their keys.
import { Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';

/** A certificate as read; nothing of it is verified. */
export type MessageCertificate = {
  readonly der: Uint8Array;
  /** DER Name */
  readonly issuer: Uint8Array;
  /** content of the INTEGER */
  readonly serial: Uint8Array;
  /** DER Name */
  readonly subject: Uint8Array;
  /** DER SubjectPublicKeyInfo */
  readonly publicKey: Uint8Array;
  /** value of subjectKeyIdentifier; undefined without the extension */
  readonly subjectKeyId: Uint8Array | undefined;
};

/** Names a certificate, as signers and recipients are named (RFC 5652 sections 5.3 and 6.2.1). */
export type CertificateName =
  | { readonly issuer: Uint8Array; readonly serial: Uint8Array; readonly subjectKeyId?: undefined }
  | { readonly subjectKeyId: Uint8Array; readonly issuer?: undefined; readonly serial?: undefined };

/** Reads one DER certificate that fills the octets. Throws DerError. */
export function readCertificate(der: Uint8Array): MessageCertificate {
  const outer = readOnly(der, tag.sequence);
  const tbs = outer.enter(tag.sequence);
  outer.next(tag.sequence);
  outer.next(tag.bitString);
  outer.end();
  tbs.optional(tag.constructed(0));
  const serial = tbs.next(tag.integer).content;
  tbs.next(tag.sequence);
  const issuer = tbs.next(tag.sequence).whole;
  tbs.next(tag.sequence);
  const subject = tbs.next(tag.sequence).whole;
  const publicKey = tbs.next(tag.sequence).whole;
  tbs.optional(tag.primitive(1));
  tbs.optional(tag.primitive(2));
  const extensions = tbs.optional(tag.constructed(3));
  tbs.end();
  const subjectKeyId = extensions === undefined ? undefined : findKeyIdentifier(extensions.content);
  return { der, issuer, serial, subject, publicKey, subjectKeyId };
}

function findKeyIdentifier(explicit: Uint8Array): Uint8Array | undefined {
  for (const { whole } of readOnly(explicit, tag.sequence).rest()) {
    const fields = readOnly(whole, tag.sequence);
    const id = readObjectIdentifier(fields.next(tag.oid).content);
    if (id !== extensionId.subjectKeyIdentifier) continue;
    fields.optional(tag.boolean);
    const value = new Reader(fields.next(tag.octetString).content);
    return value.next(tag.octetString).content;
  }
  return undefined;
}

/** Reads the choice of issuerAndSerialNumber and [0] subjectKeyIdentifier. Throws DerError. */
export function readCertificateName(fields: Reader): CertificateName {
  const subjectKeyId = fields.optional(tag.primitive(0));
  if (subjectKeyId !== undefined) return { subjectKeyId: subjectKeyId.content };
  const name = fields.enter(tag.sequence);
  const found = { issuer: name.next(tag.sequence).whole, serial: name.next(tag.integer).content };
  name.end();
  return found;
}

/** Tells whether it is this certificate that is named. */
export function isNamed(certificate: Pick<MessageCertificate, 'issuer' | 'serial' | 'subjectKeyId'>, name: CertificateName): boolean {
  if (name.subjectKeyId !== undefined)
    return certificate.subjectKeyId !== undefined && Buffer.compare(certificate.subjectKeyId, name.subjectKeyId) === 0;
  return Buffer.compare(certificate.issuer, name.issuer) === 0 && Buffer.compare(certificate.serial, name.serial) === 0;
}
