// Bech32 (BIP 173) as age writes keys in it: without a limit of length.

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;
const checkWords = 6;

/** The text of octets behind a prefix, in lower case. */
export function encodeBech32(prefix: string, octets: Uint8Array): string {
  const words = regrouped(octets, 8, 5, true) ?? [];
  const check = checksum([...expanded(prefix), ...words, ...Array<number>(checkWords).fill(0)]) ^ 1;
  const sum = Array.from({ length: checkWords }, (_, at) => (check >>> (5 * (checkWords - 1 - at))) & 31);
  return `${prefix}1${[...words, ...sum].map((word) => alphabet.charAt(word)).join('')}`;
}

/** The octets of a text with this prefix, in one case throughout; undefined for any other text. */
export function decodeBech32(prefix: string, text: string): Uint8Array | undefined {
  const lower = text.toLowerCase();
  if ((text !== lower && text !== text.toUpperCase()) || !lower.startsWith(`${prefix}1`)) return undefined;
  const words = Array.from(lower.slice(prefix.length + 1), (letter) => alphabet.indexOf(letter));
  if (words.length < checkWords || words.includes(-1) || checksum([...expanded(prefix), ...words]) !== 1) return undefined;
  const octets = regrouped(words.slice(0, -checkWords), 5, 8, false);
  return octets === undefined ? undefined : Uint8Array.from(octets);
}

function expanded(prefix: string): number[] {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  return [...codes.map((code) => code >>> 5), 0, ...codes.map((code) => code & 31)];
}

function checksum(words: readonly number[]): number {
  return words.reduce((sum, word) => {
    const top = sum >>> 25;
    return generators.reduce((next, generator, bit) => ((top >>> bit) & 1 ? next ^ generator : next), ((sum & 0x1ffffff) << 5) ^ word);
  }, 1);
}

/** Bits of groups in groups of another size; undefined where bits are left that are not zeros, or a whole group. */
function regrouped(groups: Iterable<number>, from: number, to: number, pads: boolean): number[] | undefined {
  const made: number[] = [];
  let [value, bits] = [0, 0];
  for (const group of groups) {
    value = (value << from) | group;
    bits += from;
    for (; bits >= to; value &= (1 << bits) - 1) made.push(value >>> (bits -= to));
  }
  if (pads) return bits === 0 ? made : [...made, value << (to - bits)];
  return bits < from && value === 0 ? made : undefined;
}
