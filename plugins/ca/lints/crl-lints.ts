// The rules of certificate revocation lists (RFC 5280 5).
import { type Element, Reader, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId } from '../../../core/der/oids.ts';
import { digitsOf, isEmptyName, isSerialNumber, isTime } from './certificate-lints.ts';
import { type ReadExtension, readExtensionList } from './certificate-subject.ts';
import { derLint } from './der-lint.ts';
import { issuerFieldsOf, type IssuerFields } from './issuer-fields.ts';
import type { Lint } from './rule.ts';
import { signatureLints, type Signer } from './signer-lints.ts';

/** A tbsCertList as the rules see it. */
export type CrlSubject = {
  readonly tbs: Uint8Array;
  readonly signer: Signer;
  readonly issuedBy: IssuerFields;
  /** content of the INTEGER */
  readonly version: Uint8Array;
  readonly signature: Uint8Array;
  readonly issuer: Uint8Array;
  readonly thisUpdate: Element;
  readonly nextUpdate: Element | undefined;
  /** undefined: revokedCertificates is absent */
  readonly entries: readonly CrlEntry[] | undefined;
  readonly extensions: readonly ReadExtension[];
};

type CrlEntry = { readonly serial: Uint8Array; readonly date: Element; readonly extensions: readonly ReadExtension[] };

/** Reads a tbsCertList that fills the octets; throws DerError. */
export function readCrlSubject(tbs: Uint8Array, signer: Signer, issuerCertificate: Uint8Array): CrlSubject {
  const fields = readOnly(tbs, tag.sequence);
  const version = fields.next(tag.integer).content;
  const signature = fields.next(tag.sequence).whole;
  const issuer = fields.next(tag.sequence).whole;
  const thisUpdate = fields.next();
  const nextUpdate = fields.optional(tag.utcTime) ?? fields.optional(tag.generalizedTime);
  const entries = fields.optional(tag.sequence);
  const list = fields.optional(tag.constructed(0));
  fields.end();
  return {
    tbs,
    signer,
    issuedBy: issuerFieldsOf(issuerCertificate),
    version,
    signature,
    issuer,
    thisUpdate,
    nextUpdate,
    entries: entries === undefined ? undefined : Array.from(new Reader(entries.content).rest(), readEntry),
    extensions: list === undefined ? [] : readExtensionList(list.content),
  };
}

function readEntry({ whole }: Element): CrlEntry {
  const fields = readOnly(whole, tag.sequence);
  const serial = fields.next(tag.integer).content;
  const date = fields.next();
  const extensions = fields.optional(tag.sequence);
  fields.end();
  return { serial, date, extensions: extensions === undefined ? [] : readExtensionList(extensions.whole) };
}

/** Reason codes that a full CRL has (RFC 5280 5.3.1): not 0, which is left out; 7 is not used; 8 belongs to delta CRLs. */
const reasons: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 9, 10]);

/** Every rule of a CRL. */
export const crlLints: readonly Lint<CrlSubject>[] = [
  derLint,
  ...signatureLints,
  {
    id: 'crl-version',
    source: 'RFC 5280 5.1.2.1',
    rule: 'the version is 2',
    holds: ({ version }) => version.length === 1 && version[0] === 1,
  },
  {
    id: 'crl-issuer',
    source: 'RFC 5280 5.1.2.3',
    rule: 'the issuer is a name, octet by octet the subject of the certificate of the CA',
    holds: ({ issuer, issuedBy }) => !isEmptyName(issuer) && Buffer.compare(issuer, issuedBy.subject) === 0,
  },
  {
    id: 'crl-updates',
    source: 'RFC 5280 5.1.2.4, 5.1.2.5',
    rule: 'thisUpdate and nextUpdate have the form of times in certificates, and nextUpdate comes later',
    holds: ({ thisUpdate, nextUpdate }) =>
      nextUpdate !== undefined && isTime(thisUpdate) && isTime(nextUpdate) && digitsOf(thisUpdate) < digitsOf(nextUpdate),
  },
  {
    id: 'crl-entries',
    source: 'RFC 5280 5.1.2.6',
    rule: 'revokedCertificates is absent when nothing is revoked',
    holds: ({ entries }) => entries?.length !== 0,
  },
  {
    id: 'crl-serial-numbers',
    source: 'RFC 5280 5.1.2.6, 4.1.2.2',
    rule: 'each serial number is one of a certificate, and appears once',
    holds: ({ entries = [] }) =>
      entries.every(({ serial }) => isSerialNumber(serial)) &&
      new Set(entries.map(({ serial }) => Buffer.from(serial).toString('latin1'))).size === entries.length,
  },
  {
    id: 'crl-revocation-dates',
    source: 'RFC 5280 5.1.2.6, 5.1.2.4',
    rule: 'each revocation date has the form of times in certificates, and is not after thisUpdate',
    holds({ entries = [], thisUpdate }) {
      const latest = digitsOf(thisUpdate);
      return entries.every(({ date }) => isTime(date) && digitsOf(date) <= latest);
    },
  },
  {
    id: 'crl-reasons',
    source: 'RFC 5280 5.3, 5.3.1',
    rule: 'entries have no extension but the reason code, not critical: neither unspecified nor that of a delta CRL',
    holds: ({ entries = [] }) => entries.every(({ extensions }) => extensions.length <= 1 && extensions.every(isReason)),
  },
  {
    id: 'crl-authority-key-identifier',
    source: 'RFC 5280 5.2.1',
    rule: 'authorityKeyIdentifier has the key identifier of the certificate of the CA',
    holds({ extensions, issuedBy }) {
      const own = findExtension(extensions, extensionId.authorityKeyIdentifier);
      if (own === undefined || own.critical !== undefined) return false;
      const identifier = readOnly(own.value, tag.sequence).next(tag.primitive(0)).content;
      return issuedBy.keyIdentifier === undefined || Buffer.compare(identifier, issuedBy.keyIdentifier) === 0;
    },
  },
  {
    id: 'crl-number',
    source: 'RFC 5280 5.2.3',
    rule: 'cRLNumber is present, not critical, not negative, and has at most 20 octets',
    holds({ extensions }) {
      const own = findExtension(extensions, extensionId.crlNumber);
      if (own === undefined || own.critical !== undefined) return false;
      const number = readOnly(own.value, tag.integer).remaining;
      return number.length <= 20 && (number[0] ?? 0x80) < 0x80;
    },
  },
  {
    id: 'crl-delta-indicator',
    source: 'RFC 5280 5.2.4',
    rule: 'deltaCRLIndicator, where present, is critical and has a number below that of the list',
    holds({ extensions }) {
      const own = extensions.filter(({ id }) => id === extensionId.deltaCrlIndicator);
      const [base, number] = [numberOf(own[0]), numberOf(findExtension(extensions, extensionId.crlNumber))];
      return (
        own.length === 0 || (own.length === 1 && own[0]?.critical === true && base !== undefined && number !== undefined && base < number)
      );
    },
  },
  {
    id: 'crl-freshest',
    source: 'RFC 5280 5.2.6',
    rule: 'freshestCRL, where present, is not critical, and not in a delta CRL',
    holds({ extensions }) {
      const own = extensions.filter(({ id }) => id === extensionId.freshestCrl);
      const isDelta = extensions.some(({ id }) => id === extensionId.deltaCrlIndicator);
      return own.length === 0 || (own.length === 1 && own[0]?.critical === undefined && !isDelta);
    },
  },
];

function numberOf(extension: ReadExtension | undefined): bigint | undefined {
  const octets = extension === undefined ? undefined : readOnly(extension.value, tag.integer).remaining;
  return octets === undefined || (octets[0] ?? 0x80) > 0x7f ? undefined : BigInt(`0x${Buffer.from(octets).toString('hex')}`);
}

function isReason({ id, critical, value }: ReadExtension): boolean {
  const code = readOnly(value, tag.enumerated).remaining;
  return id === extensionId.reasonCode && critical === undefined && code.length === 1 && reasons.has(code[0] ?? 0);
}

function findExtension(extensions: readonly ReadExtension[], id: string): ReadExtension | undefined {
  const found = extensions.filter((extension) => extension.id === id);
  return found.length === 1 ? found[0] : undefined;
}
