// Addresses and ranges: every notation of an address is the same address, and a range contains exactly what its prefix says.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areWithin, cidrsField, isWithin, parseAddress, subscriberOf } from '../../../core/base/addresses.ts';

const four = fc.ipV4();
const six = fc.ipV6();

describe('an address', () => {
  test.each([
    ['127.0.0.1', 32, 0x7f000001n],
    ['0.0.0.0', 32, 0n],
    ['::', 128, 0n],
    ['::1', 128, 1n],
    ['2001:DB8::ff00:42:8329', 128, 0x20010db8000000000000ff0000428329n],
    ['1:2:3:4:5:6:7::', 128, 0x00010002000300040005000600070000n],
    ['fe80::1%eth0', 128, 0xfe800000000000000000000000000001n],
    ['::ffff:10.0.0.1', 32, 0x0a000001n],
    ['::FFFF:a00:1', 32, 0x0a000001n],
    ['64:ff9b::1.2.3.4', 128, 0x0064ff9b000000000000000001020304n],
  ] as const)('%s', (text, bits, value) => {
    expect(parseAddress(text)).toEqual({ bits, value });
  });

  test.each(['', 'localhost', '1.2.3', '1.2.3.256', '01.2.3.4', '1.2.3.4/8', '::1::', 'g::1', ' 1.2.3.4', '1.2.3.4\n'])(
    '%j is none',
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );

  test('of IPv6 counts as its /64, of IPv4 as itself', () => {
    expect(subscriberOf('2001:db8::1')).toBe(subscriberOf('2001:db8::ffff:ffff:ffff:ffff'));
    expect(subscriberOf('2001:db8::1')).not.toBe(subscriberOf('2001:db8:0:1::1'));
    expect(subscriberOf('10.0.0.1')).toBe(subscriberOf('::ffff:10.0.0.1'));
    expect(subscriberOf('10.0.0.1')).not.toBe(subscriberOf('10.0.0.2'));
    expect(subscriberOf('::a00:1')).not.toBe(subscriberOf('10.0.0.1'));
  });
});

const accepts = (text: string) => cidrsField().safeParse([text]).success;

describe('a range', () => {
  test.each(['10.0.0.0/8', '10.1.2.3', '10.1.2.3/32', '0.0.0.0/0', '::/0', '2001:db8::/32', '2001:DB8::1', '::1/128'])('%s', (text) => {
    expect(accepts(text)).toBe(true);
  });

  test.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/8 ',
    '::/129',
    'a/8',
    'fe80::1%eth0',
    // bits behind the prefix; IPv4 written as IPv6
    '10.1.2.3/8',
    '2001:db8::1/32',
    '::ffff:10.0.0.0/104',
  ])('%j is refused', (text) => {
    expect(accepts(text)).toBe(false);
  });

  test('is within others if each of its addresses is in one of them', () => {
    const ranges = fc.array(
      fc.tuple(fc.nat({ max: 15 }), fc.integer({ min: 28, max: 32 })).map(([low, prefix]) => {
        const behind = 32 - prefix;
        return `10.0.0.${(low >> behind) << behind}/${prefix}`;
      }),
      { minLength: 1, maxLength: 8 },
    );
    const all = Array.from({ length: 16 }, (_, low) => `10.0.0.${low}`);
    fc.assert(
      fc.property(ranges, ranges, (inner, outer) => {
        expect(areWithin(inner, outer)).toBe(all.every((one) => !isWithin(inner, one) || isWithin(outer, one)));
      }),
    );
    expect([areWithin(['::/0'], ['0.0.0.0/0']), areWithin([], ['0.0.0.0/0']), areWithin([], ['0.0.0.0/0', '::/0'])]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('contains exactly the addresses with its prefix, and none of the other family', () => {
    fc.assert(
      fc.property(fc.oneof(four, six), fc.oneof(four, six), fc.nat({ max: 128 }), (network, client, length) => {
        const [own, other] = [parseAddress(network), parseAddress(client)];
        fc.pre(own !== undefined && other !== undefined && length <= own.bits && (own.bits === 32) === !network.includes(':'));
        const behind = BigInt(own.bits - length);
        const range = `${formatAddress(own.bits, (own.value >> behind) << behind)}/${length}`;
        expect(accepts(range)).toBe(true);
        expect(isWithin([range], client)).toBe(own.bits === other.bits && own.value >> behind === other.value >> behind);
        expect(isWithin([range], network)).toBe(true);
      }),
    );
  });

  test('an empty list, or an address that is not known: nothing is within', () => {
    expect(isWithin([], '10.0.0.1')).toBe(false);
    expect(isWithin(['0.0.0.0/0', '::/0'], undefined)).toBe(false);
    expect(isWithin(['0.0.0.0/0', '::/0'], '')).toBe(false);
  });
});

function formatAddress(bits: number, value: bigint): string {
  const [count, width, base, mark] = bits === 32 ? ([4, 8n, 10, '.'] as const) : ([8, 16n, 16, ':'] as const);
  const parts = Array.from({ length: count }, (_, index) => (value >> (BigInt(count - 1 - index) * width)) & ((1n << width) - 1n));
  return parts.map((part) => part.toString(base)).join(mark);
}
