// The value format: parse and format are inverse, and nothing else parses.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ServiceError } from '../../../../core/base/errors.ts';
import { formatValue, maxVersion, parseValue, type ValueKind } from '../../../../plugins/transit/formats/value-format.ts';
import { encodeEcdsaSignature } from '../../../../core/der/ecdsa-signature.ts';

const kinds = fc.constantFrom<ValueKind>('value', 'hashed');
const payloads = fc.stringMatching(/^[A-Za-z0-9+/=_-]{0,60}$/);

/** What a text parses to, or the code of the refusal. */
function parseOrCode(kind: ValueKind, text: string): ReturnType<typeof parseValue> | string {
  try {
    return parseValue(kind, text, 'ciphertext');
  } catch (error) {
    return (error as ServiceError).code;
  }
}

describe('value format', () => {
  test('parse of format is the identity', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: 1, max: maxVersion }), payloads, (kind, version, payload) => {
        expect(parseValue(kind, formatValue(kind, version, payload), 'ciphertext')).toEqual({ version, payload });
      }),
    );
  });

  test('what parses re-formats to the same text', () => {
    const texts = fc.oneof(
      fc.string(),
      fc
        .tuple(
          fc.constantFrom('store:v', 'store:hashed:v', 'store:V', 'vault:v', 'store:', 'v'),
          fc.stringMatching(/^[0-9 +-]{0,12}$/),
          payloads,
        )
        .map((parts) => `${parts[0]}${parts[1]}:${parts[2]}`),
    );
    fc.assert(
      fc.property(kinds, texts, (kind, text) => {
        const parsed = parseOrCode(kind, text);
        expect(typeof parsed === 'string' ? parsed : formatValue(kind, parsed.version, parsed.payload)).toBe(
          typeof parsed === 'string' ? 'invalid-format' : text,
        );
      }),
      { numRuns: 5_000 },
    );
  });

  test.each(['store:v2147483648:', 'store:v9999999999:', 'store:v12345678901:', 'store:v00:', 'store:v1', 'store:v1e3:', 'store:v１:'])(
    '%s does not parse',
    (text) => {
      expect(() => parseValue('value', text, 'ciphertext')).toThrow('"ciphertext" must read store:v<N>:');
    },
  );
});

describe('ECDSA in DER (RFC 3279 section 2.2.3)', () => {
  test('integers are minimal and positive, and the length form fits, for every curve width', () => {
    const raws = fc
      .constantFrom(32, 48, 66)
      .chain((width) =>
        fc
          .uint8Array({ minLength: 2 * width, maxLength: 2 * width })
          .map((raw) => (raw.fill(0, 0, raw[5] === undefined ? 0 : raw[5] % width), raw)),
      );
    fc.assert(
      fc.property(raws, (raw) => {
        const der = encodeEcdsaSignature(raw);
        const start = (der[1] as number) === 0x81 ? 3 : 2;
        expect(der[0]).toBe(0x30);
        expect(der[start - 1]).toBe(der.length - start);
        expect(start === 3).toBe(der.length - start >= 0x80);
        const numbers: bigint[] = [];
        for (let at = start; at < der.length;) {
          const length = der[at + 1] as number;
          const content = der.subarray(at + 2, at + 2 + length);
          expect(der[at]).toBe(0x02);
          expect((content[0] as number) & 0x80).toBe(0);
          expect(content.length === 1 || content[0] !== 0 || ((content[1] as number) & 0x80) !== 0).toBe(true);
          numbers.push(BigInt(`0x${content.toHex()}`));
          at += 2 + length;
        }
        const half = raw.length / 2;
        expect(numbers).toEqual([BigInt(`0x${raw.subarray(0, half).toHex()}`), BigInt(`0x${raw.subarray(half).toHex()}`)]);
      }),
    );
  });
});
