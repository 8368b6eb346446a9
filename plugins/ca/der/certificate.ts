// Certificates: encoding what is to be signed, and reading the fields we decide on.
import { hasMadeUpCurve } from '../../../core/base/public-keys/public-key.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import {
  DerError,
  explicit,
  integer,
  objectIdentifier,
  Reader,
  readObjectIdentifier,
  readOnly,
  sequence,
  setOf,
  tag,
  time,
} from '../../../core/der/der.ts';
import { basicConstraints, keyUsage } from './extensions.ts';
import { requestAttribute } from '../../../core/der/oids.ts';

/** Everything a tbsCertificate says (RFC 5280 4.1); names, key and extensions are DER. */
export type CertificateContent = {
  readonly serial: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: Temporal.Instant;
  readonly notAfter: Temporal.Instant;
  readonly publicKey: Uint8Array;
  readonly extensions: readonly Uint8Array[];
};

/** tbsCertificate, version 3. */
export function encodeTbsCertificate(content: CertificateContent, algorithmIdentifier: Uint8Array): Uint8Array {
  return sequence(
    explicit(0, integer(2)),
    integer(content.serial),
    algorithmIdentifier,
    content.issuer,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    content.publicKey,
    explicit(3, sequence(...content.extensions)),
  );
}

/**
 * certificationRequestInfo of a CA's own request: it asks to be a CA, with these extensions besides, and leaves the rest to who signs it
 * (RFC 2986 4.1).
 */
export function encodeCertificationRequestInfo(subject: Uint8Array, publicKey: Uint8Array, more: readonly Uint8Array[] = []): Uint8Array {
  const extensions = sequence(basicConstraints({}), keyUsage('digitalSignature', 'keyCertSign', 'crlSign'), ...more);
  const extensionRequest = sequence(objectIdentifier(requestAttribute.extensionRequest), setOf(extensions));
  return sequence(integer(0), subject, publicKey, explicit(0, extensionRequest));
}

/** One extension of a certificate or request: `value` is the content of extnValue. */
export type Extension = { readonly id: string; readonly critical: boolean; readonly value: Uint8Array };

/** A certificate as read: the fields decisions rest on. The signature is not checked by reading. */
export type Certificate = {
  readonly der: Uint8Array;
  /** lower-case hexadecimal of the content octets of the INTEGER */
  readonly serial: string;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: Temporal.Instant;
  readonly notAfter: Temporal.Instant;
  readonly publicKey: Uint8Array;
  readonly extensions: ReadonlyMap<string, Extension>;
};

/** Tells whether an instant is within the validity period. */
export function isLive(certificate: Certificate, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(certificate.notBefore, now) <= 0 && Temporal.Instant.compare(now, certificate.notAfter) <= 0;
}

const known = new WeakMap<Uint8Array, Certificate>();

/** Reads one DER certificate that fills the bytes; throws DerError. Remembered for as long as the caller keeps the same array. */
export function readCertificate(der: Uint8Array): Certificate {
  const seen = known.get(der);
  if (seen !== undefined) return seen;
  const certificate = parseCertificate(der);
  known.set(der, certificate);
  return certificate;
}

/** Parses a certificate as readCertificate, without remembering it: for one that is met once, the memory costs more than it saves. */
export function parseCertificate(der: Uint8Array): Certificate {
  if (hasMadeUpCurve(der)) throw new DerError('curve that is written out');
  const tbs = readOnly(der, tag.sequence).enter(tag.sequence);
  const version = versionOf(tbs.optional(tag.constructed(0))?.content);
  const serial = tbs.next(tag.integer).content;
  tbs.next(tag.sequence);
  const issuer = tbs.next(tag.sequence).whole;
  const validity = tbs.enter(tag.sequence);
  const notBefore = readTime(validity.next());
  const notAfter = readTime(validity.next());
  const subject = tbs.next(tag.sequence).whole;
  const publicKey = tbs.next(tag.sequence).whole;
  tbs.optional(tag.primitive(1));
  tbs.optional(tag.primitive(2));
  const list = tbs.optional(tag.constructed(3));
  tbs.end();
  for (const name of [issuer, subject])
    for (const part of readOnly(name, tag.sequence).rest()) if (part.tag !== tag.set) throw new DerError('name that is not one');
  if (list !== undefined && version !== 3) throw new DerError('extensions need version 3');
  return {
    der,
    serial: Buffer.from(serial).toString('hex'),
    issuer,
    subject,
    notBefore,
    notAfter,
    publicKey,
    extensions: list === undefined ? new Map() : readExtensions(list.content),
  };
}

function versionOf(content: Uint8Array | undefined): number {
  if (content === undefined) return 1;
  const field = new Reader(content);
  const [number = 0, ...more] = field.next(tag.integer).content;
  field.end();
  if (more.length > 0 || number > 2) throw new DerError('version that nobody knows');
  return number + 1;
}

/** Reads `Extensions ::= SEQUENCE OF Extension`; the same extension twice is refused (RFC 5280 4.2). */
export function readExtensions(der: Uint8Array): Map<string, Extension> {
  const extensions = new Map<string, Extension>();
  for (const { whole } of readOnly(der, tag.sequence).rest()) {
    const fields = readOnly(whole, tag.sequence);
    const id = readObjectIdentifier(fields.next(tag.oid).content);
    const critical = readCritical(fields.optional(tag.boolean)?.content);
    const value = fields.next(tag.octetString).content;
    fields.end();
    if (extensions.has(id)) throw new DerError(`extension ${id} twice`);
    extensions.set(id, { id, critical, value });
  }
  return extensions;
}

/** FALSE, which DER leaves out, is written by some; a TRUE of other octets, which BER has, some read as one and some do not. */
function readCritical(content: Uint8Array | undefined): boolean {
  if (content === undefined) return false;
  const [octet, ...more] = content;
  if (more.length > 0 || (octet !== 0 && octet !== 0xff)) throw new DerError('neither true nor false');
  return octet === 0xff;
}

/** PEM of one certificate, 64 columns, final line feed (RFC 7468). */
export function formatCertificatePem(der: Uint8Array): string {
  return formatPem('CERTIFICATE', der);
}

/** Reads a time of a certificate or list. Throws DerError if it is not one. */
export function readTime(element: { readonly tag: number; readonly content: Uint8Array }): Temporal.Instant {
  const text = Buffer.from(element.content).toString('latin1');
  const match = (
    element.tag === tag.utcTime ? /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/ : /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/
  ).exec(text);
  if (match === null || (element.tag !== tag.utcTime && element.tag !== tag.generalizedTime)) throw new DerError('not a time');
  const [, year = '', month, day, hour, minute, second] = match;
  // Two-digit years: 50..99 are 19xx (RFC 5280 4.1.2.5.1).
  const fullYear = year.length === 4 ? year : `${Number(year) < 50 ? 20 : 19}${year}`;
  try {
    return Temporal.Instant.from(`${fullYear}-${month}-${day}T${hour}:${minute}:${second}Z`);
  } catch {
    throw new DerError('not a time');
  }
}
