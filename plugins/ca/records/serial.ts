// Serial numbers: drawn from the token's random generator, and parsed from what users write.
import type { Hsm } from '../../../hsm/api.ts';

const serialBytes = 16;

/** Serial numbers drawn in one call to the token. */
const drawnAtOnce = 64;

/** Draws unpredictable serial numbers. */
export class SerialNumbers {
  readonly #hsm: Hsm;
  #drawn: Uint8Array[] = [];

  constructor(hsm: Hsm) {
    this.#hsm = hsm;
  }

  /**
   * 16 octets, 126 of the 128 bits random. The first octet is 0x40 to 0x7f, so the INTEGER is positive and has exactly these octets
   * (RFC 5280 4.1.2.2: at most 20), and hexadecimal texts of serials are all 32 digits.
   */
  async next(): Promise<Uint8Array> {
    const ready = this.#drawn.pop();
    if (ready !== undefined) return ready;
    const octets = await this.#hsm.random(serialBytes * drawnAtOnce);
    const serials = Array.from({ length: drawnAtOnce }, (_, index) => octets.slice(index * serialBytes, (index + 1) * serialBytes));
    for (const serial of serials) serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
    const [first, ...others] = serials;
    this.#drawn.push(...others);
    if (first === undefined) throw new Error('the token gave no random octets');
    return first;
  }
}

/** `5a:3F:…`, `0x5a3f…` or plain digits become lower-case hexadecimal; undefined when it is not a serial number. */
export function parseSerial(text: string): string | undefined {
  const digits = text.replace(/^0x/i, '').replaceAll(':', '').toLowerCase();
  return /^[0-9a-f]{1,40}$/.test(digits) ? digits.padStart(digits.length + (digits.length % 2), '0') : undefined;
}
