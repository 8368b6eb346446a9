// The rule that every octet is DER (X.690 8 to 11): one form for each value, checked without knowing the type.
import { isUtf8 } from 'node:buffer';
import { type Element, Reader, tag } from '../../../core/der/der.ts';
import type { Lint } from './rule.ts';

/** RFC 5280 4.1: signatures are made over the DER encoding. */
export const derLint: Lint<{ readonly tbs: Uint8Array }> = {
  id: 'der',
  source: 'RFC 5280 4.1, X.690 8 to 11',
  rule: 'every value has its one DER encoding',
  holds: ({ tbs }) => isDer(tbs),
};

/** Whether the octets are DER values one after another, down to the primitive ones. Values inside OCTET STRING are not entered. */
export function isDer(octets: Uint8Array): boolean {
  // The reader refuses lengths that are not in shortest form.
  for (const element of new Reader(octets).rest()) if (!isDerElement(element)) return false;
  return true;
}

const constructedBit = 0x20;
const contextClass = 0x80;

function isDerElement(element: Element): boolean {
  if (element.tag & constructedBit) {
    // Of universal types only SEQUENCE and SET are constructed in DER (X.690 10.2).
    if (element.tag === tag.set) return isDer(element.content) && isSorted(element.content);
    return (element.tag === tag.sequence || (element.tag & contextClass) !== 0) && isDer(element.content);
  }
  return primitive.get(element.tag)?.(element.content) ?? true;
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
