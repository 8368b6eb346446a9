// The rules of certificates: fields of tbsCertificate and the public key. Names and extensions have tables of their own.
import { type Element, Reader, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import type { CertificateSubject } from './certificate-subject.ts';
import { derLint, isDer } from './der-lint.ts';
import { extensionLints } from './extension-lints.ts';
import { type KeyKind, readPublicKey } from './key-kinds.ts';
import { alternativeNameLints, nameLints } from './name-lints.ts';
import type { Lint } from './rule.ts';
import { signatureLints } from './signer-lints.ts';

/** Version, serial number, names and validity (RFC 5280 4.1.2). */
const fieldLints: readonly Lint<CertificateSubject>[] = [
  {
    ...derLint,
    holds: ({ tbs, extensions }) => isDer(tbs) && extensions.every(({ value }) => isDer(value)),
  },
  {
    id: 'der-default',
    source: 'RFC 5280 4.1, X.690 11.5',
    rule: 'a value equal to its default is left out: critical FALSE, cA FALSE',
    holds: ({ extensions, constraints }) => extensions.every(({ critical }) => critical !== false) && constraints?.writesDefault !== true,
  },
  {
    id: 'version',
    source: 'RFC 5280 4.1.2.1',
    rule: 'the version is 3',
    holds: ({ version }) => version?.length === 1 && version[0] === 2,
  },
  {
    id: 'serial-number',
    source: 'RFC 5280 4.1.2.2',
    rule: 'the serial number is positive and has at most 20 octets',
    holds: ({ serial }) => isSerialNumber(serial),
  },
  {
    id: 'issuer-name',
    source: 'RFC 5280 4.1.2.4, 6.1.3 (a)(4)',
    rule: 'the issuer is a name, octet by octet the subject of the issuing certificate',
    holds: ({ issuer, subject, issuedBy }) => !isEmptyName(issuer) && Buffer.compare(issuer, issuedBy?.subject ?? subject) === 0,
  },
  {
    id: 'validity-form',
    source: 'RFC 5280 4.1.2.5',
    rule: 'times to the end of 2049 are UTCTime, later ones GeneralizedTime, in whole seconds and Z',
    holds: ({ notBefore, notAfter }) => isTime(notBefore) && isTime(notAfter),
  },
  {
    id: 'validity-order',
    source: 'RFC 5280 4.1.2.5',
    rule: 'notBefore is not after notAfter',
    holds: ({ notBefore, notAfter }) => digitsOf(notBefore) <= digitsOf(notAfter),
  },
  {
    id: 'no-unique-ids',
    source: 'RFC 5280 4.1.2.8',
    rule: 'issuerUniqueID and subjectUniqueID are absent',
    holds: ({ hasUniqueIds }) => !hasUniqueIds,
  },
  {
    id: 'ca-subject',
    source: 'RFC 5280 4.1.2.6',
    rule: 'a CA has a name',
    holds: ({ subject, constraints }) => constraints?.ca !== true || !isEmptyName(subject),
  },
  {
    id: 'leaf-name',
    source: 'RFC 5280 4.1.2.6, 4.2.1.6',
    rule: 'a certificate without a subject has a critical subjectAltName',
    holds: ({ subject, byId, constraints }) =>
      constraints?.ca === true || !isEmptyName(subject) || byId.get(extensionId.subjectAltName)?.critical === true,
  },
];

/** The public key, by the document that defines it. */
const keyLints: readonly Lint<CertificateSubject>[] = [
  {
    id: 'key-algorithm',
    source: 'RFC 5280 4.1.2.7',
    rule: 'the key is RSA, RSASSA-PSS, EC, Ed25519 or ML-DSA',
    holds: ({ keyKind }) => keyKind !== undefined,
  },
  ofKey('rsa', 'rsa-key', 'RFC 3279 2.3.1', 'an RSA key has parameters NULL, and modulus and exponent are positive'),
  ofKey(
    'rsa-pss',
    'rsa-pss-key',
    'RFC 4055 1.2, 3.1',
    'a key for RSASSA-PSS has no parameters, or those of one SHA-2 hash for signature and mask',
  ),
  ofKey('ec', 'ec-key', 'RFC 5480 2.1.1, 2.2', 'an EC key is a point on P-256, P-384 or P-521, named, not in hybrid form'),
  ofKey('ed25519', 'ed25519-key', 'RFC 8410 3, 4', 'an Ed25519 key has no parameters and 32 octets'),
  ofKey('ml-dsa', 'ml-dsa-key', 'RFC 9881 2, 4', 'an ML-DSA key has no parameters and the length of its parameter set'),
];

function ofKey(family: KeyKind['family'], id: string, source: string, rule: string): Lint<CertificateSubject> {
  return {
    id,
    source,
    rule,
    holds({ keyKind, publicKey }) {
      if (keyKind?.family !== family) return true;
      const { identifier, octets } = readPublicKey(publicKey);
      return (
        (Buffer.compare(identifier, keyKind.keyIdentifier) === 0 || keyKind.isIdentifier?.(identifier) === true) && keyKind.isKey(octets)
      );
    },
  };
}

/** Rules about content that the requester chooses. */
export const requesterLints: readonly Lint<CertificateSubject>[] = [...nameLints, ...alternativeNameLints, ...keyLints];

/** Every rule of a certificate. */
export const certificateLints: readonly Lint<CertificateSubject>[] = [
  ...fieldLints,
  ...signatureLints,
  ...extensionLints,
  ...requesterLints,
];

/** Positive, at most 20 octets. */
export function isSerialNumber(content: Uint8Array): boolean {
  const [first = 0x80] = content;
  return first < 0x80 && content.length <= 20 && content.some((octet) => octet !== 0);
}

/** Tells whether a Name has no relative names. */
export function isEmptyName(name: Uint8Array): boolean {
  return new Reader(name).next(tag.sequence).content.length === 0;
}

/** The form of Time that RFC 5280 4.1.2.5 and 5.1.2.4 ask for: the shorter one to the end of 2049. */
export function isTime(time: Element): boolean {
  const digits = digitsOf(time);
  return isMoment(digits) && Number(digits.slice(0, 4)) < 2050 === (time.tag === tag.utcTime);
}

/** GeneralizedTime in whole seconds and Z (RFC 6960 4.2.2.1). */
export function isGeneralizedTime(time: Element): boolean {
  return time.tag === tag.generalizedTime && isMoment(digitsOf(time));
}

/** `YYYYMMDDHHMMSSZ` of either form, which sorts as text; years 50 to 99 of UTCTime are 19xx. */
export function digitsOf({ tag: type, content }: Element): string {
  const text = Buffer.from(content).toString('latin1');
  if (type !== tag.utcTime) return text;
  return `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}`;
}

function isMoment(digits: string): boolean {
  if (!/^\d{14}Z$/.test(digits)) return false;
  const part = (start: number): number => Number(digits.slice(start, start + 2));
  const [month, day] = [part(4), part(6)];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(digits, month) && part(8) < 24 && part(10) < 60 && part(12) < 60;
}

function daysOf(digits: string, month: number): number {
  return month === 2 ? new Date(Date.UTC(Number(digits.slice(0, 4)), 2, 0)).getUTCDate() : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
