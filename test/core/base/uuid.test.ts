// UUIDs: version and variant are set, every other bit is that of the random octets.
import { expect, test } from 'vitest';
import { uuidOf } from '../../../core/base/uuid.ts';

test('version 4 and variant 10 are set, the other 122 bits are kept, the input is not modified', () => {
  expect(uuidOf(new Uint8Array(16))).toBe('00000000-0000-4000-8000-000000000000');
  expect(uuidOf(new Uint8Array(16).fill(0xff))).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
  const octets = Uint8Array.from({ length: 16 }, (_, index) => index);
  expect(uuidOf(octets)).toBe('00010203-0405-4607-8809-0a0b0c0d0e0f');
  expect(octets[6]).toBe(6);
});
