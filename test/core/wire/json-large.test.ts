// A large body whose bulk is one text: parsed as parseJsonObject does, but the text is taken out in place.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase64InPlace } from '../../../core/base/bytes.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { parseJsonObject } from '../../../core/wire/json.ts';
import { parseAround } from '../../../core/wire/json-large.ts';

const long = 'x'.repeat(64 * 1024);

/** The result for a body, with the text put back. */
function outcome(read: () => object): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, detail: error.details.detail };
  }
}
const around = (body: string | Buffer): unknown =>
  outcome(() => {
    const { value, text } = parseAround(Buffer.from(body), 'text');
    return text === undefined ? value : { ...value, text: Buffer.from(text).toString() };
  });
const plain = (body: string | Buffer): unknown => outcome(() => parseJsonObject(Buffer.from(body)));

test('the text is taken out: its place has an empty one, and its octets are in the buffer of the body', () => {
  const body = Buffer.from(JSON.stringify({ format: 'binary', text: long, other: ['text', { text: 'inner' }] }));
  const { value, text } = parseAround(body, 'text');
  expect(value).toEqual({ format: 'binary', text: '', other: ['text', { text: 'inner' }] });
  expect(Buffer.from(text ?? []).toString()).toBe(long);
  expect(text?.buffer).toBe(body.buffer);
});

describe('reads and refuses as parseJsonObject', () => {
  test.each([
    ['white space', ` {\n "a" : 1 ,\t"text" : "${long}" , "b" : [ ] } `],
    ['an escaped quote and backslashes before the end', String.raw`{"text":"${long}\\\"\\","a":1}`],
    ['every kind of escape', String.raw`{"text":"\b\f\n\r\t\/\\\"\u00e9\ud83d\ude00 é 😀${long}"}`],
    ['a text that is only escapes', `{"text":"${String.raw`\ud83d\ude00`.repeat(20_000)}"}`],
    ['a text of characters of four octets', `{"text":"${'😀'.repeat(50_000)}"}`],
    ['a short text', '{"text":"short"}'],
    ['no text', `{"note":"${long}"}`],
    ['a text that is none', `{"text":17,"note":"${long}"}`],
    ['a text in a list', `{"text":["${long}"]}`],
    ['a text inside', `{"inner":{"text":"${long}"},"text":null}`],
    ['a name with an escape', String.raw`{"t\u0065xt":"${long}"}`],
    ['the member twice', `{"text":"${long}","text":"${long}"}`],
    ['the member twice, once escaped', String.raw`{"text":"${long}","t\u0065xt":""}`],
    ['another member twice', `{"a":1,"text":"${long}","a":1}`],
    ['__proto__', `{"__proto__":{"a":1},"text":"${long}"}`],
    ['a list', `["text","${long}"]`],
    ['cut short', `{"text":"${long}`],
    ['no colon', `{"text" "${long}"}`],
    ['two values', `{"text":"${long}"}{}`],
    ['a control character', `{"text":"${long}\n"}`],
    ['an invalid escape', String.raw`{"text":"${long}\x"}`],
    ['an escape cut short', String.raw`{"text":"${long}\u12"}`],
    ['too deep', `{"text":"${long}","a":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['octets that are not UTF-8', Buffer.concat([Buffer.from(`{"text":"${long}`), Buffer.of(0xff), Buffer.from('"}')])],
    ['nothing', ''],
  ])('%s', (_, body) => {
    expect(around(body)).toEqual(plain(body));
  });

  test('any text, however it is split into pieces', () => {
    const text = fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constantFrom('\\', '"', '\n', '\u2028', '😀')), {
      minLength: 200,
      maxLength: 400,
    });
    fc.assert(
      fc.property(text, fc.boolean(), (parts, escaped) => {
        const whole = parts.join('').repeat(60).padEnd(70_000, 'é');
        const json = JSON.stringify({ text: whole, a: 1 });
        const body = escaped
          ? json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : json;
        expect(around(body)).toEqual({ text: whole, a: 1 });
      }),
      { numRuns: 25 },
    );
  });
});

test('a lone surrogate is invalid-value, and more than 4 MiB besides the text payload-too-large', () => {
  expect(around(String.raw`{"text":"${long}\ud800"}`)).toEqual({ code: 'invalid-value', detail: '"text" must be well-formed Unicode.' });
  expect(around(`{"text":"${long}"}`.padEnd(5 * 1024 * 1024))).toMatchObject({ code: 'payload-too-large' });
});

describe('base64 in place', () => {
  const decoded = async (text: string): Promise<string | undefined> => {
    const octets = await decodeBase64InPlace(Buffer.from(text, 'latin1'));
    return octets === undefined ? undefined : Buffer.from(octets).toString('latin1');
  };

  test.each([0, 1, 2, 3, 98_303, 98_304, 98_305, 300_000])('%i octets are decoded', async (length) => {
    const octets = Buffer.from(Array.from({ length }, (_, index) => (index * 7) & 0xff));
    expect(await decoded(octets.toString('base64'))).toBe(octets.toString('latin1'));
  });

  test.each(['A', 'AA', 'AAA', 'AB==', 'AA==\n', ' AAAA', 'AA-_', 'AA==AAAA', 'é'])(
    '%j is none, also at the end of a long one',
    async (bad) => {
      expect(await decoded(bad)).toBeUndefined();
      expect(await decoded('AAAA'.repeat(100_000) + bad)).toBeUndefined();
    },
  );

  test('padding or white space at the end of a piece is refused', async () => {
    for (const end of ['AA==', 'AAA=', 'AAA ']) {
      expect(await decoded('AAAA'.repeat(32_767) + end + 'AAAA'.repeat(10))).toBeUndefined();
    }
  });
});
