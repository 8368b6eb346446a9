// The step from BER to DER (X.690) for messages of clients that write indefinite lengths and strings in pieces (jscep, micromdm).
import { octetsOfLength, tag, writeLength } from '../../../core/der/der.ts';
import type { MessageLimits } from './limits.ts';
import { ScepMalformed } from './malformed.ts';

const constructedBit = 0x20;
const universalClass = 0x00;
const classBits = 0xc0;
const numberBits = 0x1f;
const constructedOctetString = tag.octetString | constructedBit;
/** Most octets of a length: four reach further than any limit here. */
const mostLengthOctets = 4;

/** Elements in the order of the message, a column each: an object for each element would take several times the memory. */
type Elements = {
  readonly tags: number[];
  /** offset of the content; only of primitive elements */
  readonly starts: number[];
  /** octets of the content, as it is written */
  readonly lengths: number[];
  /** index of the element around it; -1 for the outermost */
  readonly parents: number[];
  isDer: boolean;
};

/** An element whose content is being read. */
type Open = { readonly index: number; readonly isIndefinite: boolean; readonly end: number };

/**
 * Returns the one element that fills the octets with definite lengths in shortest form, and each OCTET STRING in one piece; the same array if
 * it is so already. Everything else stays as it is: values that are not DER are left to those who read them. An implicit OCTET STRING in
 * pieces stays a constructed element with the pieces inside, because its type is not known here. Time and memory grow with the octets,
 * whatever they are. Throws ScepMalformed.
 */
export function toDer(octets: Uint8Array, limits: Pick<MessageLimits, 'octets' | 'depth' | 'elements'>): Uint8Array {
  if (octets.length > limits.octets) throw refusal(`has more than ${limits.octets} octets`);
  const elements = readElements(octets, limits);
  return elements.isDer ? octets : write(octets, elements);
}

function readElements(octets: Uint8Array, limits: Pick<MessageLimits, 'depth' | 'elements'>): Elements {
  const elements: Elements = { tags: [], starts: [], lengths: [], parents: [], isDer: true };
  const open: Open[] = [];
  let at = 0;
  do {
    const around = open.at(-1);
    if (around?.isIndefinite === true && octets[at] === 0 && at < around.end) {
      at = readEnd(octets, at, around.end);
      open.pop();
    } else {
      if (elements.tags.length >= limits.elements) throw refusal(`has more than ${limits.elements} elements`);
      at = readElement(octets, at, elements, open);
      if (open.length > limits.depth) throw refusal(`has more than ${limits.depth} elements inside of each other`);
    }
    while (isComplete(open.at(-1), at)) open.pop();
  } while (open.length > 0);
  if (at !== octets.length) throw refusal('has octets behind its end');
  return elements;
}

const isComplete = (one: Open | undefined, at: number): boolean => one !== undefined && !one.isIndefinite && at === one.end;

/** Reads the two octets that end an indefinite length. */
function readEnd(octets: Uint8Array, at: number, end: number): number {
  if (at + 2 > end || octets[at + 1] !== 0) throw refusal('has an end of contents that is not two zero octets');
  return at + 2;
}

/** Reads a tag and a length, and the content of a primitive element; answers where to go on. */
function readElement(octets: Uint8Array, at: number, elements: Elements, open: Open[]): number {
  const around = open.at(-1);
  const limit = around?.end ?? octets.length;
  if (at + 2 > limit) throw refusal('ends within an element');
  const type = octets[at] ?? 0;
  const isConstructed = (type & constructedBit) !== 0;
  requireTag(type, isConstructed, around === undefined ? undefined : elements.tags[around.index]);
  const first = octets[at + 1] ?? 0;
  const isIndefinite = first === 0x80;
  if (isIndefinite && !isConstructed) throw refusal('has a primitive element of indefinite length');
  const lengthOctets = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthOctets;
  const length = first < 0x80 ? first : readLength(octets, at + 2, lengthOctets, limit);
  const end = isIndefinite ? limit : start + length;
  if (end > limit) throw refusal('has a length that reaches beyond its end');
  if (isIndefinite || octetsOfLength(length) !== 1 + lengthOctets || type === constructedOctetString) elements.isDer = false;
  const index = elements.tags.push(type) - 1;
  elements.starts.push(start);
  elements.lengths.push(isConstructed ? 0 : length);
  elements.parents.push(around?.index ?? -1);
  if (!isConstructed) return end;
  open.push({ index, isIndefinite, end });
  return start;
}

/** Refuses tags that no message has: those of several octets, and strings in pieces other than OCTET STRING. */
function requireTag(type: number, isConstructed: boolean, around: number | undefined): void {
  if ((type & numberBits) === numberBits) throw refusal('has a tag of several octets');
  if (type === 0) throw refusal('has an end of contents where no indefinite length was begun');
  if (around === constructedOctetString && (type & ~constructedBit) !== tag.octetString)
    throw refusal('has an OCTET STRING with pieces of another type');
  if ((type & classBits) !== universalClass) return;
  const mayBeConstructed = type === tag.sequence || type === tag.set || type === constructedOctetString;
  if (isConstructed && !mayBeConstructed) throw refusal('has a value in pieces that is not an OCTET STRING');
  if (!isConstructed && (type === (tag.sequence & ~constructedBit) || type === (tag.set & ~constructedBit)))
    throw refusal('has a SEQUENCE or SET that is primitive');
}

function readLength(octets: Uint8Array, at: number, count: number, limit: number): number {
  if (count > mostLengthOctets) throw refusal(`has a length of more than ${mostLengthOctets} octets`);
  if (at + count > limit) throw refusal('ends within an element');
  let length = 0;
  for (let offset = at; offset < at + count; offset++) length = length * 256 + (octets[offset] ?? 0);
  return length;
}

function write(octets: Uint8Array, { tags, starts, lengths, parents }: Elements): Uint8Array {
  const isPiece = (index: number): boolean => tags[parents[index] ?? -1] === constructedOctetString;
  // Inner elements come after outer ones: backwards, each length is complete when it is added.
  let total = 0;
  for (let index = tags.length - 1; index >= 0; index--) {
    const length = lengths[index] ?? 0;
    const whole = isPiece(index) ? length : 1 + octetsOfLength(length) + length;
    const parent = parents[index] ?? -1;
    if (parent < 0) total = whole;
    else lengths[parent] = (lengths[parent] ?? 0) + whole;
  }
  const out = new Uint8Array(total);
  let at = 0;
  for (const [index, type] of tags.entries()) {
    const length = lengths[index] ?? 0;
    if (!isPiece(index)) {
      const header = 1 + octetsOfLength(length);
      out[at] = type === constructedOctetString ? tag.octetString : type;
      writeLength(out.subarray(at), length, header - 1);
      at += header;
    }
    if ((type & constructedBit) !== 0) continue;
    const start = starts[index] ?? 0;
    out.set(octets.subarray(start, start + length), at);
    at += length;
  }
  return out;
}

function refusal(problem: string): ScepMalformed {
  return new ScepMalformed('badRequest', `the message is not well-formed BER: it ${problem}`);
}
