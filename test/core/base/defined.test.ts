// Undefined members are left out, all others stay, in their order.
import { expect, expectTypeOf, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';

test('undefined members are left out; null, false, zero and the empty string are not', () => {
  const members = { b: 0, gone: undefined as string | undefined, a: null, d: false, c: '' };
  expect(Object.entries(defined(members))).toEqual([
    ['b', 0],
    ['a', null],
    ['d', false],
    ['c', ''],
  ]);
  expect('gone' in defined(members)).toBe(false);
});

test('only members that may be undefined become optional', () => {
  const members: { a: number; b: string | undefined } = { a: 1, b: undefined };
  expectTypeOf(defined(members)).toEqualTypeOf<{ a: number } & { b?: string }>();
});
