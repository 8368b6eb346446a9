// Writes TTLV.
import { type Item, type ItemType, itemTypes, type Values } from './item.ts';
import { fixedOctets, headerOctets } from './read.ts';
import { type TagName, tags } from './tags.ts';

const align = 8;

/** Writes an item. `value`s are taken as they are: the caller has made them. */
export function writeItem(item: Item): Buffer {
  const octets = Buffer.alloc(octetsOf(item));
  write(item, octets, 0);
  return octets;
}

/** Writes a structure around items that are written. */
export function writeStructure(tag: TagName, items: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(headerOctets);
  const octets = Buffer.concat([head, ...items]);
  writeHeader({ tag: tags[tag], type: 'structure' }, octets, 0, octets.length - headerOctets);
  return octets;
}

/** The length of an item with its header and padding. */
export function octetsOf(item: Item): number {
  return headerOctets + padded(lengthOf(item));
}

function lengthOf(item: Item): number {
  if (item.type === 'structure') return item.value.reduce((sum, one) => sum + octetsOf(one), 0);
  if (item.type === 'text') return Buffer.byteLength(item.value);
  if (item.type === 'octets' || item.type === 'big-integer') return item.value.length;
  return fixedOctets[item.type] ?? 0;
}

function write(item: Item, octets: Buffer, at: number): number {
  const begin = at + headerOctets;
  const end = writeValue(item, octets, begin);
  writeHeader(item, octets, at, end - begin);
  return begin + padded(end - begin);
}

function writeHeader({ tag, type }: Pick<Item, 'tag' | 'type'>, octets: Buffer, at: number, length: number): void {
  octets.writeUIntBE(tag, at, 3);
  octets.writeUInt8(itemTypes[type], at + 3);
  octets.writeUInt32BE(length, at + 4);
}

function writeValue(item: Item, octets: Buffer, at: number): number {
  return (writers[item.type] as (value: unknown, octets: Buffer, at: number) => number)(item.value, octets, at);
}

/** Writers of values; each returns where the value ends. */
const writers: { readonly [T in ItemType]: (value: Values[T], octets: Buffer, at: number) => number } = {
  structure: (items, octets, at) => items.reduce((next, one) => write(one, octets, next), at),
  integer: (value, octets, at) => octets.writeInt32BE(value, at),
  enumeration: (value, octets, at) => octets.writeUInt32BE(value, at),
  interval: (value, octets, at) => octets.writeUInt32BE(value, at),
  long: (value, octets, at) => octets.writeBigInt64BE(value, at),
  'date-extended': (value, octets, at) => octets.writeBigInt64BE(value, at),
  date: (value, octets, at) => octets.writeBigInt64BE(BigInt(value), at),
  boolean: (value, octets, at) => octets.writeBigUInt64BE(value ? 1n : 0n, at),
  text: (value, octets, at) => at + octets.write(value, at),
  octets: putOctets,
  'big-integer': putOctets,
};

function putOctets(value: Uint8Array, octets: Buffer, at: number): number {
  octets.set(value, at);
  return at + value.length;
}

function padded(length: number): number {
  return Math.ceil(length / align) * align;
}
