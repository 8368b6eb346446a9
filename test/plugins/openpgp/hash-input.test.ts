// Texts that an OpenPGP signature can be made over: all are recognised, and ordinary texts are not.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOpenpgpHashInput, requireNoOpenpgpInput } from '../../../plugins/openpgp/hash-input.ts';
import { noFields } from './harness.ts';

const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
const u32 = (value: number): Buffer => Buffer.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
const octets = (maxLength: number): fc.Arbitrary<Buffer> => fc.uint8Array({ maxLength }).map((some) => Buffer.from(some));

/** A key as it is hashed. */
const keyFrame = fc.tuple(fc.constantFrom(2, 3, 4, 5, 6), octets(300)).map(([version, rest]) => {
  const body = Buffer.concat([Buffer.of(version), rest]);
  return version < 5
    ? Buffer.concat([Buffer.of(0x99), u16(body.length), body])
    : Buffer.concat([Buffer.of(0x95 + version), u32(body.length), body]);
});

/** The hashed part of a signature packet and the trailer behind it (RFC 9580 5.2.4; version 5: LibrePGP). */
const tail = fc
  .tuple(fc.constantFrom(4, 5, 6), octets(300), octets(3))
  .map(([version, subpackets, [type = 0, algorithm = 1, hash = 8]]) => {
    const length = version === 6 ? u32(subpackets.length) : u16(subpackets.length);
    const head = Buffer.concat([Buffer.of(version, type, algorithm, hash), length, subpackets]);
    const metadata = version === 5 && type < 2 ? Buffer.alloc(6) : Buffer.alloc(0);
    return Buffer.concat([head, metadata, Buffer.of(version, 0xff), version === 5 ? u32(0) : Buffer.alloc(0), u32(head.length)]);
  });

function expectAlways<T>(property: fc.IProperty<T>): void {
  expect(fc.check(property, { numRuns: 2_000 }).counterexample).toBeNull();
}

describe('a text that OpenPGP hashes is recognised', () => {
  test('of version 4, 5 and 6: anything, with a salt before it or not, and the trailer', () => {
    expectAlways(fc.property(octets(400), tail, (data, end) => isOpenpgpHashInput(Buffer.concat([data, end]))));
  });

  test('certifications and bindings of version 3: keys, User IDs, type and time, without a trailer', () => {
    expectAlways(
      fc.property(keyFrame, octets(200), octets(5), (key, rest, typeAndTime) =>
        isOpenpgpHashInput(Buffer.concat([key, rest, typeAndTime])),
      ),
    );
  });

  test('at any offset of its buffer', () => {
    const key = Buffer.concat([Buffer.of(0x99), u16(3), Buffer.of(4, 1, 2)]);
    expect(isOpenpgpHashInput(Buffer.concat([Buffer.alloc(7), key]).subarray(7))).toBe(true);
  });
});

test('no UTF-8 text is taken for one: it has none of the octets FF, and does not begin with 99, 9A or 9B', () => {
  expectAlways(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => !isOpenpgpHashInput(Buffer.from(text))));
});

test('ends and beginnings whose length does not fit are ordinary', () => {
  for (const hex of [
    '',
    '04',
    '04ff',
    '04ff0000',
    '04ff00000001',
    '07ff00000000',
    '99',
    '9900',
    '990003040102'.slice(0, 10),
    '9b0000000106',
    '9a00',
    '05ff0000000100000000',
  ])
    expect([hex, isOpenpgpHashInput(Buffer.from(hex, 'hex'))]).toEqual([hex, hex === '9b0000000106']);
});

test('a text that the service has made may end as a document of version 3; one of the caller needs openpgp-sign', () => {
  const text = Buffer.from('30820000010001a000', 'hex');
  const judge = (isMadeHere: boolean) => () =>
    requireNoOpenpgpInput({ ...noFields, openpgpUserId: 'A' }, undefined, {
      ...{ text, family: 'rsa', prehashed: false, isMadeHere },
      allows: () => false,
    });
  expect(judge(true)).not.toThrow();
  expect(judge(false)).toThrow(/must also allow/);
});
