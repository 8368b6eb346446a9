// Attributes of messages: `Attribute` with a name in 1.x, items with tags of their own from 2.0 on. Inside they have the names of 1.x.
import { mostTemplates } from '../making/templates.ts';
import type { Attribute, AttributeValue, GivenAttributes } from '../objects/object-service.ts';
import { type Item, integer, structure, text } from '../ttlv/item.ts';
import { isTagName, type TagName, tagNameOf, tags } from '../ttlv/tags.ts';
import { type AttributeRow, attributeRow, attributeRowOf } from './attribute-table.ts';
import { KmipFailure } from './failure.ts';
import { Fields, hex } from './fields.ts';
import { hasTypedAttributes, type Version } from './versions.ts';

/** Most attributes of one item of a batch. */
const mostAttributes = 256;

/** Tags of the attributes of a new object in 1.x, and from 2.0 on. */
export type AttributesTag = readonly [template: TagName, typed: TagName];

const ofObject: AttributesTag = ['TemplateAttribute', 'Attributes'];

/** Reads the attributes of a new object, and the names of its templates. */
export function readGiven(payload: Fields, version: Version, tag: AttributesTag = ofObject): GivenAttributes {
  const attributes = readAttributes(payload, version, tag);
  const fields = hasTypedAttributes(version) ? undefined : payload.structure(tag[0]);
  const templates = (fields?.values('Name', 'structure') ?? []).map((name) => new Fields(name).required('NameValue', 'text'));
  if (templates.length > mostTemplates) throw new KmipFailure('InvalidField', `A request names at most ${mostTemplates} templates.`);
  return templates.length === 0 ? { attributes } : { attributes, templates };
}

/** Reads the attributes in a Template object. */
export function readTemplate(payload: Fields): readonly Attribute[] {
  return requireFew(payload.requiredStructure('Template').values('Attribute', 'structure')).map(readNamed);
}

/** Reads those of a Template-Attribute in 1.x, or of Attributes from 2.0 on. */
export function readAttributes(payload: Fields, version: Version, tag: AttributesTag = ofObject): readonly Attribute[] {
  const isTyped = hasTypedAttributes(version);
  const fields = payload.structure(tag[isTyped ? 1 : 0]);
  if (fields === undefined) return [];
  const read = isTyped ? fields.items.map(readTyped) : fields.values('Attribute', 'structure').map(readNamed);
  return requireFew(read);
}

/** Reads the attributes by which Locate looks: without Template-Attribute in 1.x. */
export function readSearched(payload: Fields, version: Version): readonly Attribute[] {
  return hasTypedAttributes(version)
    ? readAttributes(payload, version)
    : requireFew(payload.values('Attribute', 'structure').map(readNamed));
}

/** Reads the one attribute that is added, changed or shown: `Attribute` in 1.x, the item inside of `tag` from 2.0 on; undefined without one. */
export function readAttribute(payload: Fields, version: Version, tag: 'NewAttribute' | 'CurrentAttribute'): Attribute | undefined {
  if (!hasTypedAttributes(version)) {
    const items = tag === 'NewAttribute' ? payload.value('Attribute', 'structure') : undefined;
    return items === undefined ? undefined : readNamed(items);
  }
  const [item, ...more] = payload.structure(tag)?.items ?? [];
  if (more.length > 0) throw new KmipFailure('InvalidMessage', `${tag} may have one attribute only.`);
  return item === undefined ? undefined : readTyped(item);
}

/** Reads names of attributes: `Attribute Name` in 1.x, `Attribute Reference` from 2.0 on. */
export function readNames(payload: Fields, version: Version): readonly string[] {
  if (!hasTypedAttributes(version)) return requireFew(payload.values('AttributeName', 'text')).map(canonicalName);
  return requireFew(payload.all('AttributeReference')).map((item) => {
    if (item.type === 'structure') return vendorName(new Fields(item.value));
    const row = item.type === 'enumeration' ? attributeRowOf(item.value) : undefined;
    if (row === undefined)
      throw new KmipFailure('InvalidField', 'An Attribute Reference is neither the tag of an attribute nor that of a vendor.');
    return row.name;
  });
}

/** Writes names of attributes. */
export function writeNames(names: readonly string[], version: Version): readonly Item[] {
  return names
    .filter((name) => isShown(name, version))
    .map((name) => {
      if (!hasTypedAttributes(version)) return text('AttributeName', name);
      const row = attributeRow(name);
      return row === undefined
        ? structure('AttributeReference', ...vendorItems(name))
        : { tag: tags.AttributeReference, type: 'enumeration', value: tags[row.tag] };
    });
}

/** Writes attributes, those that the version has. */
export function writeAttributes(attributes: readonly Attribute[], version: Version): readonly Item[] {
  const shown = attributes.filter(({ name }) => isShown(name, version));
  if (!hasTypedAttributes(version)) return shown.map((attribute) => writeNamed(attribute, version));
  return [structure('Attributes', ...shown.map(writeTyped))];
}

export function writeNamed({ name, index = 0, value }: Attribute, version: Version): Item {
  return structure(
    'Attribute',
    text('AttributeName', name),
    index === 0 && !multiple.has(name) ? undefined : integer('AttributeIndex', index),
    writeValue(tags.AttributeValue, name === 'Digest' && version.minor === 0 ? withoutFormat(value) : value),
  );
}

/** Attributes of the standard that may have several values: PyKMIP wants to see even the first index of these. */
const multiple: ReadonlySet<string> = new Set([
  ...['Name', 'Object Group', 'Application Specific Information', 'Link', 'Alternative Name', 'Cryptographic Parameters'],
]);

function writeTyped({ name, value }: Attribute): Item {
  const row = attributeRow(name);
  if (row !== undefined) return writeValue(tags[row.tag], value);
  return structure('Attribute', ...vendorItems(name), writeValue(tags.AttributeValue, value));
}

/** The name as the standard writes it. */
export function canonicalName(name: string): string {
  return attributeRow(name)?.name ?? name;
}

function isShown(name: string, { major, minor }: Version): boolean {
  const row = attributeRow(name);
  if (row === undefined) return true;
  return major >= 2 ? !row.isOld : row.since <= minor;
}

/** The digest of 1.0 has no Key Format Type. */
function withoutFormat(value: AttributeValue): AttributeValue {
  return value.type === 'structure' ? { ...value, fields: value.fields.filter(([tag]) => tag !== 'KeyFormatType') } : value;
}

function readNamed(items: readonly Item[]): Attribute {
  const fields = new Fields(items);
  const name = canonicalName(fields.required('AttributeName', 'text'));
  const index = fields.value('AttributeIndex', 'integer');
  const item = fields.item('AttributeValue');
  if (item === undefined) throw new KmipFailure('MissingData', `The attribute ${name} has no value.`);
  if (index !== undefined && index < 0) throw new KmipFailure('IndexOutOfBounds', 'An Attribute Index is 0 or more.');
  return { name, ...(index === undefined ? {} : { index }), value: readValue(item, attributeRow(name), name) };
}

function readTyped(item: Item): Attribute {
  if (item.tag === tags.Attribute && item.type === 'structure') {
    const fields = new Fields(item.value);
    const name = vendorName(fields);
    const value = fields.item('AttributeValue');
    if (value === undefined) throw new KmipFailure('MissingData', `The attribute ${name} has no value.`);
    return { name, value: readValue(value, undefined, name) };
  }
  const row = attributeRowOf(item.tag);
  if (row === undefined) throw new KmipFailure('InvalidField', `${tagNameOf(item.tag) ?? hex(item.tag)} is not an attribute.`);
  return { name: row.name, value: readValue(item, row, row.name) };
}

/** Vendor attributes of 2.0 under the names of 1.x: the vendor `x` has the names `x-…`, any other `y-VENDOR-…`. */
function vendorName(fields: Fields): string {
  const vendor = fields.required('VendorIdentification', 'text');
  const name = fields.required('AttributeName', 'text');
  return vendor === 'x' ? `x-${name}` : `y-${vendor}-${name}`;
}

function vendorItems(name: string): readonly Item[] {
  const [, own, vendor = 'x', other = ''] = /^(?:x-(.*)|y-([^-]*)-(.*))$/s.exec(name) ?? [];
  return [text('VendorIdentification', vendor), text('AttributeName', own ?? (other || name))];
}

function readValue(item: Item, row: AttributeRow | undefined, name: string): AttributeValue {
  if (row !== undefined && row.type !== item.type)
    throw new KmipFailure('InvalidField', `${name} has a value of type ${item.type}, and must have the type ${row.type}.`);
  if (item.type === 'structure') return { type: 'structure', fields: item.value.map((field) => readField(field, row, name)) };
  if (item.type === 'long') return { type: 'long', value: String(item.value) };
  if (item.type === 'date-extended')
    throw new KmipFailure('InvalidField', `${name} has a date with microseconds, which is not taken here.`);
  return withoutTag(item);
}

/** The value alone: attributes are compared and stored. */
function withoutTag({ tag: _tag, ...value }: Exclude<Item, { readonly type: 'structure' | 'long' | 'date-extended' }>): AttributeValue {
  return value;
}

function readField(item: Item, row: AttributeRow | undefined, name: string): readonly [string, AttributeValue] {
  const tag = tagNameOf(item.tag);
  if (tag === undefined) throw new KmipFailure('InvalidField', `${name} has a field with a tag that is not known: ${hex(item.tag)}.`);
  const type = row?.fields[tag];
  if (row !== undefined && type !== item.type)
    throw new KmipFailure('InvalidField', `${name} has a field ${tag} that does not belong there.`);
  return [tag, readValue(item, undefined, name)];
}

function writeValue(tag: number, value: AttributeValue): Item {
  if (value.type === 'long') return { tag, type: 'long', value: BigInt(value.value) };
  if (value.type !== 'structure') return { ...value, tag };
  return {
    tag,
    type: 'structure',
    value: value.fields.flatMap(([field, one]) => (isTagName(field) ? [writeValue(tags[field], one)] : [])),
  };
}

function requireFew<T>(list: readonly T[]): readonly T[] {
  if (list.length > mostAttributes) throw new KmipFailure('InvalidMessage', `There are more than ${mostAttributes} attributes.`);
  return list;
}
