// Rules about names that the requester chooses: the subject (RFC 5280 A.1) and the entries of subjectAltName.
import { isUtf8 } from 'node:buffer';
import { findUnseen } from '../../../core/wire/unseen-text.ts';
import { textOfUniversal } from '../../../core/der/name.ts';
import { type Element, readObjectIdentifier, readOnly, tag } from '../../../core/der/der.ts';
import { extensionId, nameAttributes } from '../../../core/der/oids.ts';
import type { CertificateSubject } from './certificate-subject.ts';
import { findBroken, type Lint } from './rule.ts';

/** Parts of a distinguished name that its rules need. */
type NameSubject = { readonly attributes: readonly Attribute[]; readonly emptyRelatives: number };

type Attribute = { readonly type: string; readonly value: Element };

/** String types beside those of X.680 that `tag` has. */
const teletexString = 0x14;
const universalString = 0x1c;
const bmpString = 0x1e;
const numericString = 0x12;
const visibleString = 0x1a;

const directoryString: readonly number[] = [tag.printableString, tag.utf8String, teletexString, universalString, bmpString];

/** String types of attributes that are not listed below: any string, in one piece. */
const stringTypes: readonly number[] = [...directoryString, tag.ia5String, numericString, visibleString];

/** Attribute types with their string types and upper bounds in characters (RFC 5280 A.1); types not here are not bounded. */
const attributeForms: ReadonlyMap<string, { readonly types: readonly number[]; readonly most?: number }> = new Map([
  [nameAttributes.CN, { types: directoryString, most: 64 }],
  [nameAttributes.SN, { types: directoryString, most: 32_768 }],
  [nameAttributes.GN, { types: directoryString, most: 32_768 }],
  [nameAttributes.L, { types: directoryString, most: 128 }],
  [nameAttributes.ST, { types: directoryString, most: 128 }],
  [nameAttributes.STREET, { types: directoryString }],
  [nameAttributes.O, { types: directoryString, most: 64 }],
  [nameAttributes.OU, { types: directoryString, most: 64 }],
  [nameAttributes.T, { types: directoryString, most: 64 }],
  [nameAttributes.UID, { types: directoryString }],
  [nameAttributes.C, { types: [tag.printableString], most: 2 }],
  [nameAttributes.serialNumber, { types: [tag.printableString], most: 64 }],
  [nameAttributes.DC, { types: [tag.ia5String] }],
  [nameAttributes.E, { types: [tag.ia5String], most: 255 }],
  [nameAttributes.dnQualifier, { types: [tag.printableString] }],
]);

const nameRules: readonly Lint<NameSubject>[] = [
  {
    id: 'name-string-type',
    source: 'RFC 5280 4.1.2.4, A.1',
    rule: 'each attribute has a string type of its definition',
    holds: ({ attributes }) => attributes.every(({ type, value }) => (attributeForms.get(type)?.types ?? stringTypes).includes(value.tag)),
  },
  {
    id: 'name-characters',
    source: 'RFC 5280 A.1, X.680 41.4',
    rule: 'strings hold characters of their type only',
    holds: ({ attributes }) => attributes.every(({ value }) => characterSets.get(value.tag)?.(value.content) ?? true),
  },
  {
    id: 'name-seen',
    source: 'RFC 5280 A.1, Unicode Technical Report 36',
    rule: 'attribute values have no control characters, and none that cannot be seen',
    holds: ({ attributes }) => attributes.every(({ value }) => findUnseen(textOf(value)) === undefined),
  },
  {
    id: 'relative-name-not-empty',
    source: 'RFC 5280 A.1',
    rule: 'each relative distinguished name has an attribute',
    holds: ({ emptyRelatives }) => emptyRelatives === 0,
  },
  {
    id: 'name-not-empty',
    source: 'RFC 5280 A.1',
    rule: 'attribute values have at least one character',
    holds: ({ attributes }) => attributes.every(({ value }) => value.content.length > 0),
  },
  {
    id: 'name-upper-bound',
    source: 'RFC 5280 A.1',
    rule: 'attribute values have at most the characters that their definition allows: 64 for a common name',
    holds: ({ attributes }) =>
      attributes.every(({ type, value }) => countCharacters(value) <= (attributeForms.get(type)?.most ?? Infinity)),
  },
  {
    id: 'country-name',
    source: 'RFC 5280 A.1',
    rule: 'countryName has two letters',
    holds: ({ attributes }) =>
      attributes.every(
        ({ type, value }) => type !== nameAttributes.C || /^[A-Za-z]{0,2}$/.exec(textOf(value)) === null || value.content.length === 2,
      ),
  },
];

/** Rules about the subject. Names that were certified before are repeated as they are. */
export const nameLints: readonly Lint<CertificateSubject>[] = nameRules.map(({ holds, ...lint }) => ({
  ...lint,
  holds: ({ subject, namesOnRecord }) => namesOnRecord || holds(partsOf(subject)),
}));

/** The first rule that a new name breaks: `attribute values have …`; undefined when it keeps them all. `name`: DER Name. */
export function findNameProblem(name: Uint8Array): string | undefined {
  return findBroken(nameRules, readParts(name))[0]?.rule;
}

/** Rules about subjectAltName (RFC 5280 4.2.1.6). */
export const alternativeNameLints: readonly Lint<CertificateSubject>[] = [
  ofEntries('alternative-names', 'the list has entries, each of a kind of GeneralName', 'entries', () => true),
  ofEntries('dns-name', 'a dNSName is a host name, or one below a wildcard label', 0x82, isHostName),
  ofEntries('email-name', 'an rfc822Name is a mailbox in ASCII', 0x81, isMailbox),
  ofEntries('uri-name', 'a URI is absolute, in ASCII', 0x86, isAbsoluteUri),
  ofEntries('ip-name', 'an iPAddress has 4 or 16 octets', 0x87, ({ length }) => length === 4 || length === 16),
];

function ofEntries(
  id: string,
  rule: string,
  entryTag: number | 'entries',
  isFit: (content: Uint8Array) => boolean,
): Lint<CertificateSubject> {
  return {
    id,
    source: 'RFC 5280 4.2.1.6',
    rule,
    holds({ byId, namesOnRecord }) {
      const extension = byId.get(extensionId.subjectAltName);
      if (extension === undefined || namesOnRecord) return true;
      const entries = [...readOnly(extension.value, tag.sequence).rest()];
      if (entryTag === 'entries') return entries.length > 0 && entries.every((entry) => generalNameTags.has(entry.tag));
      return entries.every((entry) => entry.tag !== entryTag || isFit(entry.content));
    },
  };
}

/** otherName, rfc822Name, dNSName, x400Address, directoryName (explicit), ediPartyName, URI, iPAddress, registeredID. */
const generalNameTags: ReadonlySet<number> = new Set([0xa0, 0x81, 0x82, 0xa3, 0xa4, 0xa5, 0x86, 0x87, 0x88]);

/**
 * RFC 1034 3.5 as modified by RFC 1123 2.1. Two forms beyond it that are in use: underscores, and one trailing dot. A wildcard is the
 * whole first label (RFC 9525 6.3).
 */
function isHostName(content: Uint8Array): boolean {
  const text = Buffer.from(content).toString('latin1').replace(/^\*\./, '').replace(/\.$/, '');
  return (
    text.length <= 253 && /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*$/.test(text)
  );
}

/** `local-part@domain` without display name or brackets. */
function isMailbox(content: Uint8Array): boolean {
  return /^[\x21-\x3b\x3d\x3f-\x7e]+@[A-Za-z0-9.-]+$/.test(Buffer.from(content).toString('latin1'));
}

/** RFC 5280 4.2.1.6: scheme and scheme-specific part, characters of RFC 3986 2. */
export function isAbsoluteUri(content: Uint8Array): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(Buffer.from(content).toString('latin1'));
}

const latin1 = (content: Uint8Array): string => Buffer.from(content).toString('latin1');

const characterSets: ReadonlyMap<number, (content: Uint8Array) => boolean> = new Map([
  [tag.printableString, (content) => /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(latin1(content))],
  // oxlint-disable-next-line no-control-regex -- IA5String is exactly these octets
  [tag.ia5String, (content) => /^[\x00-\x7f]*$/.test(latin1(content))],
  [tag.utf8String, (content) => isUtf8(content)],
  [bmpString, (content) => content.length % 2 === 0],
  [universalString, (content) => content.length % 4 === 0],
]);

let latest: { readonly name: Uint8Array; readonly parts: NameSubject } | undefined;

/** The rules ask for the parts of one name, one after another. */
function partsOf(name: Uint8Array): NameSubject {
  if (latest?.name !== name) latest = { name, parts: readParts(name) };
  return latest.parts;
}

function readParts(name: Uint8Array): NameSubject {
  const relatives = Array.from(readOnly(name, tag.sequence).rest(), (relative) =>
    Array.from(readOnly(relative.whole, tag.set).rest(), readAttribute),
  );
  return { attributes: relatives.flat(), emptyRelatives: relatives.filter(({ length }) => length === 0).length };
}

function readAttribute({ whole }: Element): Attribute {
  const fields = readOnly(whole, tag.sequence);
  const attribute = { type: readObjectIdentifier(fields.next(tag.oid).content), value: fields.next() };
  fields.end();
  return attribute;
}

function textOf({ tag: type, content }: Element): string {
  if (type === tag.utf8String) return Buffer.from(content).toString('utf8');
  if (type === bmpString && content.length % 2 === 0) return Buffer.from(content).swap16().toString('utf16le');
  if (type === universalString && content.length % 4 === 0) return textOfUniversal(Buffer.from(content));
  return latin1(content);
}

function countCharacters(value: Element): number {
  if (value.tag === bmpString) return value.content.length / 2;
  if (value.tag === universalString) return value.content.length / 4;
  // Octets bound the characters: most names are counted without decoding.
  return value.content.length <= 2 || value.tag !== tag.utf8String ? value.content.length : Array.from(textOf(value)).length;
}
