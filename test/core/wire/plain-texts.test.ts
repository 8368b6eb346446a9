// Objects with nothing but plain texts are read without parsing: what is read, and what is refused, is as if they were parsed.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../../core/base/errors.ts';
import { base64Field, integer, nameField } from '../../../core/wire/fields.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { readerOf } from '../../../core/wire/plain-texts.ts';
import { parseInput } from '../../../core/wire/schema.ts';

const schema = z.object({
  plaintext: z.string().meta({ description: 'required' }),
  other: z.string(),
  context: z.string().optional().meta({ description: 'optional' }),
  reference: z.string().max(5).optional(),
  note: z.string().max(7).max(3).optional(),
  least: z.string().min(2).optional(),
  small: z.string().toLowerCase().optional(),
  trimmed: z.string().trim().optional(),
  number: z.coerce.string().optional(),
  mail: z.email().optional(),
  mails: z.string().regex(/x/).optional(),
  kind: z.enum(['a', 'b']).optional(),
  empty: z.string().nullable().optional(),
  name: nameField().optional(),
  octets: base64Field().optional(),
  version: integer(1, 9).optional(),
  keyVersion: z.string().optional(),
});
const read = readerOf(schema);

function outcomeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, ...error.details };
  }
}

describe('an object of a list', () => {
  const names = [...Object.keys(schema.shape), 'key-version', 'colour', '__proto__', 'constructor', 'toString'];
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('a', ' A ', 'YQ==', '\ud800', 'x\udc00y', '', 'ABCDEF'),
  );
  const value = fc.oneof({ weight: 6, arbitrary: text }, fc.constantFrom<unknown>(null, 1, 12, true, 1e300, [], {}, ['a']));
  const member = fc.tuple(fc.constantFrom(...names), value);
  const whole = fc.constantFrom<[string, unknown][]>(
    [
      ['plaintext', 'p'],
      ['other', 'o'],
    ],
    [['plaintext', 'p']],
    [],
  );

  test('is read as parseInput reads it, or refused as it refuses it', () => {
    let untouched = 0;
    fc.assert(
      fc.property(whole, fc.array(member, { maxLength: 3 }), (sure, members) => {
        // Through JSON, as it arrives: `__proto__` is a name like any other there.
        const texts = [...sure, ...members].map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`);
        const object = JSON.parse(`{${texts.join(',')}}`) as JsonObject;
        const found = outcomeOf(() => read(object));
        if (found === object) untouched += 1;
        expect(found).toEqual(outcomeOf(() => parseInput(schema, object)));
      }),
      { numRuns: 5_000 },
    );
    expect(untouched).toBeGreaterThan(100);
  });

  test('gets the values that its schema has for absent fields', () => {
    for (const field of [z.string().default('x'), z.string().prefault('x'), z.string().optional().default('x')]) {
      const filled = readerOf(z.object({ plaintext: z.string(), filled: field }));
      expect(filled({ plaintext: 'p' })).toEqual({ plaintext: 'p', filled: 'x' });
    }
  });

  test('is not copied when it has plain texts only, up to their length', () => {
    const same = (object: JsonObject): boolean => read(object) === (object as unknown);
    expect(same({ plaintext: 'p', other: 'o', context: 'ä\u2028', reference: '12345', note: 'abc' })).toBe(true);
    for (const [name, one] of Object.entries({
      least: 'ab',
      small: 'a',
      trimmed: 'a',
      number: 'a',
      kind: 'a',
      empty: 'a',
      name: 'a',
      mail: 'a@b.example',
      mails: 'x',
    })) {
      expect([name, same({ plaintext: 'p', other: 'o', [name]: one })]).toEqual([name, false]);
    }
    expect(() => read({ plaintext: 'p', other: 'o', reference: '123456' })).toThrow(/at most 5 characters/);
    expect(() => read({ plaintext: 'p', other: 'o', note: '1234' })).toThrow(/at most 3 characters/);
    expect(() => read({ plaintext: 'p', other: '\ud800' })).toThrow(/well-formed/);
    expect(() => read({ plaintext: 'p' })).toThrow(/"other" is required/);
    expect(() => read({ plaintext: 'p', other: 'o', keyVersion: 'x' })).toThrow(/keyVersion/);
  });
});
