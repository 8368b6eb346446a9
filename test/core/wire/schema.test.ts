// From JSON text to typed input and back.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../../core/base/errors.ts';
import { base64Field, durationField, durationText, integer, nameField, timestamp } from '../../../core/wire/fields.ts';
import { parseJsonObject } from '../../../core/wire/json.ts';
import { formatOutput, parseInput, shapeOf, toKebab, translateInput, withReadOnly } from '../../../core/wire/schema.ts';

const schema = z.object({
  name: nameField(),
  autoRotate: z.object({ rotateAfter: durationText({ minSeconds: 3600 }), activateAfter: durationText().optional() }).optional(),
  claimMappings: z.record(z.string(), z.enum(['username', 'fullname'])).default({}),
  plainText: base64Field({ maxBytes: 4 }).optional(),
  policies: z.array(z.string()).default([]),
  rules: z.array(z.object({ keyVersion: integer(1, 9) })).optional(),
  version: z.union([z.literal('latest'), integer(1, 100)]).optional(),
});

const bytes = (text: string) => Buffer.from(text);
const parse = (text: string) => parseInput(schema, parseJsonObject(bytes(text)));

function refusalOf(run: () => unknown): { code: string; status: number; detail: string; info: (string | undefined)[]; text: string } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { detail = '', items = [] } = error.details;
    return { code: error.code, status: error.status, detail, info: items.map((item) => item.info), text: JSON.stringify([detail, items]) };
  }
  throw new Error('was not refused');
}

function outcomeOf(run: () => unknown): string {
  try {
    run();
    return 'read';
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

describe('parseInput', () => {
  test('translates by the schema: objects at every depth, lists of objects, but not the names of maps', () => {
    const input = parse(
      '{"name":"a-1","auto-rotate":{"rotate-after":"90d"},"claim-mappings":{"preferred-user-name":"username","givenName":"fullname"},"rules":[{"key-version":2}],"plain-text":"QUJD","version":"latest"}',
    );
    expect(input).toEqual({
      name: 'a-1',
      autoRotate: { rotateAfter: '90d' },
      claimMappings: { 'preferred-user-name': 'username', givenName: 'fullname' },
      policies: [],
      rules: [{ keyVersion: 2 }],
      plainText: new Uint8Array([65, 66, 67]),
      version: 'latest',
    });
  });

  test.each([
    ['{"name":"a","nmae":1}', 'unknown-field', 'nmae'],
    ['{"name":"a","autoRotate":{}}', 'unknown-field', 'autoRotate'],
    ['{"name":"a","auto-rotate":{"rotate-after":"90d","x":1}}', 'unknown-field', 'auto-rotate/x'],
    ['{"name":"a","__proto__":{"x":1}}', 'unknown-field', '__proto__'],
    ['{"name":"a","constructor":1}', 'unknown-field', 'constructor'],
    ['{"name":"a","rules":[{"key-version":1},{"keyVersion":1}]}', 'unknown-field', 'rules/1/keyVersion'],
    ['{}', 'missing-field', 'name'],
    ['{"name":"a","auto-rotate":{}}', 'missing-field', 'auto-rotate/rotate-after'],
    ['{"name":null}', 'invalid-value', 'name'],
    ['{"name":7}', 'invalid-value', 'name'],
    ['{"name":"A"}', 'invalid-value', 'name'],
    ['{"name":"a","auto-rotate":{"rotate-after":"59m"}}', 'invalid-value', 'auto-rotate/rotate-after'],
    ['{"name":"a","auto-rotate":{"rotate-after":"1 day"}}', 'invalid-value', 'auto-rotate/rotate-after'],
    ['{"name":"a","auto-rotate":[]}', 'invalid-value', 'auto-rotate'],
    ['{"name":"a","claim-mappings":{"email":"mail"}}', 'invalid-value', 'claim-mappings/email'],
    ['{"name":"a","claim-mappings":{"__proto__":"username"}}', 'invalid-value', 'claim-mappings/__proto__'],
    ['{"name":"a","plain-text":"QUJ"}', 'invalid-base64', 'plain-text'],
    ['{"name":"a","plain-text":"QUJD\\n"}', 'invalid-base64', 'plain-text'],
    ['{"name":"a","plain-text":"QUJDREVG"}', 'invalid-value', 'plain-text'],
    ['{"name":"a","rules":[{"key-version":0}]}', 'invalid-value', 'rules/0/key-version'],
    ['{"name":"a","rules":[{"key-version":1.5}]}', 'invalid-value', 'rules/0/key-version'],
    ['{"name":"a","rules":[{"key-version":9007199254740993}]}', 'invalid-value', 'rules/0/key-version'],
    ['{"name":"a","rules":[{"key-version":1e400}]}', 'invalid-value', 'rules/0/key-version'],
    ['{"name":"a","version":"newest"}', 'invalid-value', 'version'],
    ['{"name":"\\ud800"}', 'invalid-value', 'name'],
  ])('%s is %s at %s', (text, code, info) => {
    const refusal = refusalOf(() => parse(text));
    expect({ code: refusal.code, status: refusal.status, info: refusal.info[0] }).toEqual({ code, status: 400, info });
    expect(refusal.detail).toContain(`"${info}"`);
  });

  test.each(['1.5', '1e400', '-1e400', '9007199254740993'])('%s for an integer is answered with the bounds of the field', (number) => {
    const detail = (field: z.ZodType) =>
      refusalOf(() => parseInput(z.object({ field }), parseJsonObject(bytes(`{"field":${number}}`)))).detail;
    expect(detail(integer(1, 9).optional())).toBe('"field" must be an integer from 1 to 9.');
    expect(detail(z.int().min(1))).toBe('"field" must be an integer of at least 1.');
    expect(detail(z.int().max(0).default(0))).toBe('"field" must be an integer of at most 0.');
    expect(detail(integer(2, 2))).toBe('"field" must be 2.');
    expect(detail(z.int())).toBe('"field" must be an integer from -9007199254740991 to 9007199254740991.');
    expect(detail(z.union([z.literal('latest'), integer(1, 100)]))).toMatch(/(or|be) an integer from 1 to 100\.$/);
  });

  test.each([
    [z.string().min(1), '', 'at least 1 character long'],
    [z.string().min(2), '', 'at least 2 characters long'],
    [z.string().length(1), '', 'exactly 1 character long'],
    [z.string().max(1), 'ab', 'at most 1 character long'],
    [z.array(z.string()).min(1), [], 'at least 1 element long'],
    [z.array(z.string()).max(1), ['a', 'b'], 'at most 1 element long'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'at most 2 elements long'],
    [base64Field({ minBytes: 1 }), '', 'stand for at least 1 octet'],
    [base64Field({ maxBytes: 1 }), 'QUI=', 'stand for 0 to 1 octet'],
    [base64Field({ minBytes: 4, maxBytes: 4 }), 'QUI=', 'stand for 4 octets'],
    [nameField(), 'A', 'be lower-case letters, digits and inner hyphens, at most 128 characters'],
  ])('limits are said in the right number: %#', (field, value, rule) => {
    expect(refusalOf(() => parseInput(z.object({ field }), { field: value })).detail).toMatch(
      new RegExp(`^"field" must (be )?${rule}\\.$`),
    );
  });

  test('reports several problems at once, and a misspelt field before the field that is missing for it', () => {
    expect(refusalOf(() => parse('{"nmae":"a","polices":[]}')).info).toEqual(['nmae', 'polices']);
    const refusal = refusalOf(() => parse('{"version":"x","plain-text":"?"}'));
    expect(refusal.code).toBe('missing-field');
    expect(refusal.info).toEqual(['name', 'plain-text', 'version']);
  });

  test('no refusal quotes a value or an unprintable name', () => {
    const secret = 'S3CRET-<b>';
    for (const text of [
      `{"name":"${secret}"}`,
      `{"name":"a","plain-text":"${secret}"}`,
      `{"name":"a","policies":"${secret}"}`,
      `{"name":"a","claim-mappings":{"email":"${secret}"}}`,
      `{"name":"a","version":"${secret}"}`,
      `{"name":"a","${secret}":1}`,
      `{"name":"a","auto-rotate":{"rotate-after":"${secret}"}}`,
    ]) {
      expect(refusalOf(() => parse(text)).text).not.toContain('S3CRET');
    }
  });

  test('a field that only the service writes is read-only-field, in containers too', () => {
    const shape = withReadOnly(
      shapeOf(schema),
      shapeOf(z.object({ latestVersion: z.int(), autoRotate: z.object({ nextAt: timestamp() }) })),
    );
    expect(refusalOf(() => translateInput(shape, { 'latest-version': 3 })).code).toBe('read-only-field');
    expect(refusalOf(() => translateInput(shape, { 'auto-rotate': { 'next-at': 'x' } })).info).toEqual(['auto-rotate/next-at']);
    expect(translateInput(shape, { 'auto-rotate': { 'rotate-after': '1d' } })).toEqual({ autoRotate: { rotateAfter: '1d' } });
  });

  test('durations of actions are parsed to seconds', () => {
    expect(parseInput(z.object({ ttl: durationField() }), { ttl: '1d1h' })).toEqual({ ttl: { text: '1d1h', seconds: 90_000 } });
  });
});

describe('formatOutput', () => {
  test('kebab-case names, base64 octets, timestamps with six decimals, absent fields left out', () => {
    const instant = Temporal.Instant.from('2026-01-02T03:04:05.6Z');
    expect(
      formatOutput({ keyVersion: 1, notAfter: instant, publicKey: new Uint8Array([0, 255]), gone: undefined, nested: [{ httpsUrl: 'x' }] }),
    ).toEqual({
      'key-version': 1,
      'not-after': '2026-01-02T03:04:05.600000Z',
      'public-key': 'AP8=',
      nested: [{ 'https-url': 'x' }],
    });
  });

  test('with a schema, names of maps stay and unknown fields are not sent', () => {
    expect(formatOutput({ claimMappings: { givenName: 'fullname' }, policies: ['a'], clientSecret: 's' }, schema)).toEqual({
      'claim-mappings': { givenName: 'fullname' },
      policies: ['a'],
    });
  });

  test('what was parsed is written as it was read', () => {
    const document = z.object({
      someList: z.array(z.object({ innerName: z.string() })),
      someMap: z.record(z.string(), z.int()),
      flag: z.boolean(),
    });
    const word = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).filter((text) => text !== '__proto__');
    fc.assert(
      fc.property(fc.array(word), fc.dictionary(word, fc.maxSafeInteger()), fc.boolean(), (names, map, flag) => {
        const wire = { 'some-list': names.map((name) => ({ 'inner-name': name })), 'some-map': { ...map }, flag };
        const read = parseJsonObject(bytes(JSON.stringify(wire)));
        expect(formatOutput(parseInput(document, read), document)).toEqual(wire);
      }),
    );
  });

  test.each([
    ['openpgpUserId', 'openpgp-user-id'],
    ['base64Encoded', 'base64-encoded'],
    ['allowIpSans', 'allow-ip-sans'],
    ['name', 'name'],
  ])('%s is %s', (camel, kebab) => expect(toKebab(camel)).toBe(kebab));
});

describe('parseJsonObject', () => {
  test('reads what JSON.parse reads, whatever the strings contain', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        expect(parseJsonObject(bytes(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each([
    ['', 'empty'],
    ['[]', 'a list'],
    ['null', 'null'],
    ['"a"', 'a string'],
    ['{"a":1', 'cut off'],
    ['{"a":"', 'cut off in a string'],
    ['{"a":1}{}', 'two values'],
    ['{a:1}', 'a bare name'],
    ['{"a":NaN}', 'NaN'],
    ['{"a":1,}', 'a trailing comma'],
    ['\u{feff}{}', 'a byte order mark'],
    ['{"a":1,"a":1}', 'a member twice'],
    ['{"a":1,"\\u0061":1}', 'a member twice in another spelling'],
    ['{"x":{"a":":","b":[{"c":1,"c":2}]}}', 'a member twice far inside'],
    [`{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 'too deep'],
    [`{"a":${'['.repeat(1_000_000)}`, 'a million brackets'],
    [`{${Array.from({ length: 200_000 }, (_, index) => `"k${index}":1`).join(',')}}`, 'too many members'],
  ])('refuses %#: %s', (text) => {
    expect(refusalOf(() => parseJsonObject(bytes(text))).code).toBe('invalid-json');
  });

  test('refuses bytes that are not UTF-8 instead of replacing them', () => {
    expect(refusalOf(() => parseJsonObject(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).code).toBe('invalid-json');
  });

  test('a hostile body of 4 MiB is refused or parsed within half a second of processor time', () => {
    const hostile = [
      `{${Array.from({ length: 400_000 }, (_, index) => `"${index}":0`).join(',')}}`,
      `{"a":"${'\\"'.repeat(2_000_000)}"}`,
      `{"a":${' '.repeat(4_000_000)}1}`,
      `{"a":${'9'.repeat(4_000_000)}}`,
    ];
    for (const text of hostile) {
      const before = process.threadCpuUsage();
      const outcome = outcomeOf(() => parseInput(z.object({ a: z.string().optional() }), parseJsonObject(bytes(text))));
      expect(['read', 'invalid-json', 'unknown-field', 'invalid-value']).toContain(outcome);
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(500);
    }
  });

  test('a member named __proto__ is an own member and changes no prototype', () => {
    const value = parseJsonObject(bytes('{"__proto__":{"polluted":true}}'));
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
