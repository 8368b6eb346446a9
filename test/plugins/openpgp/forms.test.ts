// The forms of openpgp-sign: text signatures, cleartext documents and messages, checked with openpgp.js.
import { createMessage, type Key, readCleartextMessage, readKey, readMessage, readSignature, verify } from 'openpgp';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalText, cleartext } from '../../../plugins/openpgp/format/text.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
let key: Key;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
  await harness.create('archive', { cipher: 'ecdsa-p384', 'openpgp-user-id': 'Archive <archive@example.org>' });
  key = await readKey({ armoredKey: await harness.block('archive') });
});
afterAll(() => harness.close());

const sign = (text: string | Uint8Array, fields: object): Promise<string> => harness.sign('archive', Buffer.from(text), fields);

/** What openpgp.js says of all signatures in a result. */
async function good({ signatures }: { readonly signatures: readonly { readonly verified: Promise<boolean> }[] }): Promise<boolean> {
  expect(signatures).toHaveLength(1);
  return (await signatures[0]?.verified.catch(() => false)) ?? false;
}

const readable = (document: string) => readCleartextMessage({ cleartextMessage: document });

describe('detached-text', () => {
  test('verifies over the text with any line endings, and keeps blanks at the ends of lines', async () => {
    const signature = await readSignature({ armoredSignature: await sign('one \ntwo\n', { form: 'detached-text' }) });
    expect(signature.packets[0]?.signatureType).toBe(1);
    const over = async (text: string): Promise<boolean> =>
      good(
        await verify({
          message: await createMessage({ binary: Buffer.from(text) }),
          signature,
          verificationKeys: key,
          format: 'binary',
          date: harness.today(),
        }),
      );
    expect(await Promise.all(['one \ntwo\n', 'one \r\ntwo\r\n', 'one\ntwo\n', 'one \ntwo'].map(over))).toEqual([true, true, false, false]);
  });

  test('openpgp-verify takes it', async () => {
    const signature = await sign('one\ntwo\n', { form: 'detached-text' });
    expect(await harness.isValid('archive', signature, Buffer.from('one\r\ntwo\r\n'))).toBe(true);
    expect(await harness.isValid('archive', signature, Buffer.from('one\rtwo\r\n'))).toBe(false);
  });
});

describe('cleartext', () => {
  test.each([
    ['a text', 'Origin: Example\nSuite: stable\n', 'Origin: Example\nSuite: stable\n'],
    ['no newline at the end', 'one\ntwo', 'one\ntwo\n'],
    ['an empty text', '', ''],
    ['one empty line', '\n', '\n'],
    ['empty lines at the end', 'one\n\n\n', 'one\n\n\n'],
    [
      'dashes and From',
      '-\n- a\n-----BEGIN PGP SIGNATURE-----\nFrom me\nFromage\n',
      '- -\n- - a\n- -----BEGIN PGP SIGNATURE-----\n- From me\nFromage\n',
    ],
    ['blanks at the ends of lines', 'one \t \n \ntwo\n', 'one \t \n \ntwo\n'],
    ['CR LF', 'one\r\ntwo\r\n', 'one\r\ntwo\r\n'],
    ['other line separators', 'one\u2028-two\u0085-three\v-four\f-five\n', 'one\u2028-two\u0085-three\v-four\f-five\n'],
    ['letters of the world', 'Zwölf Boxkämpfer, 十二拳士\n', 'Zwölf Boxkämpfer, 十二拳士\n'],
    ['a byte order mark', '\ufeffone\n', '\ufeffone\n'],
  ])('%s', async (_title, text, framed) => {
    const document = await sign(text, { form: 'cleartext' });
    expect(document.startsWith(`-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA384\n\n${framed}-----BEGIN PGP SIGNATURE-----\n\n`)).toBe(
      true,
    );
    expect(await good(await verify({ message: await readable(document), verificationKeys: key, date: harness.today() }))).toBe(true);
  });

  test('one changed letter, and it does not verify', async () => {
    const document = (await sign('one\ntwo\n', { form: 'cleartext' })).replace('two', 'six');
    expect(await good(await verify({ message: await readable(document), verificationKeys: key, date: harness.today() }))).toBe(false);
  });

  test('expires-after and key-version apply', async () => {
    const document = await sign('one\n', { form: 'cleartext', 'expires-after': '1h', 'key-version': 1 });
    const date = new Date(harness.today().getTime() + 3_700_000);
    expect(await good(await verify({ message: await readable(document), verificationKeys: key, date }))).toBe(false);
  });
});

describe('message', () => {
  test.each(['armored', 'binary'])('%s, holds the octets and the signature', async (format) => {
    const octets = Buffer.from([0, 1, 2, 13, 10, 10, 255]);
    const answered = await sign(octets, { form: 'message', format });
    const message =
      format === 'armored'
        ? await readMessage({ armoredMessage: answered })
        : await readMessage({ binaryMessage: Buffer.from(answered, 'base64') });
    const result = await verify({ message, verificationKeys: key, format: 'binary', date: harness.today() });
    expect(await good(result)).toBe(true);
    expect(Buffer.compare(result.data as Uint8Array, octets)).toBe(0);
  });
});

describe('signed-at', () => {
  const now = (): number => Math.floor(harness.today().getTime() / 1000);

  test('dates the signature; with the same date, data and Ed25519 key it is the same, octet by octet', async () => {
    await harness.create('dated', { cipher: 'ed25519', 'openpgp-user-id': 'Dated' });
    const created = now();
    harness.clock.advance(1000);
    const data = Buffer.from('one');
    const [one, other] = [
      await harness.sign('dated', data, { 'signed-at': created + 10 }),
      await harness.sign('dated', data, { 'signed-at': created + 10 }),
    ];
    expect(one).toBe(other);
    const signature = await readSignature({ armoredSignature: one });
    expect(signature.packets[0]?.created?.getTime()).toBe((created + 10) * 1000);
    expect(await harness.isValid('dated', one, data)).toBe(true);
    for (const wrong of [created - 1, now() + 1]) {
      const refused = harness.act('dated', 'openpgp-sign', { text: '', 'signed-at': wrong });
      expect(await codeOf(refused)).toEqual({ status: 400, code: 'invalid-value' });
    }
  });
});

describe('refusals', () => {
  const uses = async (): Promise<number> => (await harness.state('archive')).usage['1'].uses;

  test.each([
    ['cleartext', 'a lone carriage return', 'one\rtwo\n', 'invalid-value'],
    ['detached-text', 'a lone carriage return', 'one\r\r\n', 'invalid-value'],
    ['detached-text', 'a line that gpg would cut', `${'x'.repeat(19_001)}\n`, 'invalid-value'],
    ['cleartext', 'a long line that ends in blanks', `x${' '.repeat(4_000)}\n`, 'invalid-value'],
    ['cleartext', 'no UTF-8', Buffer.of(0xff, 0x0a), 'invalid-value'],
    ['cleartext', 'NUL', 'one\0two\n', 'invalid-value'],
    ['cleartext', 'more than 8 MiB', '\n'.repeat(8 * 1024 * 1024 + 1), 'payload-too-large'],
    ['message', 'more than 8 MiB', 'x'.repeat(8 * 1024 * 1024 + 1), 'payload-too-large'],
  ])('%s: %s is refused, and no signature is counted', async (form, _what, text, code) => {
    const before = await uses();
    const body = { text: Buffer.from(text).toString('base64'), form };
    expect((await codeOf(harness.act('archive', 'openpgp-sign', body))).code).toBe(code);
    expect(await uses()).toBe(before);
  });

  test('a cleartext document has no binary form', async () => {
    const body = { text: '', form: 'cleartext', format: 'binary' };
    expect(await codeOf(harness.act('archive', 'openpgp-sign', body))).toEqual({ status: 400, code: 'invalid-value' });
  });
});

describe('any text', () => {
  const texts = fc.array(fc.constantFrom('a', '-', ' ', '\t', '\n', '\r\n', 'From ', 'é')).map((parts) => Buffer.from(parts.join('')));

  test('canonical text has CR LF where the text has a line ending, and nothing else is changed', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        expect(Buffer.from(await canonicalText(text)).toString()).toBe(text.toString().replaceAll(/\r?\n/g, '\r\n'));
      }),
    );
  });

  test('what is framed comes back as what is hashed when dashes are unescaped and blanks removed (RFC 9580, 7.2)', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { hashed, framed } = await cleartext(text);
        const lines = Buffer.from(framed).toString().split('\n').slice(0, -1);
        expect(lines.filter((line) => line.startsWith('-') && !line.startsWith('- '))).toEqual([]);
        const read = lines.map((line) => (line.startsWith('- ') ? line.slice(2) : line).replace(/[ \t\r]*$/, '')).join('\r\n');
        expect(Buffer.from(hashed).toString()).toBe(read);
      }),
    );
  });
});
