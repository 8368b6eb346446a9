// Reads TTLV. Limits are checked before memory is taken: items share the octets of the message.
import { vendorTags } from './tags.ts';
import { type Item, type ItemType, itemTypes, type Structure, type Values } from './item.ts';
import { KmipMalformed } from './malformed.ts';

/** Octets of tag, type and length. */
export const headerOctets = 8;
const align = 8;

/** Most structures inside of each other: the deepest of the standard, a wrapped key in a batch, has ten. */
const mostDepth = 16;
/** Most items of a message: the largest of real clients have some hundreds. */
const mostItems = 16_384;

const typesByNumber = new Map(Object.entries(itemTypes).map(([name, number]) => [number as number, name as ItemType]));
/** Octets of types with one length. */
export const fixedOctets: Readonly<Partial<Record<ItemType, number>>> = {
  ...{ integer: 4, long: 8, enumeration: 4, boolean: 8, date: 8, interval: 4, 'date-extended': 8 },
};
/** Seconds from 1970 to the last instant of Temporal. */
const lastSecond = 8_640_000_000_000;

type Reading = { readonly octets: Buffer; readonly decoder: TextDecoder; items: number };

/** The length that the first octets of an item say, with its header; undefined if they are not those of a structure. */
export function lengthOf(header: Uint8Array): number | undefined {
  const octets = Buffer.from(header.buffer, header.byteOffset, header.length);
  return isVendor(octets[0]) && octets[3] === itemTypes.structure ? headerOctets + octets.readUInt32BE(4) : undefined;
}

/** Reads the one item that fills the octets, a structure. Throws KmipMalformed. */
export function readItem(octets: Uint8Array): Structure {
  const buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.length);
  const reading: Reading = { octets: buffer, decoder: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }), items: 0 };
  const { item, end } = readOne(reading, 0, buffer.length, 0);
  if (end !== buffer.length) throw new KmipMalformed('has octets behind its end');
  if (item.type !== 'structure') throw new KmipMalformed('is not a structure');
  return item;
}

function readOne(reading: Reading, at: number, limit: number, depth: number): { readonly item: Item; readonly end: number } {
  const { octets } = reading;
  if (++reading.items > mostItems) throw new KmipMalformed(`has more than ${mostItems} items`);
  if (at + headerOctets > limit) throw new KmipMalformed('breaks off inside an item');
  const tag = octets.readUIntBE(at, 3);
  if (!isVendor(octets[at])) throw new KmipMalformed('has a tag that is neither of the standard nor of a vendor');
  const type = typesByNumber.get(octets[at + 3] ?? 0);
  if (type === undefined) throw new KmipMalformed('has an item of an unknown type');
  const length = octets.readUInt32BE(at + 4);
  const begin = at + headerOctets;
  const end = begin + length;
  const padded = begin + Math.ceil(length / align) * align;
  if (padded > limit) throw new KmipMalformed('has an item that is longer than what is around it');
  if (length !== (fixedOctets[type] ?? length)) throw new KmipMalformed(`has a value of type ${type} with ${length} octets`);
  if (type === 'structure') return { item: { tag, type, value: readAll(reading, begin, end, depth + 1) }, end };
  for (let padding = end; padding < padded; padding++) {
    if (octets[padding] !== 0) throw new KmipMalformed('has padding that is not zero');
  }
  const value = readers[type](octets.subarray(begin, end), reading.decoder);
  return { item: { tag, type, value } as Item, end: padded };
}

function readAll(reading: Reading, begin: number, end: number, depth: number): readonly Item[] {
  if (depth > mostDepth) throw new KmipMalformed(`has more than ${mostDepth} structures inside of each other`);
  // Every item has a multiple of eight octets.
  if ((end - begin) % align !== 0) throw new KmipMalformed('has a structure whose length is not a multiple of eight');
  const items: Item[] = [];
  for (let at = begin; at < end;) {
    const read = readOne(reading, at, end, depth);
    items.push(read.item);
    at = read.end;
  }
  return items;
}

/** Readers of the octets of a value, whose number was checked for types that have one. */
const readers: { readonly [T in Exclude<ItemType, 'structure'>]: (value: Buffer, decoder: TextDecoder) => Values[T] } = {
  integer: (value) => value.readInt32BE(),
  enumeration: (value) => value.readUInt32BE(),
  interval: (value) => value.readUInt32BE(),
  long: (value) => value.readBigInt64BE(),
  'date-extended': (value) => value.readBigInt64BE(),
  date: (value) => readSeconds(value.readBigInt64BE()),
  boolean: (value) => readBoolean(value.readBigUInt64BE()),
  text: (value, decoder) => readText(decoder, value),
  octets: (value) => value,
  'big-integer': (value) => {
    if (value.length === 0 || value.length % align !== 0)
      throw new KmipMalformed('has a big integer whose length is not a multiple of eight');
    return value;
  },
};

function readSeconds(value: bigint): number {
  const seconds = Number(value);
  if (Math.abs(seconds) > lastSecond) throw new KmipMalformed('has a date that no calendar has');
  return seconds;
}

function readBoolean(value: bigint): boolean {
  if (value > 1n) throw new KmipMalformed('has a boolean that is neither true nor false');
  return value === 1n;
}

function readText(decoder: TextDecoder, octets: Uint8Array): string {
  try {
    return decoder.decode(octets);
  } catch {
    throw new KmipMalformed('has a text that is not UTF-8');
  }
}

function isVendor(octet: number | undefined): boolean {
  return octet === vendorTags.standard || octet === vendorTags.extension;
}
