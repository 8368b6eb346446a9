// The step from BER to DER: every form of a value becomes one form, and hostile octets are refused in bounded time and memory.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encode, integer, octetString, sequence, tag, utf8String } from '../../../../core/der/der.ts';
import { toDer } from '../../../../plugins/scep/message/ber.ts';
import { messageLimits } from '../../../../plugins/scep/message/limits.ts';
import { type BerForm, implicitInPieces, likeJscep, toBer } from '../../../harness/scep/ber.ts';

const limits = { octets: 1 << 20, depth: 32, elements: 10_000 };
const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex');

/** DER of any shape. */
const leaf = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((content) => octetString(content)),
  fc.nat().map((number) => integer(number)),
  fc.string({ maxLength: 40 }).map((text) => utf8String(text)),
  fc.uint8Array({ maxLength: 20 }).map((content) => encode(tag.primitive(0), content)),
);
const tree = fc.letrec<{ node: Uint8Array }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.constantFrom(tag.sequence, tag.set, tag.constructed(0), tag.constructed(3)), fc.array(tie('node'), { maxLength: 5 }))
      .map(([type, parts]) => encode(type, ...parts)),
  ),
})).node;

function drawnForm(bits: readonly number[]): BerForm {
  let at = 0;
  const next = (): number => bits[at++ % bits.length] ?? 0;
  return {
    isIndefinite: () => next() % 2 === 1,
    zerosOfLength: () => (next() % 4 === 0 ? 1 : 0),
    pieceLength: () => (next() % 3 === 0 ? 1 + (next() % 100) : 0),
  };
}

describe('BER becomes DER', () => {
  test('whatever forms it has, and DER stays the same array', () => {
    fc.assert(
      fc.property(tree, fc.array(fc.nat(255), { minLength: 1, maxLength: 64 }), (der, bits) => {
        const written = toBer(der, drawnForm(bits));
        return hex(toDer(written, limits)) === hex(der) && toDer(der, limits) === der;
      }),
      { numRuns: 500 },
    );
  });

  test('with octet strings in pieces of pieces', () => {
    const piece = (text: string): Uint8Array => octetString(Buffer.from(text));
    const nested = encode(0x24, encode(0x24, piece('ab'), encode(0x24, piece('c'))), piece(''), piece('de'));
    expect(hex(toDer(nested, limits))).toBe(hex(piece('abcde')));
    expect(hex(toDer(Buffer.from('24802480040161000024030401620000', 'hex'), limits))).toBe(hex(piece('ab')));
    expect(hex(toDer(Buffer.from('2400', 'hex'), limits))).toBe('0400');
    expect(hex(toDer(Buffer.from('24800000', 'hex'), limits))).toBe('0400');
  });

  test('but an implicit octet string keeps its pieces, because its type is not known', () => {
    const pieces = implicitInPieces(0, Buffer.from('abcdef'), 4, likeJscep);
    expect(hex(toDer(pieces, limits))).toBe(
      hex(encode(tag.constructed(0), octetString(Buffer.from('abcd')), octetString(Buffer.from('ef')))),
    );
  });

  test('and values that are not DER stay as they are', () => {
    for (const der of ['010101', '02020001', '3106020102020101', '0303073bff'])
      expect(hex(toDer(Buffer.from(der, 'hex'), limits))).toBe(der);
  });
});

const refused: readonly (readonly [problem: string, octets: string])[] = [
  ['nothing', ''],
  ['a tag alone', '30'],
  ['a length beyond the end', '3005020100'],
  ['a length of which octets are missing', '3082'],
  ['a length beyond the end of the element around', '300302020101'],
  ['an indefinite length without an end', '3080020100'],
  ['half of an end', '308002010000'],
  ['an end that has a length', '30800001'],
  ['an end without a begin', '0000'],
  ['an end inside of a definite length', '30020000'],
  ['an end beyond the element around', '30023080'],
  ['a primitive element of indefinite length', '04800000'],
  ['a length of five octets', '308500000000020500'],
  ['a length of 126 octets', `30fe${'00'.repeat(126)}`],
  ['a reserved length', '30ff'],
  ['a length of 4 GiB', '3084ffffffff'],
  ['a tag of several octets', '1f810100'],
  ['octets behind the end', '050000'],
  ['an element behind the end', '3080000002 0100'.replace(' ', '')],
  ['a BIT STRING in pieces', '23800302000100 00'.replace(' ', '')],
  ['a UTF8String in pieces', '2c800c01610000'],
  ['an EXTERNAL', '28020500'],
  ['an OCTET STRING with a piece of another type', '24020500'],
  ['an OCTET STRING with a SEQUENCE inside', '24023000'],
  ['a primitive SEQUENCE', '1000'],
  ['a primitive SET', '1100'],
];

describe('it refuses', () => {
  test.each(refused)('%s', (_, octets) => {
    expect(() => toDer(Buffer.from(octets, 'hex'), limits)).toThrow(expect.objectContaining({ failInfo: 'badRequest' }));
  });

  const nested = (depth: number): Uint8Array => Buffer.concat([Buffer.alloc(2 * depth, '3080', 'hex'), Buffer.alloc(2 * depth)]);

  test('more than the limits of octets, depth and elements, and takes these', () => {
    expect(toDer(nested(32), limits).length).toBe(64);
    expect(() => toDer(nested(33), limits)).toThrow('32 elements inside');
    expect(toDer(sequence(...Array.from({ length: 9_999 }, () => integer(1))), limits).length).toBeGreaterThan(29_997);
    expect(() => toDer(sequence(...Array.from({ length: 10_000 }, () => integer(1))), limits)).toThrow('10000 elements');
    expect(() => toDer(octetString(Buffer.alloc(1 << 20)), limits)).toThrow('octets');
  });

  test('the same of every depth and form that fills the largest message', () => {
    const { octets } = messageLimits;
    for (const unit of ['3080', '2480', 'a080', '30820000', '3000', '0400', '2400', '0000', '240024', '308024'])
      for (const rest of [Buffer.alloc(0), Buffer.alloc(octets / 2)]) {
        const filled = Buffer.concat([Buffer.of(0x30, 0x80), Buffer.alloc(octets - 2 - rest.length, unit, 'hex'), rest]);
        expect(() => toDer(filled, messageLimits)).toThrow(expect.objectContaining({ name: 'ScepMalformed' }));
      }
  });
});
