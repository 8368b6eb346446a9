// The rule that every octet is DER (X.690 8 to 11): one form for each value, checked without knowing the type.
import { isUtf8 } from 'node:buffer';
import { Reader, tag } from '../../../core/der/der.ts';
import type { Lint } from './rule.ts';

/** RFC 5280 4.1: signatures are made over the DER encoding. */
export const derLint: Lint<{ readonly tbs: Uint8Array }> = {
  id: 'der',
  source: 'RFC 5280 4.1, X.690 8 to 11',
  rule: 'every value has its one DER encoding',
  holds: ({ tbs }) => isDer(tbs),
};

/**
 * Tells whether the octets are DER values one after another, down to the primitive ones. Values inside OCTET STRING are not entered. Works
 * on offsets: a CRL may have a hundred thousand entries.
 */
export function isDer(octets: Uint8Array): boolean {
  return isDerRange(octets, 0, octets.length);
}

const constructedBit = 0x20;
const contextClass = 0x80;
const multiOctetTag = 0x1f;

function isDerRange(octets: Uint8Array, start: number, end: number): boolean {
  let offset = start;
  while (offset < end) {
    const type = octets[offset] ?? 0;
    const first = octets[offset + 1] ?? 0xff;
    const count = first < 0x80 ? 0 : first & 0x7f;
    const content = offset + 2 + count;
    const length = count === 0 && first < 0x80 ? first : readLongLength(octets, offset + 2, count);
    offset = content + length;
    if ((type & multiOctetTag) === multiOctetTag || length < 0 || offset > end) return false;
    if (!isDerValue(octets, type, content, offset)) return false;
  }
  return true;
}

/** A length of `count` octets; -1 unless it is in shortest form (X.690 10.1) and below 4 GiB. */
function readLongLength(octets: Uint8Array, start: number, count: number): number {
  if (count === 0 || count > 4) return -1;
  let length = 0;
  for (let offset = start; offset < start + count; offset++) length = length * 256 + (octets[offset] ?? 0);
  return length < 0x80 || length < 256 ** (count - 1) ? -1 : length;
}

function isDerValue(octets: Uint8Array, type: number, start: number, end: number): boolean {
  if (type & constructedBit) {
    // Of universal types only SEQUENCE and SET are constructed in DER (X.690 10.2).
    if (type === tag.set) return isDerRange(octets, start, end) && isSorted(octets.subarray(start, end));
    return (type === tag.sequence || (type & contextClass) !== 0) && isDerRange(octets, start, end);
  }
  const check = primitive.get(type);
  return check === undefined || check(octets.subarray(start, end));
}

/** X.690 11.6: the elements of a SET OF in ascending order. */
function isSorted(content: Uint8Array): boolean {
  let before: Uint8Array | undefined;
  for (const { whole } of new Reader(content).rest()) {
    if (before !== undefined && Buffer.compare(before, whole) > 0) return false;
    before = whole;
  }
  return true;
}

const primitive: ReadonlyMap<number, (content: Uint8Array) => boolean> = new Map([
  // X.690 8.2, 11.1
  [tag.boolean, (content) => content.length === 1 && (content[0] === 0 || content[0] === 0xff)],
  [tag.integer, isShortestInteger],
  [tag.enumerated, isShortestInteger],
  [tag.bitString, isBitString],
  [tag.null, (content) => content.length === 0],
  [tag.oid, isObjectIdentifier],
  [tag.utf8String, (content) => isUtf8(content)],
]);

/** X.690 8.3.2: the first nine bits are not all alike. */
function isShortestInteger(content: Uint8Array): boolean {
  const [first, second = 0] = content;
  if (first === undefined) return false;
  if (content.length === 1) return true;
  return !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
}

/** X.690 11.2.1: unused bits are zero. */
function isBitString(content: Uint8Array): boolean {
  const [unused] = content;
  if (unused === undefined || unused > 7 || (unused > 0 && content.length === 1)) return false;
  return ((content.at(-1) ?? 0) & ((1 << unused) - 1)) === 0 || content.length === 1;
}

/** X.690 8.19.2: each arc ends, and begins with no zeros. */
function isObjectIdentifier(content: Uint8Array): boolean {
  let isStart = true;
  for (const octet of content) {
    if (isStart && octet === 0x80) return false;
    isStart = octet < 0x80;
  }
  return content.length > 0 && isStart;
}
