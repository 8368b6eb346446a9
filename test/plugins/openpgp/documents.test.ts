// Documents that have their signature with them are verified as strictly as they are made: nothing can be read that was not signed.
import { deflateSync } from 'node:zlib';
import { createMessage, readPrivateKey, sign } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatArmor, formatLargeArmor } from '../../../plugins/openpgp/format/keyblock.ts';
import { packet } from '../../../plugins/openpgp/format/packets.ts';
import { pieceOctets } from '../../../plugins/openpgp/format/pieces.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { base64, codeOf, type OpenpgpHarness, startOpenpgpHarness } from './harness.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), '2026-01-01T00:00:00Z');
  for (const version of [4, 6])
    await harness.create(`v${version}`, {
      ...{ cipher: 'ed25519', exportable: true, 'openpgp-user-id': 'Ada <ada@example.org>', 'openpgp-packet-version': version },
    });
});
afterAll(() => harness.close());

const make = async (name: string, text: string | Uint8Array, form: string): Promise<string> =>
  (await harness.do(name, 'openpgp-sign', { text: base64(text), form })).signature;
const read = (document: string | Uint8Array, form: string, name = 'v4') =>
  harness.act(name, 'openpgp-verify', { text: base64(document), form });
/** A message as gpg writes it: one compressed packet, by ZLIB (2). */
const compressed = (message: Uint8Array): Uint8Array => packet(8, Buffer.concat([Buffer.of(2), deflateSync(message)]));
const textOf = (body: Record<string, string>): string => Buffer.from(body['signed-text'] ?? '', 'base64').toString();

describe.each(['v4', 'v6'])('a key of %s', (name) => {
  test.each([
    ['Origin: Example\nSuite: stable\n', 'Origin: Example\nSuite: stable\n'],
    ['one\ntwo', 'one\ntwo\n'],
    ['with \t\r\nCR LF\r\n', 'with\nCR LF\n'],
    ['-\n- a\n-----BEGIN PGP SIGNATURE-----\nFrom me\n', '-\n- a\n-----BEGIN PGP SIGNATURE-----\nFrom me\n'],
    ['\n\nZwölf\n\n', '\n\nZwölf\n\n'],
    ['', ''],
  ])('a cleartext document of %j is good, and answers what was signed', async (text, signed) => {
    const document = await make(name, text, 'cleartext');
    const { status, body } = await read(document, 'cleartext', name);
    expect([status, body.valid, body.version, textOf(body)]).toEqual([200, true, 1, signed]);
    const changed = await read(document.replace('\n\n', '\n\nX\n'), 'cleartext', name);
    expect([changed.body.valid, changed.body['signed-text']]).toEqual([false, undefined]);
  });

  test('a message of octets is good, and answers them', async () => {
    const octets = Buffer.from([0, 1, 13, 10, 255, ...Buffer.alloc(3000, 7)]);
    const { body } = await read(await make(name, octets, 'message'), 'message', name);
    expect([body.valid, Buffer.compare(Buffer.from(body['signed-text'], 'base64'), octets)]).toEqual([true, 0]);
    const { signature: packets } = await harness.do(name, 'openpgp-sign', { text: base64(octets), form: 'message', format: 'binary' });
    expect((await read(Buffer.from(packets, 'base64'), 'message', name)).body.valid).toBe(true);
    const changed = Buffer.from(packets, 'base64').map((octet, at) => (octet === 7 && at > 200 ? 8 : octet));
    expect((await read(changed, 'message', name)).body).not.toHaveProperty('signed-text');
  });

  test('a compressed message of another program is good, and one of a foreign key is not', async () => {
    const { keys } = await harness.do(name, 'export-openpgp');
    const signingKeys = await readPrivateKey({ armoredKey: keys[0].value });
    const message = await createMessage({ binary: Buffer.alloc(5000, 'a') });
    const packets = compressed(await sign({ message, signingKeys, date: harness.today(), format: 'binary' }));
    expect((await read(packets, 'message', name)).body).toMatchObject({ valid: true });
    expect((await read(packets, 'message', name === 'v4' ? 'v6' : 'v4')).body).toEqual({ valid: false });
  });
});

test('the header of a cleartext document may name further hashes, or be left out', async () => {
  const document = await make('v4', 'one\n', 'cleartext');
  for (const header of ['Hash: SHA256, SHA512\n', 'Hash: SHA256\nHash: SHA512\n', ''])
    expect((await read(document.replace('Hash: SHA512\n', header), 'cleartext')).body.valid).toBe(true);
});

test('large packets have the armor of small ones', async () => {
  const packets = new Uint8Array(3 * pieceOctets + 7).map((_, at) => at % 251);
  for (const version of [4, 6] as const)
    expect((await formatLargeArmor('message', packets, version)) === formatArmor('message', packets, version)).toBe(true);
});

test('a cleartext document of very many lines, and of as much text as is signed, is good', async () => {
  for (const text of ['\n'.repeat(200_000), `${'x'.repeat(8191)}\n`.repeat(1024)]) {
    const { status, body } = await read(await make('v4', text, 'cleartext'), 'cleartext');
    expect([status, body.valid, textOf(body) === text]).toEqual([200, true, true]);
  }
});

describe('refused', () => {
  let document: string;
  beforeAll(async () => {
    document = await make('v4', 'one\ntwo\n', 'cleartext');
  });

  test.each<readonly [string, (given: string) => string]>([
    ['something before it', (given) => `before\n${given}`],
    ['something behind it', (given) => `${given}behind\n`],
    ['two of them', (given) => `${given}${given}`],
    ['another header', (given) => given.replace('Hash:', 'Comment: signed by Ada\nHash:')],
    ['a header that looks like text', (given) => given.replace('\n\n', '\nApproved: yes\n\n')],
    ['words among the hashes of its header', (given) => given.replace('Hash: SHA512', 'Hash: SHA512, approved by Ada')],
    ['another hash in its header than that of its signature', (given) => given.replace('Hash: SHA512', 'Hash: SHA256, SHA384')],
    ['a line with a dash that is not escaped', (given) => given.replace('two', '-two')],
    ['no signature', (given) => given.slice(0, given.indexOf('-----BEGIN PGP SIGNATURE'))],
    ['no empty line', (given) => given.replace('\n\n', '\n')],
    ['a carriage return in a line', (given) => given.replace('two', 't\rwo')],
  ])('a cleartext document with %s', async (_, change) => {
    const { status, body } = await read(change(document), 'cleartext');
    expect([status, body['signed-text']]).toEqual([400, undefined]);
  });

  test('a signature of octets under a text', async () => {
    const { signature } = await harness.do('v4', 'openpgp-sign', { text: base64('one\r\ntwo') });
    const forged = `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\none\ntwo\n${signature}`;
    expect((await read(forged, 'cleartext')).body).toEqual({ valid: false });
  });

  test('a message that is none, and one that inflates without end', async () => {
    expect(await codeOf(read('hello', 'message'))).toEqual({ status: 400, code: 'invalid-format' });
    const { keys } = await harness.do('v4', 'export-openpgp');
    const message = await createMessage({ binary: Buffer.alloc(9 * 1024 * 1024) });
    const signingKeys = await readPrivateKey({ armoredKey: keys[0].value });
    const bomb = compressed(await sign({ message, signingKeys, date: harness.today(), format: 'binary' }));
    expect(bomb.length).toBeLessThan(64 * 1024);
    expect(await codeOf(read(bomb, 'message'))).toEqual({ status: 400, code: 'invalid-format' });
  });

  test('a signature beside a document, and none beside a text', async () => {
    const beside = harness.act('v4', 'openpgp-verify', { text: base64(document), form: 'cleartext', signature: 'x' });
    expect(await codeOf(beside)).toEqual({ status: 400, code: 'invalid-value' });
    expect(await codeOf(harness.act('v4', 'openpgp-verify', { text: '' }))).toEqual({ status: 400, code: 'missing-field' });
  });
});
