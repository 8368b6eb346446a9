// Items of TTLV from the cases of the profiles, and the comparison of an answer with the one of a case.
import { attributeRow } from '../../../plugins/kmip/messages/attribute-table.ts';
import { enumerations } from '../../../plugins/kmip/ttlv/enumerations.ts';
import type { Item, itemTypes } from '../../../plugins/kmip/ttlv/item.ts';
import { isTagName, type TagName, tagNameOf, tags } from '../../../plugins/kmip/ttlv/tags.ts';
import { masks } from './masks.ts';
import type { CaseNode } from '../../vectors/kmip.ts';

/** What the variables of a case stand for. */
export type Variables = Map<string, string>;

const types = {
  Integer: 'integer',
  LongInteger: 'long',
  BigInteger: 'big-integer',
  Enumeration: 'enumeration',
  Boolean: 'boolean',
  TextString: 'text',
  ByteString: 'octets',
  DateTime: 'date',
  Interval: 'interval',
} as const satisfies Record<string, keyof typeof itemTypes>;

/** Makes the item of a node. `named`: the attribute whose value it is. */
export function itemOf(node: CaseNode, variables: Variables, nowSeconds: number, named?: string): Item {
  const [name] = node;
  if (!isTagName(name)) throw new Error(`the tag ${name} is not known`);
  const tag = tags[name];
  if (node.length === 2) {
    const attribute = node[1].find(([one]) => one === 'AttributeName')?.[2];
    return { tag, type: 'structure', value: node[1].map((one) => itemOf(one, variables, nowSeconds, attribute)) };
  }
  const type = types[node[1] as keyof typeof types];
  const text = filled(node[2], variables, nowSeconds);
  return {
    tag,
    type,
    value: valueOf(type, text, named !== undefined && name === 'AttributeValue' ? attributeRow(named)?.tag : name),
  } as Item;
}

function filled(text: string, variables: Variables, nowSeconds: number): string {
  const [, offset] = /^\$NOW([+-]\d+)?$/.exec(text) ?? [];
  if (text.startsWith('$NOW')) return new Date((nowSeconds + Number(offset ?? 0)) * 1_000).toISOString();
  return text.startsWith('$') ? (variables.get(text) ?? text) : text;
}

function valueOf(type: (typeof types)[keyof typeof types], text: string, tag: TagName | undefined): unknown {
  if (type === 'text') return text;
  if (type === 'octets' || type === 'big-integer') return Buffer.from(text, 'hex');
  if (type === 'boolean') return text === 'true';
  if (type === 'date') return Math.floor(Date.parse(text) / 1_000);
  if (type === 'long') return BigInt(text);
  if (type === 'enumeration' && tag !== undefined && tag in enumerations && !/^(?:0x)?[\da-f]+$/i.test(text))
    return known((enumerations[tag as keyof typeof enumerations] as Readonly<Record<string, number>>)[text], `${tag} ${text}`);
  if (type === 'integer' && tag !== undefined && tag in masks && !/^\d/.test(text)) {
    const bits = masks[tag as keyof typeof masks] as Readonly<Record<string, number>>;
    return text.split(' ').reduce((mask, word) => mask | known(bits[word], word), 0);
  }
  return known(Number.isNaN(Number(text)) ? undefined : Number(text), text);
}

function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not known`);
  return value;
}

/** Parts of an answer that another server has in its own way. */
const ownTags: ReadonlySet<string> = new Set([
  ...['ResponseHeader', 'ResultMessage', 'VendorIdentification', 'ServerInformation', 'LocatedItems', 'TemplateAttribute'],
]);
/** Lists of which a server may have more. */
const openLists: ReadonlySet<string> = new Set(['Operation', 'ObjectType', 'AttributeName', 'Attribute', 'ApplicationNamespace']);

/** Parts that an answer may lack: templates, which 1.3 has given up. */
const mayLack: ReadonlySet<string> = new Set(['ObjectType Template']);

/** Differences of an answer from the expected one, in words; variables that it names for the first time get their value. */
export function differences(expected: CaseNode, actual: Item, variables: Variables, path = '', named?: string): readonly string[] {
  const [name] = expected;
  const here = `${path}/${name}`;
  if (tagNameOf(actual.tag) !== name) return [`${here}: is ${tagNameOf(actual.tag)}`];
  if (expected.length === 3) return leafDifferences(expected, actual, variables, { here, named });
  if (actual.type !== 'structure') return [`${here}: is no structure`];
  const left = [...actual.value];
  const found: string[] = [];
  for (const one of expected[1].filter(([tag]) => !ownTags.has(tag))) {
    const place = left.findIndex((item) => isMeant(one, item));
    const [item] = place < 0 ? [] : left.splice(place, 1);
    if (item === undefined) {
      if (!mayLack.has(labelOf(one))) found.push(`${here}/${labelOf(one)}: is missing`);
    } else if (nameIn(one) !== 'Random Number Generator') found.push(...differences(one, item, variables, here, nameIn(expected)));
  }
  const more = left
    .filter((item) => !(item.tag === tags.AttributeIndex && item.value === 0))
    .map(({ tag }) => tagNameOf(tag) ?? '')
    .filter((tag) => !ownTags.has(tag) && !openLists.has(tag));
  return [...found, ...more.map((tag) => `${here}/${tag}: is too much`)];
}

/** Attributes and values of open lists are found by what they are, all else by its tag. */
function isMeant(expected: CaseNode, item: Item): boolean {
  const [name] = expected;
  if (tagNameOf(item.tag) !== name) return false;
  if (name === 'Attribute') return nameIn(expected) === nameOf(item);
  if (!openLists.has(name) || expected.length === 2) return true;
  return same(itemOf(expected, new Map(), 0), item);
}

function labelOf(node: CaseNode): string {
  return node.length === 3 ? `${node[0]} ${node[2]}` : `${node[0]} ${nameIn(node) ?? ''}`;
}

function nameIn(node: CaseNode): string | undefined {
  return node.length === 2 ? node[1].find(([one]) => one === 'AttributeName')?.[2] : undefined;
}

function nameOf(item: Item): string | undefined {
  const name = item.type === 'structure' ? item.value.find(({ tag }) => tag === tags.AttributeName) : undefined;
  return name?.type === 'text' ? name.value : undefined;
}

function leafDifferences(
  expected: CaseNode & { readonly length: 3 },
  actual: Item,
  variables: Variables,
  { here, named }: { readonly here: string; readonly named: string | undefined },
): readonly string[] {
  const [, type, text] = expected;
  if (actual.type !== types[type as keyof typeof types]) return [`${here}: has the type ${actual.type}`];
  if (text.startsWith('$') && !text.startsWith('$NOW') && !variables.has(text)) {
    variables.set(text, actual.type === 'octets' ? Buffer.from(actual.value).toString('hex') : String(actual.value));
    return [];
  }
  // Moments, and octets that are drawn.
  if (actual.type === 'date' || actual.type === 'interval') return [];
  const wanted = itemOf(expected, variables, 0, named);
  if (wanted.type === 'octets' && actual.type === 'octets' && wanted.value.length === actual.value.length) return [];
  return same(wanted, actual) ? [] : [`${here}: is ${shown(actual)} in place of ${text}`];
}

function same(one: Item, other: Item): boolean {
  return shown(one) === shown(other);
}

function shown({ value }: Item): string {
  return value instanceof Uint8Array
    ? Buffer.from(value).toString('hex')
    : JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
}
