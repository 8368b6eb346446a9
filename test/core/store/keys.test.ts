// Key texts: injective, sorted like their parts, and always decodable.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeKey, encodeKey, keyBytes, requireKey } from '../../../core/store/keys.ts';
import type { StoreKey } from '../../../core/store/store.ts';

const part = fc.oneof(
  fc.maxSafeNat(),
  fc.constantFrom('', 'a', 'b', 'ab', 'é', '\u{1F600}', '\u{10FFFF}', '\uffff', 'a\u0001', 'A1'),
  fc.string({ unit: 'binary' }),
);
const key = fc.array(part, { maxLength: 4 });

describe('key texts', () => {
  test('decode after encode is the identity', () => {
    fc.assert(
      fc.property(key, (parts) => {
        const text = encodeKey('t', parts);
        fc.pre(text !== undefined);
        expect(decodeKey(text)).toEqual({ table: 't', key: parts });
      }),
      { numRuns: 1000 },
    );
  });

  test('octets sort part by part: numbers by value before texts by code point, shorter keys first', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        const [leftText, rightText] = [encodeKey('t', left), encodeKey('t', right)];
        fc.pre(leftText !== undefined && rightText !== undefined);
        expect(Math.sign(Buffer.compare(keyBytes(leftText), keyBytes(rightText)))).toBe(compareKeys(left, right));
      }),
      { numRuns: 2000 },
    );
  });

  test.each<[string, StoreKey]>([
    ['NUL in a text', ['a\0b']],
    ['U+0001 in front, which marks numbers', ['\u0001A5']],
    ['a lone surrogate, which has no UTF-8', ['\ud800']],
    ['a negative number', [-1]],
    ['a fraction', [0.5]],
    ['a number beyond the safe integers', [2 ** 53]],
    ['NaN', [Number.NaN]],
    ['more than LMDB takes', ['é'.repeat(1_000)]],
  ])('has no text for %s', (_case, parts) => {
    expect(encodeKey('t', parts)).toBeUndefined();
    expect(() => requireKey('t', parts)).toThrow(TypeError);
  });

  test('takes the longest role name below tenant and service (api 11)', () => {
    expect(encodeKey('oidc/roles', ['6f1c8c9e-0000-4000-8000-000000000000', 's'.repeat(128), '\u{1F600}'.repeat(256)])).toBeDefined();
  });
});

function compareKeys(left: StoreKey, right: StoreKey): number {
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return left.length === right.length ? 0 : -1;
}

function comparePart(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return Math.sign(left - right);
  if (typeof left === 'string' && typeof right === 'string') {
    const [a, b] = [Array.from(left, codePoint), Array.from(right, codePoint)];
    for (const [index, point] of a.entries()) {
      if (point !== b[index]) return Math.sign(point - (b[index] ?? -1));
    }
    return a.length === b.length ? 0 : -1;
  }
  // The empty text is only its closing NUL and sorts before the prefix of numbers.
  if (left === '' || right === '') return left === '' ? -1 : 1;
  return typeof left === 'number' ? -1 : 1;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
