// A DER writer and a strict DER reader (X.690) for certificates, requests, CRLs, OCSP and CMS.

/** Tags used here: universal ones by name, context-specific ones by number. */
export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [n] of a constructed value (explicit tags, implicit sequences and sets) */
  constructed: (n: number): number => 0xa0 | n,
  /** [n] IMPLICIT of a primitive value */
  primitive: (n: number): number => 0x80 | n,
} as const;

/** One tag-length-value: `tag(1) ‖ length(1..5) ‖ parts`. */
export function encode(tagOctet: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const lengthOctets = octetsOfLength(length);
  const out = new Uint8Array(1 + lengthOctets + length);
  out[0] = tagOctet;
  writeLength(out, length, lengthOctets);
  let offset = 1 + lengthOctets;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

/** Writes a length of so many octets behind the tag, which is the first octet of `out`. */
export function writeLength(out: Uint8Array, length: number, octets: number): void {
  out[1] = octets === 1 ? length : 0x80 | (octets - 1);
  for (let at = octets, rest = length; at > 1; at--, rest = Math.floor(rest / 256)) out[at] = rest % 256;
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => encode(tag.sequence, ...parts);
export const octetString = (...content: readonly Uint8Array[]): Uint8Array => encode(tag.octetString, ...content);
export const boolean = (value: boolean): Uint8Array => encode(tag.boolean, Uint8Array.of(value ? 0xff : 0));
export const utf8String = (text: string): Uint8Array => encode(tag.utf8String, Buffer.from(text, 'utf8'));
export const explicit = (n: number, ...parts: readonly Uint8Array[]): Uint8Array => encode(tag.constructed(n), ...parts);
export const implicit = (n: number, content: Uint8Array): Uint8Array => encode(tag.primitive(n), content);
export const nullValue: Uint8Array = encode(tag.null);

/** SET OF: the encodings in ascending order (X.690 11.6). */
export const setOf = (...parts: readonly Uint8Array[]): Uint8Array =>
  encode(tag.set, ...parts.toSorted((left, right) => Buffer.compare(left, right)));

/** INTEGER of a non-negative number or of an unsigned big-endian magnitude, shortest form. */
export function integer(value: number | Uint8Array): Uint8Array {
  const magnitude = typeof value === 'number' ? Uint8Array.from(octetsOf(value)) : value;
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const shortest = magnitude.subarray(start);
  return (shortest[0] ?? 0) & 0x80 ? encode(tag.integer, Uint8Array.of(0), shortest) : encode(tag.integer, shortest);
}

/** BIT STRING of whole octets, as keys and signatures are. */
export const bitString = (octets: Uint8Array): Uint8Array => encode(tag.bitString, Uint8Array.of(0), octets);

/** BIT STRING of named bits (X.690 11.2.2: no trailing zero bits), such as KeyUsage. */
export function namedBits(bits: readonly number[]): Uint8Array {
  const highest = Math.max(...bits);
  const octets = new Uint8Array((highest >> 3) + 1);
  for (const bit of bits) octets[bit >> 3] = (octets[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return encode(tag.bitString, Uint8Array.of(7 - (highest & 7)), octets);
}

const identifiers = new Map<string, Uint8Array>();

/** OBJECT IDENTIFIER of dotted decimals, encoded once: for the identifiers of this program, never for received ones. */
export function objectIdentifier(dotted: string): Uint8Array {
  const known = identifiers.get(dotted);
  if (known !== undefined) return known;
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const encoded = encode(tag.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
  identifiers.set(dotted, encoded);
  return encoded;
}

/** Time of a certificate: UTCTime to 2049, GeneralizedTime after, whole seconds (RFC 5280 4.1.2.5). */
export function time(instant: Temporal.Instant): Uint8Array {
  const digits = compactTime(instant);
  return Number(digits.slice(0, 4)) < 2050
    ? encode(tag.utcTime, Buffer.from(digits.slice(2), 'latin1'))
    : encode(tag.generalizedTime, Buffer.from(digits, 'latin1'));
}

/** GeneralizedTime for every year, as OCSP and CRL extensions require. */
export const generalizedTime = (instant: Temporal.Instant): Uint8Array =>
  encode(tag.generalizedTime, Buffer.from(compactTime(instant), 'latin1'));

/** Thrown by the reader when the octets are not the expected DER. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** One element as found: its tag, its content, and the whole encoding including tag and length. */
export type Element = { readonly tag: number; readonly content: Uint8Array; readonly whole: Uint8Array };

/** Makes views lazily: most readers want one of the two, and a view costs more than finding the element. */
class FoundElement implements Element {
  readonly tag: number;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #contentStart: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start: number, contentStart: number, end: number) {
    this.tag = bytes[start] ?? 0;
    this.#bytes = bytes;
    this.#start = start;
    this.#contentStart = contentStart;
    this.#end = end;
  }

  get content(): Uint8Array {
    return this.#bytes.subarray(this.#contentStart, this.#end);
  }

  get whole(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }
}

/** Reads elements one after another; a wrong tag, a length past the end or one not in shortest form throws DerError. */
export class Reader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get more(): boolean {
    return this.#offset < this.#bytes.length;
  }

  /** The next element; with `expected`, only one of that tag. */
  next(expected?: number): Element {
    const bytes = this.#bytes;
    const start = this.#offset;
    const tagOctet = bytes[start];
    if (tagOctet === undefined) throw new DerError('element missing');
    if ((tagOctet & 0x1f) === 0x1f) throw new DerError('multi-octet tag');
    if (expected !== undefined && tagOctet !== expected) throw new DerError(`tag ${tagOctet} where ${expected} was expected`);
    const length = readLength(bytes, start + 1);
    const contentStart = start + 1 + octetsOfLength(length);
    const end = contentStart + length;
    if (end > bytes.length) throw new DerError('length past the end');
    this.#offset = end;
    return new FoundElement(bytes, start, contentStart, end);
  }

  /** The next element if it has that tag. */
  optional(expected: number): Element | undefined {
    return this.#bytes[this.#offset] === expected ? this.next(expected) : undefined;
  }

  /** A reader of the content of the next element, which must have that tag. */
  enter(expected: number): Reader {
    return new Reader(this.next(expected).content);
  }

  /** Octets that are not read yet. */
  get remaining(): Uint8Array {
    return this.#bytes.subarray(this.#offset);
  }

  /** Throws if octets remain. */
  end(): void {
    if (this.more) throw new DerError('trailing octets');
  }

  /** The remaining elements. */
  *rest(): Generator<Element> {
    while (this.more) yield this.next();
  }
}

/** Reads bytes that must be exactly one element of that tag, without trailing octets. */
export function readOnly(bytes: Uint8Array, expected: number): Reader {
  const outer = new Reader(bytes);
  const inner = outer.enter(expected);
  outer.end();
  return inner;
}

/** Octets of an arc of 128 bits: the longest in use are the UUIDs below 2.25 (X.667). */
const longestArcOctets = 19;

/** Dotted decimals of the content of an OBJECT IDENTIFIER. Throws DerError for an arc of more than 133 bits: computing it would take long. */
export function readObjectIdentifier(content: Uint8Array): string {
  if (content.length === 0 || (content.at(-1) ?? 0) & 0x80) throw new DerError('object identifier cut off');
  const values: (number | bigint)[] = [];
  let value: number | bigint = 0;
  let octets = 0;
  for (const octet of content) {
    if (++octets > longestArcOctets) throw new DerError('object identifier with an arc of more than 133 bits');
    // Seven bits more than this are no longer exact in a number.
    if (typeof value === 'number' && value >= 2 ** 46) value = BigInt(value);
    value = typeof value === 'number' ? value * 128 + (octet & 0x7f) : (value << 7n) | BigInt(octet & 0x7f);
    if (octet & 0x80) continue;
    values.push(value);
    value = 0;
    octets = 0;
  }
  const [first = 0, ...rest] = values;
  const top = first < 80 ? Math.floor(Number(first) / 40) : 2;
  const second = typeof first === 'number' ? first - 40 * top : first - BigInt(40 * top);
  return [top, second, ...rest].join('.');
}

export type Algorithm = { readonly id: string; readonly parameters: Element | undefined };

/** Reads an AlgorithmIdentifier. Throws DerError. */
export function readAlgorithm(whole: Uint8Array): Algorithm {
  const fields = readOnly(whole, tag.sequence);
  const id = readObjectIdentifier(fields.next(tag.oid).content);
  const parameters = fields.more ? fields.next() : undefined;
  fields.end();
  return { id, parameters };
}

/** The octets of a BIT STRING that has whole octets. */
export function readBitString(content: Uint8Array): Uint8Array {
  if (content[0] !== 0) throw new DerError('bit string with unused bits');
  return content.subarray(1);
}

function readLength(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === undefined) throw new DerError('length missing');
  if (first < 0x80) return first;
  const count = first & 0x7f;
  if (count === 0 || count > 4) throw new DerError('indefinite or oversized length');
  let length = 0;
  for (let i = 1; i <= count; i++) {
    const octet = bytes[start + i];
    if (octet === undefined) throw new DerError('length missing');
    length = length * 256 + octet;
  }
  if (octetsOfLength(length) !== 1 + count) throw new DerError('length not in shortest form');
  return length;
}

/** Octets that a length takes in its shortest form. */
export function octetsOfLength(length: number): number {
  if (length < 0x80) return 1;
  if (length < 0x100) return 2;
  if (length < 0x1_0000) return 3;
  return length < 0x100_0000 ? 4 : 5;
}

function octetsOf(value: number): number[] {
  const octets: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return octets.length === 0 ? [0] : octets;
}

function base128(arc: number): number[] {
  const octets = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift(0x80 | (rest % 128));
  return octets;
}

/** YYYYMMDDHHMMSSZ in UTC. */
function compactTime(instant: Temporal.Instant): string {
  return instant.toString({ fractionalSecondDigits: 0 }).replace(/[-:T]/g, '');
}
