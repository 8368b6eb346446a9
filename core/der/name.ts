// Distinguished names: from text to DER, from DER to attributes, and to a text for people.
import { decodeUtf8 } from '../base/bytes.ts';
import { findUnseen } from '../wire/unseen-text.ts';
import {
  DerError,
  type Element,
  encode,
  objectIdentifier,
  Reader,
  readObjectIdentifier,
  readOnly,
  sequence,
  setOf,
  tag,
  utf8String,
} from './der.ts';
import { nameAttributes } from './oids.ts';
import { peculiar } from './peculiar.ts';

/** One attribute of a name: its type as dotted decimals, and its value as text. */
export type NameAttribute = { readonly type: string; readonly value: string };

/**
 * DER of `CN=Example Root, O=Example` (RFC 4514 escapes, attributes in the order written); undefined when the text is not a name, or
 * has characters that are not seen: programs that read names in C, and people, would see another one.
 */
export function parseName(text: string): Uint8Array | undefined {
  try {
    const { Name } = peculiar();
    const der = sorted(new Uint8Array(new Name(withNumbers(text)).toArrayBuffer()));
    const attributes = readName(der);
    return attributes.length > 0 &&
      attributes.length === countParts(text) &&
      attributes.every(({ value }) => value !== '' && findUnseen(value) === undefined)
      ? der
      : undefined;
  } catch {
    return undefined;
  }
}

/** Names of attribute types beside the short ones, as OpenSSL and LDAP write them. */
const namesBeside = {
  ...{ emailAddress: nameAttributes.E, userId: nameAttributes.UID, streetAddress: nameAttributes.STREET },
  ...{
    commonName: nameAttributes.CN,
    organizationName: nameAttributes.O,
    countryName: nameAttributes.C,
  },
  ...{ organizationalUnitName: nameAttributes.OU, localityName: nameAttributes.L, stateOrProvinceName: nameAttributes.ST },
  ...{ surname: nameAttributes.SN, givenName: nameAttributes.GN, title: nameAttributes.T, domainComponent: nameAttributes.DC },
};

/** Attribute types by their names in lower case: the case of a type does not count (RFC 4512 2.5). */
const typesByName: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...namesBeside, ...nameAttributes }).map(([name, type]) => [name.toLowerCase(), type]),
);

/** The type at the begin of each part. */
const typeOfPart = /(?<=^\s*|(?<!\\)[,+;]\s*)[A-Za-z][A-Za-z0-9-]*(?=\s*=)/g;

/** The text with the number of each type in place of its name, which the library reads whatever names it knows. */
function withNumbers(text: string): string {
  return text.replaceAll(typeOfPart, (name) => typesByName.get(name.toLowerCase()) ?? name);
}

/** The first attribute type in a text of a name that is not known here. */
function findUnknownType(text: string): string | undefined {
  return (text.match(typeOfPart) ?? []).find((name) => !typesByName.has(name.toLowerCase()));
}

/** States the rule that a text breaks which parseName did not take; follows the name of its field. */
export function ruleOfName(text: string): string {
  const unseen = findUnseen(text);
  if (unseen !== undefined) return `must not contain ${unseen}, which nobody can see`;
  const unknown = findUnknownType(text);
  if (unknown === undefined) return 'must be a name such as "CN=Device CA, O=Example", with commas between its attributes';
  const known = Object.keys(nameAttributes).join(', ');
  return `has the attribute ${unknown}, which is not known: there are ${known}, and numbers such as 2.5.4.17`;
}

/** The library writes attributes that share a relative name in the order of the text; DER has them in ascending order (X.690 11.6). */
function sorted(name: Uint8Array): Uint8Array {
  const relatives = Array.from(readOnly(name, tag.sequence).rest(), ({ content }) =>
    setOf(...Array.from(new Reader(content).rest(), ({ whole }) => whole)),
  );
  return sequence(...relatives);
}

/** Parts `type=value` of a text; 0 when one is something else. The library silently drops those: `CN=Acme, Inc` would lose its end. */
function countParts(text: string): number {
  const parts = text.split(/(?<!\\)[,+;]/);
  return parts.every((part) => /^\s*[A-Za-z0-9.-]+\s*=/.test(part)) ? parts.length : 0;
}

/** A name of one common name, whatever characters it has. */
export function commonName(value: string): Uint8Array {
  return sequence(encode(tag.set, sequence(objectIdentifier(nameAttributes.CN), utf8String(value))));
}

/** All attributes of a Name, also those sharing one relative name; throws DerError when it is not one. */
export function readName(der: Uint8Array): NameAttribute[] {
  return readRelativeNames(der).flat();
}

/** The attributes of each relative name of a Name; throws DerError when it is not one. */
export function readRelativeNames(der: Uint8Array): NameAttribute[][] {
  return Array.from(readOnly(der, tag.sequence).rest(), (relative) => {
    if (relative.tag !== tag.set) throw new DerError('relative name is not a set');
    return Array.from(new Reader(relative.content).rest(), (pair) => {
      const fields = readOnly(pair.whole, tag.sequence);
      const type = readObjectIdentifier(fields.next(tag.oid).content);
      const value = readText(fields.next());
      fields.end();
      return { type, value };
    });
  });
}

/** `CN=device1, O=Example` for people, logs and lists; not for comparing. */
export function formatName(attributes: readonly NameAttribute[]): string {
  return attributes.map(({ type, value }) => `${shortNames.get(type) ?? type}=${value.replace(/[,+"\\<>;]/g, '\\$&')}`).join(', ');
}

const shortNames: ReadonlyMap<string, string> = new Map(Object.entries(nameAttributes).map(([name, type]) => [type, name]));

/** Text of a DirectoryString or IA5String (RFC 5280 4.1.2.4); other types show as `#` and hexadecimal. */
export function readText(element: Element): string {
  const bytes = Buffer.from(element.content);
  switch (element.tag) {
    case tag.utf8String: {
      const text = decodeUtf8(element.content);
      if (text === undefined) throw new DerError('UTF8String is not UTF-8');
      return text;
    }
    case tag.printableString:
    case tag.ia5String:
    case 0x14: // TeletexString, read as Latin-1, as is common
      return bytes.toString('latin1');
    case 0x12: // NumericString
    case 0x1a: // VisibleString
      return bytes.toString('latin1');
    case 0x1c: // UniversalString
      return textOfUniversal(bytes);
    case 0x1e: // BMPString
      if (bytes.length % 2 !== 0) throw new DerError('BMPString of odd length');
      return Buffer.from(bytes).swap16().toString('utf16le');
    default:
      return `#${Buffer.from(element.whole).toString('hex')}`;
  }
}

/** UTF-32 in network order. */
export function textOfUniversal(octets: Buffer): string {
  if (octets.length % 4 !== 0) throw new DerError('UniversalString of odd length');
  const points = Array.from({ length: octets.length / 4 }, (_, index) => octets.readUInt32BE(4 * index));
  if (points.some((point) => point > 0x10_ffff)) throw new DerError('UniversalString with a number that is not a character');
  return String.fromCodePoint(...points);
}

/** Types of strings that have a text, whatever the octets: UTF8, Numeric, Printable, Teletex, IA5, Visible, Universal, BMP. */
const stringTags: ReadonlySet<number> = new Set([tag.utf8String, 0x12, tag.printableString, 0x14, tag.ia5String, 0x1a, 0x1c, 0x1e]);

/**
 * The relative names, each in one form whatever the string types, upper case and blanks (RFC 5280 7.1), in hexadecimal. Of a mail address the part
 * before the host keeps its case (7.5). Throws DerError.
 */
export function relativeNames(name: Uint8Array): string[] {
  return Array.from(readOnly(name, tag.sequence).rest(), ({ content }) => {
    const pairs = Array.from(new Reader(content).rest(), ({ whole }) => {
      const fields = readOnly(whole, tag.sequence);
      const type = fields.next(tag.oid);
      return sequence(type.whole, foldedValue(readObjectIdentifier(type.content), fields.next()));
    });
    return Buffer.from(setOf(...pairs)).toString('hex');
  });
}

function foldedValue(type: string, value: Element): Uint8Array {
  if (!stringTags.has(value.tag)) return value.whole;
  const text = readText(value);
  return utf8String(type === nameAttributes.E ? foldedMailbox(text) : foldedText(text));
}

const foldedText = (text: string): string => text.normalize('NFKC').toLowerCase().normalize('NFKC').trim().replace(/\s+/g, ' ');

/** A mail address with its host in lower case (RFC 5280 7.5). */
export function foldedMailbox(text: string): string {
  const at = text.lastIndexOf('@');
  return `${text.slice(0, at + 1)}${text.slice(at + 1).toLowerCase()}`;
}

/** Tells whether two names, DER, are one, whatever the string types, upper case and blanks (RFC 5280 7.1). Throws DerError. */
export const isSameName = (one: Uint8Array, other: Uint8Array): boolean => relativeNames(one).join(',') === relativeNames(other).join(',');
