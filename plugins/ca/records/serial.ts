// Serial numbers: drawn from the token's random generator, and parsed from what users write.
import { DrawnAhead } from '../../../core/base/async/drawn-ahead.ts';
import type { Hsm } from '../../../hsm/api.ts';

const serialBytes = 16;

/** Draws unpredictable serial numbers. */
export class SerialNumbers {
  readonly #drawn: DrawnAhead;

  constructor(hsm: Hsm) {
    this.#drawn = new DrawnAhead((octets) => hsm.random(octets), serialBytes);
  }

  /**
   * 16 octets, 126 of the 128 bits random. The first octet is 0x40 to 0x7f, so the INTEGER is positive and has exactly these octets
   * (RFC 5280 4.1.2.2: at most 20), and hexadecimal texts of serials are all 32 digits.
   */
  async next(): Promise<Uint8Array> {
    const serial = await this.#drawn.next();
    serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
    return serial;
  }
}

/** `5a:3F:…`, `0x5a3f…` or plain digits become lower-case hexadecimal; undefined when it is not a serial number. */
export function parseSerial(text: string): string | undefined {
  const digits = text.replace(/^0x/i, '').replaceAll(':', '').toLowerCase();
  return /^[0-9a-f]{1,40}$/.test(digits) ? digits.padStart(digits.length + (digits.length % 2), '0') : undefined;
}
