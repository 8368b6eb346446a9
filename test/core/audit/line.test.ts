// The text of a record is what JSON.stringify makes of it, under the names of the wire.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatFields, formatLine, emptyChain, parseLine } from '../../../core/audit/line.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\n', '\u2028', '\ud800', 'é', '\u007f', '[]', '~ !'),
);
const value = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
  fc.dictionary(text, text),
  fc.array(text),
);

test('any values, absent ones left out', () => {
  fc.assert(
    fc.property(fc.record({ kind: value, occurredAt: value, requestTimeMs: value, signedDigest: value }), (record) => {
      const { kind, occurredAt, requestTimeMs, signedDigest } = record;
      const wire = { kind, 'occurred-at': occurredAt, 'request-time-ms': requestTimeMs, 'signed-digest': signedDigest };
      expect(`{${formatFields(record).slice(1)}}`).toBe(JSON.stringify(wire));
      expect(parseLine(Buffer.from(formatLine('main', emptyChain, formatFields(record)).text.trimEnd()))?.sequence).toBe(1);
    }),
  );
});

test('whatever the record before had, the same values or others', () => {
  const few = fc.constantFrom('', 'a', '"', 'é'.repeat(256), 'é'.repeat(257), '{}', 0, false, undefined, {});
  fc.assert(
    fc.property(fc.array(fc.record({ kind: few, remoteAddress: few }), { minLength: 2 }), (records) => {
      for (const { kind, remoteAddress } of records) {
        const wire = JSON.stringify({ kind, 'remote-address': remoteAddress });
        expect(`{${formatFields({ kind, remoteAddress }).slice(1)}}`).toBe(wire);
      }
    }),
  );
});

test('no fields', () => {
  expect(formatFields({})).toBe('');
});
