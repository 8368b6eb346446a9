// openpgp-sign-file and gpg: files of any length are hashed here, and programs that ask gpg for a signature get one of the appliance.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createMessage, readCleartextMessage, readKey, readMessage, readSignature, verify } from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readGpgWords } from '../../../appliance/cli/openpgp/gpg-words.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Ctl, ctlFor } from './run.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
let appliance: TestAppliance;
let ctl: Ctl;
let block: string;
let fingerprint: string;

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'bin']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  await appliance.request('POST', keys, { name: 'releases', cipher: 'ed25519', 'openpgp-user-id': 'Releases <r@example.org>' });
  await appliance.request('POST', keys, {
    name: 'builds',
    cipher: 'ecdsa-p256',
    'openpgp-primary': 'releases',
    'openpgp-key-usage': ['sign'],
  });
  await appliance.request('POST', keys, { name: 'other', cipher: 'ed25519', 'openpgp-user-id': 'Other <o@example.org>' });
  block = (await ctl.json('do', 'transit-keys', 'builds', 'export-openpgp-public')).keys[0].keyblock;
  fingerprint = (await readKey({ armoredKey: block })).subkeys[0]?.getFingerprint().toUpperCase() ?? '';
  writeFileSync(path('data'), 'one\ntwo\n');
});
afterAll(() => appliance.close());

/** Fingerprint or key ID of the key that made a good signature over the file. */
async function signerOf(armored: string): Promise<string> {
  const { signatures } = await verify({
    message: await createMessage({ binary: readFileSync(path('data')) }),
    signature: await readSignature({ armoredSignature: armored }),
    verificationKeys: await readKey({ armoredKey: block }),
    format: 'binary',
  });
  await signatures[0]?.verified;
  return signatures[0]?.keyID.toHex().toUpperCase() ?? '';
}

describe('openpgp-sign-file', () => {
  test('makes the signature of a file, and of standard input', async () => {
    expect(await ctl(['openpgp-sign-file', 'builds', '--in', path('data'), '--out', path('data.asc')])).toMatchObject({
      code: 0,
      stdout: '',
    });
    expect(await signerOf(readFileSync(path('data.asc'), 'utf8'))).toBe(fingerprint.slice(-16));
    const piped = await ctl(['openpgp-sign-file', 'builds', '--expires-after', '50y'], { stdin: readFileSync(path('data')) });
    expect(await signerOf(piped.stdout)).toBe(fingerprint.slice(-16));
  });

  test('a file that is not there, and a key that is not there, make no signature', async () => {
    expect((await ctl(['openpgp-sign-file', 'builds', '--in', path('nothing'), '--out', path('no')])).code).toBe(1);
    expect((await ctl(['openpgp-sign-file', 'nothing', '--in', path('data'), '--out', path('no')])).code).toBe(4);
    expect(existsSync(path('no'))).toBe(false);
  });
});

test('expiry, User IDs and documents in the words of openpgp.md', async () => {
  await appliance.request('POST', keys, { name: 'archive', cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.org>' });
  expect((await ctl(['merge', 'transit-keys', 'archive', '--openpgp-expires-after', '5y'])).code).toBe(0);
  expect((await ctl(['merge', 'transit-keys', 'archive', '--openpgp-user-ids', 'Archive <archive@example.com>'])).code).toBe(0);
  expect((await ctl(['do', 'transit-keys', 'archive', 'export-openpgp-public', '--out', path('archive.asc')])).code).toBe(0);
  const key = await readKey({ armoredKey: readFileSync(path('archive.asc'), 'utf8') });
  expect(key.getUserIDs()).toEqual(['Archive <archive@example.org>', 'Archive <archive@example.com>']);
  expect(await key.getExpirationTime()).toBeInstanceOf(Date);
  const moved = { 'openpgp-user-ids': [], 'openpgp-revoked-user-ids': ['Archive <archive@example.com>'] };
  writeFileSync(path('archive.yaml'), JSON.stringify({ resource: 'transit-keys', name: 'archive', config: moved }));
  expect((await ctl(['apply', '-f', path('archive.yaml'), '--yes'])).code).toBe(0);
  const [{ keyblock }] = (await ctl.json('do', 'transit-keys', 'archive', 'export-openpgp-public')).keys;
  expect((await readKey({ armoredKey: keyblock })).users.map(({ revocationSignatures }) => revocationSignatures.length)).toEqual([0, 1]);
  const files = ['--in', path('data'), '--out', path('signed')];
  expect((await ctl(['do', 'transit-keys', 'archive', 'openpgp-sign', '--form', 'cleartext', ...files])).code).toBe(0);
  const verified = ['do', 'transit-keys', 'archive', 'openpgp-verify', '--form', 'cleartext', '--in'];
  expect((await ctl([...verified, path('signed')])).code).toBe(0);
  writeFileSync(path('changed'), readFileSync(path('signed'), 'utf8').replace('two', 'three'));
  expect((await ctl([...verified, path('changed')])).code).not.toBe(0);
});

describe('gpg signs', () => {
  test('as git asks for it: of standard input, armored, with the line that git looks for', async () => {
    const { code, stdout, stderr } = await ctl(['gpg', '--status-fd=2', '-bsau', 'builds'], { stdin: readFileSync(path('data')) });
    expect(code).toBe(0);
    expect(await signerOf(stdout)).toBe(fingerprint.slice(-16));
    expect(stderr).toMatch(new RegExp(`^\\[GNUPG:\\] BEGIN_SIGNING\\n\\[GNUPG:\\] SIG_CREATED D 19 8 00 \\d+ ${fingerprint}\\n$`));
  });

  test.each([
    ['a fingerprint', () => fingerprint],
    ['a key ID', () => `0x${fingerprint.slice(-16)}`],
    ['a User ID, whose signing subkey is taken', () => 'Releases <r@example.org>'],
    ['an address', () => 'r@example.org'],
  ])('with a key named by %s', async (_title, name) => {
    const { stdout } = await ctl(['gpg', '-b', '-a', '-u', name()], { stdin: readFileSync(path('data')) });
    expect(await signerOf(stdout)).toBe(fingerprint.slice(-16));
  });

  test('with the key that has the whole User ID, though another one has its address; an address of two keys names none', async () => {
    await appliance.request('POST', keys, { name: 'same', cipher: 'ed25519', 'openpgp-user-id': 'Same <o@example.org>' });
    await appliance.request('POST', keys, {
      name: 'same-builds',
      cipher: 'ed25519',
      'openpgp-primary': 'same',
      'openpgp-key-usage': ['sign'],
    });
    const signed = (name: string) => ctl(['gpg', '--status-fd=2', '-ba', '-u', name], { stdin: readFileSync(path('data')) });
    const other = (await ctl.json('do', 'transit-keys', 'other', 'export-openpgp-public')).keys[0].keyblock;
    const whole = await signed('Other <o@example.org>');
    expect(whole.stderr).toContain((await readKey({ armoredKey: other })).getFingerprint().toUpperCase());
    const either = await signed('o@example.org');
    expect([either.code, either.stdout]).toEqual([4, '']);
    expect(either.stderr).toMatch(/other and same are/);
  });

  test('a file into the names that gpg gives, and writes over nothing without --yes', async () => {
    for (const [words, name] of [
      [['-ab'], 'data.asc'],
      [['-b'], 'data.sig'],
      [['-s'], 'data.gpg'],
      [['--clearsign'], 'data.asc'],
    ] as const) {
      expect((await ctl(['gpg', '--yes', '-u', 'builds', ...words, path('data')])).code).toBe(0);
      expect(existsSync(path(name))).toBe(true);
      const again = await ctl(['gpg', '-u', 'builds', ...words, path('data')]);
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') as unknown });
    }
    const date = new Date();
    const document = await readCleartextMessage({ cleartextMessage: readFileSync(path('data.asc'), 'utf8') });
    const message = await readMessage({ binaryMessage: readFileSync(path('data.gpg')) });
    const verificationKeys = await readKey({ armoredKey: block });
    expect(await (await verify({ message: document, verificationKeys, date })).signatures[0]?.verified).toBe(true);
    expect(await (await verify({ message, verificationKeys, date, format: 'binary' })).signatures[0]?.verified).toBe(true);
  });

  test('refuses a key that nobody has named, one that several are, and one that is none', async () => {
    expect(await ctl(['gpg', '-b'], { stdin: 'x' })).toMatchObject({ code: 1, stderr: expect.stringContaining('-u NAME') as unknown });
    expect((await ctl(['gpg', '-b', '-u', 'nobody@example.org'], { stdin: 'x' })).code).toBe(4);
    expect((await ctl(['gpg', '-b'], { stdin: 'x', environment: { KEYSTORED_GPG_KEY: 'builds' } })).code).toBe(0);
  });
});

describe('gpg hands on', () => {
  test('what is no signature, to the first gpg on the path that is no script, with its words and its exit code', async () => {
    const real = path('bin', 'real');
    writeFileSync(real, '#!/bin/sh\necho "$@" > "$OUT"\nexit 2\n');
    chmodSync(real, 0o755);
    const environment = { KEYSTORED_GPG: real, OUT: path('words') };
    expect((await ctl(['gpg', '--status-fd=1', '--verify', 'a.sig', '-'], { environment })).code).toBe(2);
    expect(readFileSync(path('words'), 'utf8')).toBe('--status-fd=1 --verify a.sig -\n');
    expect(await ctl(['gpg', '--version'], { environment: { PATH: path('bin'), KEYSTORED_GPG: '' } })).toMatchObject({ code: 1 });
  });
});

describe('the words of gpg', () => {
  test.each([
    ['-bsau KEY', { form: 'detached', armored: true, key: 'KEY', file: undefined }],
    ['-uKEY -sbo out -- in', { form: 'detached', armored: false, key: 'KEY', output: 'out', file: 'in' }],
    ['--default-key A --local-user B --detach in', { key: 'B', file: 'in' }],
    ['--local-user K --clearsign --armor --textmode --output o f', { form: 'cleartext', output: 'o', file: 'f' }],
    ['-abt -u K', { form: 'detached-text' }],
    ['-as -u K', { form: 'message', armored: true }],
    ['--armor --no-armor -b', { armored: false, key: undefined }],
  ])('%s', (words, wanted) => {
    expect(readGpgWords(words.split(' '))).toMatchObject(wanted);
  });

  test.each(['--verify a.sig a', '--list-secret-keys', '-d x', '--version', '--import k.asc', '-e -r somebody x', ''])(
    '"%s" is no signature',
    (words) => {
      expect(readGpgWords(words === '' ? [] : words.split(' '))).toBeUndefined();
    },
  );

  test.each(['-se -r somebody x', '--sign --encrypt x', '-b -u A -u B', '-b one two', '-b --default-sig-expire 1y x', '-b --status-fd x'])(
    '"%s" is refused: the result would be another',
    (words) => {
      expect(() => readGpgWords(words.split(' '))).toThrow(/known here|at a time|number of a file/);
    },
  );
});
