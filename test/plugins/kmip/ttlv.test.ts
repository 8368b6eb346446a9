// Tests of the encoding of KMIP (1.4 section 9.1).
import { expect, test } from 'vitest';
import { enumerations } from '../../../plugins/kmip/ttlv/enumerations.ts';
import { boolean, date, enumeration, integer, type Item, octets, structure, text } from '../../../plugins/kmip/ttlv/item.ts';
import { KmipMalformed } from '../../../plugins/kmip/ttlv/malformed.ts';
import { lengthOf, readItem } from '../../../plugins/kmip/ttlv/read.ts';
import { tags } from '../../../plugins/kmip/ttlv/tags.ts';
import { octetsOf, writeItem } from '../../../plugins/kmip/ttlv/write.ts';
import { itemOf } from '../../harness/kmip/case-items.ts';
import { kmipCases } from '../../vectors/kmip.ts';

const hex = (item: Item): string => writeItem(item).toString('hex');
const inside = (octetsOfItem: string): Buffer => {
  const content = Buffer.from(octetsOfItem.replaceAll(' ', ''), 'hex');
  const header = Buffer.from('4200780100000000', 'hex');
  header.writeUInt32BE(content.length, 4);
  return Buffer.concat([header, content]);
};

test('items are written as the examples of the specification (1.4 section 9.1.2)', () => {
  const compromised = tags.CompromiseDate;
  expect(hex({ tag: compromised, type: 'integer', value: 8 })).toBe('42002002000000040000000800000000');
  expect(hex({ tag: compromised, type: 'long', value: 123_456_789_000_000_000n })).toBe('420020030000000801b69b4ba5749200');
  expect(hex({ tag: compromised, type: 'big-integer', value: Buffer.from('0000000003fd35eb6bc2df4618080000', 'hex') })).toBe(
    '42002004000000100000000003fd35eb6bc2df4618080000',
  );
  expect(hex({ tag: compromised, type: 'enumeration', value: 255 })).toBe('4200200500000004000000ff00000000');
  expect(hex({ tag: compromised, type: 'boolean', value: true })).toBe('42002006000000080000000000000001');
  expect(hex({ tag: compromised, type: 'text', value: 'Hello World' })).toBe('420020070000000b48656c6c6f20576f726c640000000000');
  expect(hex({ tag: compromised, type: 'octets', value: Buffer.of(1, 2, 3) })).toBe('42002008000000030102030000000000');
  expect(hex({ tag: compromised, type: 'date', value: Date.UTC(2008, 2, 14, 11, 56, 40) / 1_000 })).toBe(
    '42002009000000080000000047da67f8',
  );
  expect(hex({ tag: compromised, type: 'interval', value: 864_000 })).toBe('4200200a00000004000d2f0000000000');
  expect(
    hex({
      tag: compromised,
      type: 'structure',
      value: [
        { tag: tags.ApplicationSpecificInformation, type: 'enumeration', value: 254 },
        { tag: tags.ArchiveDate, type: 'integer', value: 255 },
      ],
    }),
  ).toBe('42002001000000204200040500000004000000fe000000004200050200000004000000ff00000000');
});

test('what is written is read as the same', () => {
  const item = structure(
    'RequestMessage',
    text('NameValue', 'schlüssel ✓'),
    text('NameValue', ''),
    octets('KeyMaterial', Buffer.alloc(33, 7)),
    integer('BatchCount', -1),
    date('TimeStamp', -5),
    boolean('BatchOrderOption', false),
    enumeration('Operation', 'Get'),
    { tag: 0x54_00_01, type: 'long', value: -(2n ** 63n) },
    structure('RequestPayload'),
  );
  expect(writeItem(readItem(writeItem(item)))).toEqual(writeItem(item));
  expect(octetsOf(item)).toBe(writeItem(item).length);
  expect(lengthOf(writeItem(item).subarray(0, 8))).toBe(writeItem(item).length);
});

test('every message of the cases of OASIS is written and read as the same', () => {
  for (const { messages } of kmipCases())
    for (const message of messages) {
      const octetsOfMessage = writeItem(itemOf(message, new Map(), 1_000_000));
      expect(writeItem(readItem(octetsOfMessage)).equals(octetsOfMessage)).toBe(true);
    }
});

test.each([
  ['an item behind the end', '42000d02 00000004 00000001 00000000 00'],
  ['a length beyond what is around it', '42000d08 7fffffff 00000000'],
  ['an integer of eight octets', '42000d02 00000008 00000000 00000001'],
  ['a boolean of 2', '42000d06 00000008 00000000 00000002'],
  ['padding that is not zero', '42000d02 00000004 00000001 00000001'],
  ['an unknown type', '42000d0c 00000008 00000000 00000000'],
  ['a tag of nobody', '41000d02 00000004 00000001 00000000'],
  ['a text that is not UTF-8', '42000d07 00000001 ff000000 00000000'],
  ['a big integer of four octets', '42000d04 00000004 00000001 00000000'],
  ['a date that no calendar has', '42000d09 00000008 7fffffff ffffffff'],
  ['a structure whose length is no multiple of eight', '42000d01 00000004 00000000 00000000'],
])('%s is refused', (_what, content) => {
  expect(() => readItem(inside(content))).toThrow(KmipMalformed);
});

test('depth and number of items are limited before they are read', () => {
  const nested = (depth: number): Item => (depth === 0 ? integer('BatchCount', 1) : structure('RequestMessage', nested(depth - 1)));
  expect(readItem(writeItem(nested(16))).type).toBe('structure');
  expect(() => readItem(writeItem(nested(17)))).toThrow('16 structures');
  const many = structure('RequestMessage', ...Array.from({ length: 16_384 }, () => integer('BatchCount', 1)));
  expect(() => readItem(writeItem(many))).toThrow('16384 items');
});

test('numbers of tags and enumerations are those of the specification', () => {
  // One of each beginning and end of a row that a slip would move.
  expect([tags.ActivationDate, tags.Certificate, tags.Link, tags.UniqueIdentifier, tags.Password]).toEqual([
    0x42_00_01, 0x42_00_13, 0x42_00_4a, 0x42_00_94, 0x42_00_a1,
  ]);
  expect([tags.LocatedItems, tags.AuthenticatedEncryptionTag, tags.Attributes, tags.AttributeReference, tags.NewAttribute]).toEqual([
    0x42_00_d5, 0x42_00_ff, 0x42_01_25, 0x42_01_3b, 0x42_01_3d,
  ]);
  const { Operation, ResultReason, CryptographicAlgorithm, LinkType } = enumerations;
  expect([Operation.Destroy, Operation.DiscoverVersions, Operation.Encrypt, Operation.SetAttribute]).toEqual([0x14, 0x1e, 0x1f, 0x31]);
  expect([ResultReason.PermissionDenied, ResultReason.GeneralFailure, CryptographicAlgorithm.AES, LinkType.ReplacedObjectLink]).toEqual([
    0x0c, 0x100, 3, 0x107,
  ]);
});
