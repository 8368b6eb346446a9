// The attributes of the standard by their names in 1.x: types, fields, and the versions that have them (KMIP 1.4 section 3, 2.0 section 4).
import type { ItemType } from '../ttlv/item.ts';
import { isTagName, type TagName, tags } from '../ttlv/tags.ts';

type FieldTypes = Readonly<Partial<Record<TagName, ItemType>>>;

export type AttributeRow = {
  readonly name: string;
  /** of its item from 2.0 on, without `Attribute` around it */
  readonly tag: TagName;
  readonly type: ItemType;
  /** fields of a structure */
  readonly fields: FieldTypes;
  /** the first minor version of 1.x that has it; 5: 2.0 */
  readonly since: number;
  /** gone in 2.0 */
  readonly isOld: boolean;
};

/** The smallest number above the minor versions of 1.x. */
const two = 5;

const parameters: FieldTypes = {
  ...{ BlockCipherMode: 'enumeration', PaddingMethod: 'enumeration', HashingAlgorithm: 'enumeration', KeyRoleType: 'enumeration' },
  ...{ DigitalSignatureAlgorithm: 'enumeration', CryptographicAlgorithm: 'enumeration', RandomIV: 'boolean', IVLength: 'integer' },
  ...{ TagLength: 'integer', FixedFieldLength: 'integer', InvocationFieldLength: 'integer', CounterLength: 'integer' },
  ...{ InitialCounterValue: 'integer', SaltLength: 'integer', MaskGenerator: 'enumeration' },
  ...{ MaskGeneratorHashingAlgorithm: 'enumeration', PSource: 'octets', TrailerField: 'integer' },
};
const generator: FieldTypes = {
  ...{
    RNGAlgorithm: 'enumeration',
    CryptographicAlgorithm: 'enumeration',
    CryptographicLength: 'integer',
    HashingAlgorithm: 'enumeration',
  },
  ...{ DRBGAlgorithm: 'enumeration', RecommendedCurve: 'enumeration', FIPS186Variation: 'enumeration', PredictionResistance: 'boolean' },
};

/** Attributes with one value, by type and first version. */
const simple: readonly (readonly [type: ItemType, since: number, names: readonly string[]])[] = [
  ['text', 0, ['Unique Identifier', 'Object Group', 'Contact Information', 'Operation Policy Name']],
  ['text', 4, ['PKCS#12 Friendly Name', 'Description', 'Comment']],
  ['enumeration', 0, ['Object Type', 'Cryptographic Algorithm', 'Certificate Type', 'State']],
  ['enumeration', 1, ['Digital Signature Algorithm']],
  ['enumeration', two, ['Key Format Type', 'Opaque Data Type', 'NIST Key Type', 'Protection Level']],
  ['integer', 0, ['Cryptographic Length', 'Cryptographic Usage Mask']],
  ['integer', 1, ['Certificate Length']],
  ['integer', two, ['Protection Storage Mask']],
  ['interval', 0, ['Lease Time']],
  ['interval', two, ['Protection Period']],
  ['date', 0, ['Initial Date', 'Activation Date', 'Process Start Date', 'Protect Stop Date', 'Deactivation Date', 'Destroy Date']],
  ['date', 0, ['Compromise Occurrence Date', 'Compromise Date', 'Archive Date', 'Last Change Date']],
  ['date', 2, ['Original Creation Date']],
  ['boolean', 1, ['Fresh']],
  ['boolean', 2, ['Key Value Present']],
  ['boolean', 4, ['Sensitive', 'Always Sensitive', 'Extractable', 'Never Extractable']],
  ['boolean', two, ['Quantum Safe']],
];

/** Attributes with fields, by first version. */
const structures: Readonly<Record<string, readonly [since: number, fields: FieldTypes]>> = {
  Name: [0, { NameValue: 'text', NameType: 'enumeration' }],
  'Cryptographic Parameters': [0, parameters],
  'Cryptographic Domain Parameters': [0, { Qlength: 'integer', RecommendedCurve: 'enumeration' }],
  'Certificate Identifier': [0, { Issuer: 'text', SerialNumber: 'text' }],
  'Certificate Subject': [0, { CertificateSubjectDistinguishedName: 'text', CertificateSubjectAlternativeName: 'text' }],
  'Certificate Issuer': [0, { CertificateIssuerDistinguishedName: 'text', CertificateIssuerAlternativeName: 'text' }],
  'X.509 Certificate Identifier': [1, { IssuerDistinguishedName: 'octets', CertificateSerialNumber: 'octets' }],
  'X.509 Certificate Subject': [1, { SubjectDistinguishedName: 'octets', SubjectAlternativeName: 'octets' }],
  'X.509 Certificate Issuer': [1, { IssuerDistinguishedName: 'octets', IssuerAlternativeName: 'octets' }],
  Digest: [0, { HashingAlgorithm: 'enumeration', DigestValue: 'octets', KeyFormatType: 'enumeration' }],
  'Usage Limits': [0, { UsageLimitsTotal: 'long', UsageLimitsCount: 'long', UsageLimitsUnit: 'enumeration' }],
  'Revocation Reason': [0, { RevocationReasonCode: 'enumeration', RevocationMessage: 'text' }],
  Link: [0, { LinkType: 'enumeration', LinkedObjectIdentifier: 'text' }],
  'Application Specific Information': [0, { ApplicationNamespace: 'text', ApplicationData: 'text' }],
  'Alternative Name': [2, { AlternativeNameValue: 'text', AlternativeNameType: 'enumeration' }],
  'Key Value Location': [2, { KeyValueLocationValue: 'text', KeyValueLocationType: 'enumeration' }],
  'Random Number Generator': [3, generator],
};

const old: ReadonlySet<string> = new Set([
  ...['Operation Policy Name', 'Certificate Identifier', 'Certificate Subject', 'Certificate Issuer'],
  ...['Certificate Length', 'Digital Signature Algorithm'],
]);

const rows: readonly AttributeRow[] = [
  ...simple.flatMap(([type, since, names]) => names.map((name) => row(name, type, {}, since))),
  ...Object.entries(structures).map(([name, [since, fields]]) => row(name, 'structure', fields, since)),
];

const byName = new Map(rows.map((one) => [spelling(one.name), one]));
const byTag = new Map(rows.map((one) => [tags[one.tag], one]));

function row(name: string, type: ItemType, fields: FieldTypes, since: number): AttributeRow {
  const tag = tagFor(name);
  if (tag === undefined) throw new Error(`the attribute ${name} has no tag`);
  return { name, tag, type, fields, since, isOld: old.has(name) };
}

/** The row of a name; names differ only by more than spaces and capitals. Undefined for one that is not of the standard. */
export function attributeRow(name: string): AttributeRow | undefined {
  return byName.get(spelling(name));
}

/** The row of a tag of 2.0. */
export function attributeRowOf(tag: number): AttributeRow | undefined {
  return byTag.get(tag);
}

function tagFor(name: string): TagName | undefined {
  const tag = name.replaceAll(/[ .#]/g, '');
  return isTagName(tag) ? tag : undefined;
}

function spelling(name: string): string {
  return name.replaceAll(' ', '').toLowerCase();
}
