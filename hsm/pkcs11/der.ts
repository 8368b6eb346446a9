// Minimal DER for this floor: writes key structures, and reads those that node:crypto writes.

const tagInteger = 0x02;
const tagSequence = 0x30;

/** SEQUENCE of finished elements. */
export function sequence(...elements: readonly Uint8Array[]): Buffer {
  return element(tagSequence, ...elements);
}

/** INTEGER from an unsigned big-endian number. */
export function unsignedInteger(value: Uint8Array): Buffer {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const digits = value.subarray(start);
  return (digits[0] ?? 0) >= 0x80 || digits.length === 0 ? element(tagInteger, Buffer.of(0), digits) : element(tagInteger, digits);
}

function element(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((total, part) => total + part.length, 0);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(length)), ...contents]);
}

/** The elements at the top level of `der`, as views. Throws RangeError on anything that is not DER. */
export function readElements(der: Buffer): { tag: number; contents: Buffer }[] {
  const found: { tag: number; contents: Buffer }[] = [];
  for (let offset = 0; offset < der.length;) {
    const tag = der[offset] as number;
    const first = der[offset + 1];
    if (first === undefined) throw new RangeError('DER element without length');
    const longForm = first < 0x80 ? 0 : first & 0x7f;
    if (longForm > 4 || first === 0x80) throw new RangeError('DER length out of range');
    const start = offset + 2 + longForm;
    const length = longForm === 0 ? first : der.readUIntBE(offset + 2, longForm);
    if (start + length > der.length) throw new RangeError('DER element longer than its container');
    found.push({ tag, contents: der.subarray(start, start + length) });
    offset = start + length;
  }
  return found;
}

/** The elements inside the SEQUENCE at the start of `der`. Octets after it are ignored: wrapped keys are padded with zeros. */
export function readSequence(der: Buffer): { tag: number; contents: Buffer }[] {
  const first = readElements(der)[0];
  if (first?.tag !== tagSequence) throw new RangeError('not a DER SEQUENCE');
  return readElements(first.contents);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
}
