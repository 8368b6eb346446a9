// The query of a GET: every form of base64 that clients send is read, and no other one.
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeMessage, readQuery } from '../../../../plugins/scep/message/query.ts';

/** Octets whose base64 has both characters that differ between the alphabets, and padding. */
const octets = Buffer.concat([Buffer.from('fbff', 'hex'), randomBytes(3_500), Buffer.from('fbefbeff', 'hex')]);
const base64 = octets.toString('base64');
const lines = base64.replaceAll(/.{64}/g, '$&\n');

const forms: readonly (readonly [client: string, message: string])[] = [
  ['standard, bare', base64],
  ['certmonger and jscep: + and = escaped', base64.replaceAll('+', '%2B').replaceAll('=', '%3D')],
  ['all escaped, in lower case', encodeURIComponent(base64).replaceAll(/%../g, (escape) => escape.toLowerCase())],
  ['micromdm: the URL alphabet, padding escaped', base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '%3D')],
  ['the URL alphabet without padding', octets.toString('base64url')],
  ['macOS: + and / bare, = escaped', base64.replaceAll('=', '%3D')],
  ['the same behind a form decoder', base64.replaceAll('+', ' ')],
  ['spaces escaped', base64.replaceAll('+', '%20')],
  [
    'sscep: lines of 64 characters and one at the end, escaped',
    `${lines}\n`.replaceAll('\n', '%0A').replaceAll('+', '%2B').replaceAll('=', '%3D'),
  ],
  ['lines that end with CR LF', lines.replaceAll('\n', '%0D%0A')],
  ['every character escaped', Buffer.from(base64).toString('hex').replaceAll(/../g, '%$&')],
];

describe('a message', () => {
  test.each(forms)('is read as %s', (_, message) => {
    expect(octets.equals(decodeMessage(message) ?? Buffer.alloc(0))).toBe(true);
  });

  test('of any length is read in every form', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (content) => {
        const text = Buffer.from(content).toString('base64');
        const written = [
          text,
          encodeURIComponent(text),
          Buffer.from(content).toString('base64url'),
          text.replaceAll('+', ' '),
          `${text}%0A`,
        ];
        return written.every((one) => Buffer.from(content).equals(decodeMessage(one) ?? Buffer.alloc(0)));
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['line breaks alone', '%0A%0D'],
    ['padding alone', '===='],
    ['a length that no octets have', 'QUJDR'],
    ['too little padding', 'QQ='],
    ['too much padding', 'QQ==='],
    ['padding within', 'QQ==QQ=='],
    ['bits behind the end that are not zero', 'QR=='],
    ['another character', 'QUJ*'],
    ['a tab', 'QUJD%09'],
    ['a zero', 'QUJD%00'],
    ['half of an escape', 'QUJD%4'],
    ['an escape of no digits', 'QUJD%zz'],
    ['an escape beyond ASCII', 'QUJD%C3%A4'],
    ['a character beyond ASCII', 'QUJD\u00e4'],
    ['two escapes of one character', 'QUJD%252B'],
    ['more than the largest message', 'A'.repeat(300_000)],
  ])('with %s is refused', (_, message) => {
    expect(decodeMessage(message)).toBeUndefined();
  });
});

describe('a query', () => {
  test('has operation and message in any order, and others', () => {
    const found = { operation: 'PKIOperation', message: 'QQ==' };
    expect(readQuery('operation=PKIOperation&message=QQ==')).toEqual(found);
    expect(readQuery('message=QQ==&operation=PKIOperation')).toEqual(found);
    expect(readQuery('x=1&operation=PKIOperation&&message=QQ==&=')).toEqual(found);
    expect(readQuery('operation=GetCACaps')).toEqual({ operation: 'GetCACaps', message: undefined });
    expect(readQuery('operation=GetCACert&message=')).toEqual({ operation: 'GetCACert', message: '' });
    expect(readQuery('operation')).toEqual({ operation: '', message: undefined });
    expect(readQuery('')).toEqual({ operation: undefined, message: undefined });
  });

  test('with one of them twice is refused', () => {
    expect(readQuery('operation=GetCACert&operation=PKIOperation')).toBeUndefined();
    expect(readQuery('operation=PKIOperation&message=QQ==&message=QUI=')).toBeUndefined();
  });
});
