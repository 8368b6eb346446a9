// PEM blocks in texts of others.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { derInPlaceOfPem, formatPem, readDer, readPem, seenInPem } from '../../../../core/base/texts/pem.ts';

const block = formatPem('PUBLIC KEY', new Uint8Array(3));

const spellings: Readonly<Record<string, (text: string) => string>> = {
  'as it was formatted': (text) => text,
  'with line ends of DOS': (text) => text.replaceAll('\n', '\r\n'),
  'with line ends of old Macintoshes': (text) => text.replaceAll('\n', '\r'),
  'with newlines as two characters': (text) => text.replaceAll('\n', '\\n'),
  'with line ends of DOS as four characters': (text) => text.replaceAll('\n', '\\r\\n'),
  'with spaces for newlines, as in an environment variable': (text) => text.replaceAll('\n', ' '),
  'in one line': (text) => text.replaceAll('\n', ''),
  'indented, as in YAML': (text) => text.replaceAll('\n', '\n    '),
  'with a byte order mark': (text) => `\u{feff}${text}`,
  'between other texts': (text) => `subject=/CN=a\n${text}noise`,
};

describe.each(Object.entries(spellings))('a block %s', (_, spell) => {
  test('is read back as the same octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (der) => {
        const text = formatPem('PUBLIC KEY', der);
        expect(readPem(spell(text))).toEqual([{ label: 'PUBLIC KEY', der, text }]);
      }),
    );
  });
});

test('blocks of the label are found in order among others', () => {
  const other = formatPem('CERTIFICATE', Uint8Array.of(1));
  const text = `one ${block} two ${other} three ${block}`;
  expect(readPem(text).map(({ label }) => label)).toEqual(['PUBLIC KEY', 'CERTIFICATE', 'PUBLIC KEY']);
  expect(readDer(text, 'PUBLIC KEY')).toEqual([new Uint8Array(3), new Uint8Array(3)]);
  expect(readDer(text, 'CERTIFICATE REQUEST')).toBeUndefined();
  expect(readPem('')).toEqual([]);
});

test('a damaged block has no octets, and an encrypted one keeps the lines that say so', () => {
  expect(readPem(block.replace('AAAA', 'AA*A'))[0]).toMatchObject({ label: 'PUBLIC KEY', der: undefined });
  expect(readDer(block + block.replace('AAAA', 'AA*A'), 'PUBLIC KEY')).toBeUndefined();
  const encrypted =
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n';
  expect(readPem(encrypted)).toEqual([{ label: 'RSA PRIVATE KEY', der: undefined, text: encrypted }]);
});

test('unfinished blocks are none', () => {
  expect(readPem('-----END A-----')).toEqual([]);
  expect(readPem(`-----BEGIN A-----\nAAAA\n${block}`)).toHaveLength(1);
});

test('eight million characters of beginnings without an end are read: their square would take hours', () => {
  const text = '-----BEGIN PUBLIC KEY-----\n'.repeat(300_000);
  expect(readPem(text)).toEqual([]);
  expect(readPem('-----BEGIN '.repeat(700_000))).toEqual([]);
  expect(readPem(text + block)).toHaveLength(1);
});

test('DER in base64 is taken in place of PEM, and what is neither is named', () => {
  const der = Uint8Array.of(0x30, 0x03, 0x02, 0x01, 0x00);
  expect(derInPlaceOfPem(`${der.toBase64()}\n`)).toEqual(der);
  expect(derInPlaceOfPem(block)).toBeUndefined();
  expect(readDer(der.toBase64(), 'CERTIFICATE')).toEqual([der]);
  expect(seenInPem('hello')).toBe('neither PEM nor base64 of DER');
  expect(seenInPem(block)).toBe('a PEM block PUBLIC KEY');
  expect(seenInPem('-----BEGIN PUBLIC KEY-----')).toBe('a PEM block without its last line');
  expect(seenInPem(`${block}-----BEGIN <b>-----AAAA-----END <b>-----`)).toBe('2 PEM blocks, PUBLIC KEY, of an unknown kind');
});
