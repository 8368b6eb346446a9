// Reads the extensions of a certificate or request: key identifiers, usages, constraints and alternative names.
import { type Certificate, type Extension } from './certificate.ts';
import { DerError, type Element, Reader, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { keyIdentifierOf } from './extensions.ts';
import { extensionId } from '../../../core/der/oids.ts';

/** The key identifier that certificates under this one carry: its own subjectKeyIdentifier, else one made of its key. */
export function issuerKeyIdentifier(issuer: Certificate): Uint8Array {
  const own = issuer.extensions.get(extensionId.subjectKeyIdentifier);
  return own === undefined ? keyIdentifierOf(issuer.publicKey) : readOnly(own.value, tag.octetString).remaining;
}

/** Reads basicConstraints (RFC 5280 4.2.1.9); absent means that the certificate is not one of a CA. */
export function readBasicConstraints(extension: Extension | undefined): { readonly ca: boolean; readonly pathLength: number | undefined } {
  if (extension === undefined) return { ca: false, pathLength: undefined };
  const fields = readOnly(extension.value, tag.sequence);
  const ca = fields.optional(tag.boolean)?.content[0] === 0xff;
  const limit = fields.optional(tag.integer)?.content;
  fields.end();
  if (limit !== undefined && (limit.length !== 1 || (limit[0] ?? 0) > 0x7f)) throw new DerError('pathLenConstraint out of range');
  return { ca, pathLength: limit?.[0] };
}

/** Tells whether a bit of keyUsage is set; undefined if the extension is absent, which allows every use. */
export function readKeyUsage(extension: Extension | undefined, bit: number): boolean | undefined {
  if (extension === undefined) return undefined;
  const value = new Reader(extension.value);
  const bits = value.next(tag.bitString).content;
  value.end();
  return ((bits[1 + (bit >> 3)] ?? 0) & (0x80 >> (bit & 7))) !== 0;
}

/** Purposes of extKeyUsage as dotted decimals; undefined when the extension is absent. */
export function readExtKeyUsage(extension: Extension | undefined): string[] | undefined {
  if (extension === undefined) return undefined;
  return Array.from(readOnly(extension.value, tag.sequence).rest(), (purpose) => {
    if (purpose.tag !== tag.oid) throw new DerError('purpose is not an object identifier');
    return readObjectIdentifier(purpose.content);
  });
}

/** One entry of subjectAltName: its kind by tag number (RFC 5280 4.2.1.6), and its DER. */
export type AlternativeName = { readonly kind: AlternativeNameKind; readonly content: Uint8Array; readonly whole: Uint8Array };

const kinds = ['otherName', 'email', 'dns', 'x400Address', 'directoryName', 'ediPartyName', 'uri', 'ip', 'registeredId'] as const;
export type AlternativeNameKind = (typeof kinds)[number];

/** The entries of subjectAltName; none when the extension is absent. */
export function readAlternativeNames(extension: Extension | undefined): AlternativeName[] {
  if (extension === undefined) return [];
  return Array.from(readOnly(extension.value, tag.sequence).rest(), readGeneralName);
}

/** One GeneralName (RFC 5280 4.2.1.6); throws DerError. */
export function readGeneralName(element: Element): AlternativeName {
  const kind = (element.tag & 0xc0) === 0x80 ? kinds[element.tag & 0x1f] : undefined;
  if (kind === undefined) throw new DerError('not a GeneralName');
  return { kind, content: element.content, whole: element.whole };
}
