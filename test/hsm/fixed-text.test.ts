// Texts in fields of fixed length, as PKCS#11 has them.
import { expect, test } from 'vitest';
import { padded, unpadded } from '../../hsm/pkcs11/fixed-text.ts';

test.each(['', 'a', ' a', 'ü'.repeat(16), 'x'.repeat(32)])('"%s" fills its 32 octets, and is read back', (text) => {
  expect(Buffer.byteLength(padded(text, 32))).toBe(32);
  expect(unpadded(padded(text, 32))).toBe(text);
});

test('a text that is too long in octets is refused and never cut', () => {
  expect(() => padded('ü'.repeat(17), 32)).toThrow(RangeError);
});

test('what follows a zero is no text, and other blanks than those of the padding stay', () => {
  expect(unpadded('label\0\0\ufffdK  !')).toBe('label');
  expect(unpadded('label\0')).toBe('label');
  expect(unpadded('a\u00a0b\u00a0  ')).toBe('a\u00a0b\u00a0');
});
