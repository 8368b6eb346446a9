// Base64, hexadecimal, UTF-8, framing and comparing of octets.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeBase64,
  decodeUtf8,
  encodeBase64,
  encodeHex,
  encodeUtf8,
  equalConstantTime,
  parseBase64,
  sharingDecoder,
} from '../../../core/base/bytes.ts';

const octets = fc.uint8Array({ maxLength: 200 });

describe('base64 (RFC 4648 section 4, api 14)', () => {
  test('section 10 vectors', () => {
    const vectors = { '': '', f: 'Zg==', fo: 'Zm8=', foo: 'Zm9v', foob: 'Zm9vYg==', fooba: 'Zm9vYmE=', foobar: 'Zm9vYmFy' };
    for (const [text, base64] of Object.entries(vectors)) {
      expect(encodeBase64(encodeUtf8(text))).toBe(base64);
      expect(decodeBase64(base64)).toEqual(encodeUtf8(text));
    }
  });

  test('decode after encode is the identity', () => {
    fc.assert(
      fc.property(octets, (bytes) => {
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
      }),
    );
  });

  test('what decodes encodes back to the same text', () => {
    const nearBase64 = fc.string({ unit: fc.constantFrom(...Array.from('AZaz09+/=-_ \n\r\t.é\0')), maxLength: 12 });
    fc.assert(
      fc.property(nearBase64, (text) => {
        const bytes = decodeBase64(text);
        expect(bytes === undefined ? text : encodeBase64(bytes)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['no padding', 'YQ'],
    ['short padding', 'YQ='],
    ['padding alone', '===='],
    ['non-zero padding bits', 'YR=='],
    ['line end', 'YQ==\n'],
    ['space before', ' YQ=='],
    ['space inside', 'YW Jj'],
    ['URL alphabet', '-_-_'],
    ['text after padding', 'YQ==YQ=='],
    ['excess padding', 'YWJj===='],
    ['not the alphabet', 'YW*j'],
    ['beyond Latin-1', 'YQ\u{1F600}=='],
  ])('refuses %s', (_defect, text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  test('the throwing form names the field and does not echo the value', () => {
    expect(() => parseBase64('secret!', 'plaintext')).toThrow(
      expect.objectContaining({ code: 'invalid-base64', message: expect.stringMatching(/^plaintext /) }),
    );
    expect(() => parseBase64('secret!', 'plaintext')).not.toThrow(/secret!/);
  });

  test('decoded octets have their own memory', () => {
    expect(decodeBase64('YWJj')?.buffer.byteLength).toBe(3);
  });

  describe('of the texts of one request', () => {
    test('each has a place of its own in the memory that they share, whatever was refused between them', () => {
      const decode = sharingDecoder();
      const texts = Array.from({ length: 3_000 }, (_, at) => encodeBase64(encodeUtf8(`text ${at}`.repeat(1 + (at % 90)))));
      const decoded = texts.map((text, at) => {
        const wrongs = at % 7 === 0 ? [`${text.slice(0, -1)}*`, `${text}\n`, text.slice(1)] : [];
        expect(wrongs.map(decode)).toEqual(wrongs.map(() => undefined));
        return decode(text) as Uint8Array;
      });
      decoded[5]?.fill(0);
      expect(decoded.flatMap((bytes, at) => (encodeBase64(bytes) === texts[at] ? [] : [at]))).toEqual([5]);
      expect(new Set(decoded.map(({ buffer }) => buffer)).size).toBeLessThan(texts.length / 10);
    });

    test('what decodes and what is refused are the same as alone', () => {
      const nearBase64 = fc.string({ unit: fc.constantFrom(...Array.from('AZaz09+/=-_ \n\r\t.é\0')), maxLength: 12 });
      const decode = sharingDecoder();
      const alone = fc.oneof(
        nearBase64,
        octets.map(encodeBase64),
        fc.tuple(octets.map(encodeBase64), nearBase64).map(([a, b]) => a + b),
      );
      fc.assert(
        fc.property(alone, (text) => {
          expect(decode(text)).toEqual(decodeBase64(text));
        }),
        { numRuns: 5_000 },
      );
    });

    test.each([1_533, 1_534, 1_535, 1_536, 1_537, 1_538, 6_144, 8_192, 8_193])(
      'also of %i octets, around where memory is no longer shared',
      (long) => {
        const decode = sharingDecoder();
        const bytes = new Uint8Array(long).fill(0xfb);
        const text = encodeBase64(bytes);
        for (let time = 0; time < 12; time++) expect(decode(text)).toEqual(bytes);
        for (const wrong of [
          `${text}\n`,
          ` ${text}`,
          text.slice(1),
          text.replaceAll('+', '-'),
          `${text}====`,
          `    ${text}`,
          `${text}    `,
        ]) {
          expect(decode(wrong)).toBeUndefined();
        }
      },
    );
  });

  test('4 MiB, the longest body, is decoded completely', () => {
    const bytes = new Uint8Array(4 << 20).fill(7);
    expect(decodeBase64(encodeBase64(bytes))?.every((octet) => octet === 7)).toBe(true);
    expect(decodeBase64(`${encodeBase64(bytes)}\n`)).toBeUndefined();
  });
});

test('UTF-8: well-formed text survives, a byte order mark included; anything else is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(decodeUtf8(encodeUtf8(text))).toBe(text);
    }),
  );
  expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xc3]]) {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
  }
});

test('comparing: equal octets only, lengths may differ', () => {
  fc.assert(
    fc.property(octets, octets, (left, right) => {
      expect(equalConstantTime(left, right)).toBe(encodeHex(left) === encodeHex(right));
    }),
  );
  expect(equalConstantTime(Uint8Array.of(1), Uint8Array.of(1))).toBe(true);
});
