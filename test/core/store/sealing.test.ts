// Sealing of records: published vectors, and modified records do not open.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeHex, encodeUtf8 } from '../../../core/base/bytes.ts';
import { Secret } from '../../../core/base/secret.ts';
import { Sealer } from '../../../core/store/records/sealing.ts';

const sealer = new Sealer(new Secret(new Uint8Array(32).fill(7)));
const octets = fc.uint8Array({ maxLength: 100 });

describe('XAES-256-GCM (c2sp.org/XAES-256-GCM, test vectors)', () => {
  const nonce = encodeUtf8('ABCDEFGHIJKLMNOPQRSTUVWX');
  test.each([
    ['MSB of L not set', 0x01, '', 'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271'],
    ['MSB of L set', 0x03, 'c2sp.org/XAES-256-GCM', '986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d'],
  ])('%s', (_case, keyOctet, associatedData, expected) => {
    const one = new Sealer(new Secret(new Uint8Array(32).fill(keyOctet)));
    const sealed = one.seal(encodeUtf8('XAES-256-GCM'), encodeUtf8(associatedData), nonce);
    expect(encodeHex(sealed)).toBe('01' + encodeHex(nonce) + expected);
  });
});

test('what was sealed opens, and never gives the same octets twice', () => {
  fc.assert(
    fc.property(octets, octets, (plaintext, associatedData) => {
      const sealed = sealer.seal(plaintext, associatedData);
      expect(encodeHex(sealer.open(sealed, associatedData) ?? encodeUtf8('closed'))).toBe(encodeHex(plaintext));
      expect(encodeHex(sealer.seal(plaintext, associatedData))).not.toBe(encodeHex(sealed));
    }),
  );
});

test('no nonce comes twice, over several draws of them and in a second sealer', () => {
  const other = new Sealer(new Secret(new Uint8Array(32).fill(7)));
  const nonces = Array.from({ length: 1_000 }, (_, n) => (n % 3 === 0 ? other : sealer).seal(encodeUtf8('a'), encodeUtf8('b')));
  expect(new Set(nonces.map((sealed) => encodeHex(sealed.subarray(1, 25))))).toHaveLength(1_000);
});

test('any flipped bit, any truncation, another associated data and another key do not open', () => {
  const associatedData = encodeUtf8('table\0key\0');
  const sealed = sealer.seal(encodeUtf8('value'), associatedData);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const flipped = Uint8Array.from(sealed);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(sealer.open(flipped, associatedData)).toBeUndefined();
  }
  for (let length = 0; length < sealed.length; length++) expect(sealer.open(sealed.subarray(0, length), associatedData)).toBeUndefined();
  expect(sealer.open(sealed, encodeUtf8('table\0other\0'))).toBeUndefined();
  expect(new Sealer(new Secret(new Uint8Array(32).fill(8))).open(sealed, associatedData)).toBeUndefined();
});

test('a data key without exactly 32 octets is refused', () => {
  expect(() => new Sealer(new Secret(new Uint8Array(16)))).toThrow(/32 octets/);
});

test('after the key is forgotten, nothing is sealed or opened', () => {
  const one = new Sealer(new Secret(new Uint8Array(32).fill(7)));
  const sealed = one.seal(encodeUtf8('value'), encodeUtf8('key'));
  one.forget();
  one.forget();
  expect(() => one.seal(encodeUtf8('value'), encodeUtf8('key'))).toThrow(/forgotten/);
  expect(() => one.open(sealed, encodeUtf8('key'))).toThrow(/forgotten/);
});
