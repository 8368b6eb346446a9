// Text signatures, cleartext documents and messages in other people's programs: gpg, gpgv, sq, sqv, rnp, the sop programs, and apt.
// Needs the Debian packages apt, apt-utils, gnupg, gosop, rnp, sq, sqop and sqv.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { aptDownload, aptUpdate, makeDebRepository } from './openpgp-repositories.ts';
import { Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().toString());
  for (const cipher of ciphers) await harness.create(cipher, { cipher, 'openpgp-user-id': `Archive <${cipher}@example.org>` });
});
afterAll(() => harness.close());

const ciphers = ['rsa-4096', 'ed25519', 'ecdsa-p384'];
const sign = async (name: string, text: string | Uint8Array, form: string): Promise<string> =>
  (await harness.do(name, 'openpgp-sign', { text: base64(text), form })).signature;

type Files = { readonly certificate: string; readonly signed: string; readonly data: string; readonly content: string };
type Verifier = (bench: Workbench, files: Files) => Promise<boolean>;

const exits =
  (program: string, args: (files: Files) => readonly string[], input?: (files: Files) => string): Verifier =>
  async (bench, files) =>
    (await bench.run(program, args(files), input === undefined ? undefined : readFileSync(input(files)))).code === 0;

const gpg =
  (...args: readonly ((files: Files) => string)[]): Verifier =>
  async (bench, files) => {
    await bench.gpg('--import', files.certificate);
    return /\[GNUPG:\] GOODSIG/.test((await bench.gpg('--verify', ...args.map((one) => one(files)))).stdout);
  };

const gpgv =
  (...args: readonly ((files: Files) => string)[]): Verifier =>
  async (bench, files) => {
    const keyring = bench.path('keyring.gpg');
    await bench.gpg('--yes', '--dearmor', '--output', keyring, files.certificate);
    return (await bench.run('gpgv', ['--keyring', keyring, ...args.map((one) => one(files))])).code === 0;
  };

const rnp =
  (...args: readonly ((files: Files) => string)[]): Verifier =>
  async (bench, files) => {
    const home = ['--homedir', bench.path('rnp')];
    mkdirSync(bench.path('rnp'), { recursive: true });
    await bench.run('rnpkeys', [...home, '--import-keys', files.certificate]);
    return (await bench.run('rnp', [...home, '--verify', ...args.map((one) => one(files))])).code === 0;
  };

const signed = (files: Files): string => files.signed;
const data = (files: Files): string => files.data;

const detachedVerifiers: Readonly<Record<string, Verifier>> = {
  gpg: gpg(signed, data),
  gpgv: gpgv(signed, data),
  sq: exits('sq', (files) => ['verify', '--signer-cert', files.certificate, '--detached', files.signed, files.data]),
  sqv: exits('sqv', (files) => ['--keyring', files.certificate, files.signed, files.data]),
  sqop: exits('sqop', (files) => ['verify', files.signed, files.certificate], data),
  gosop: exits('gosop', (files) => ['verify', files.signed, files.certificate], data),
  rnp: rnp(signed, () => '--source', data),
};

const inlineVerifiers: Readonly<Record<string, Verifier>> = {
  gpg: gpg(signed),
  gpgv: gpgv(signed),
  sq: exits('sq', (files) => ['verify', '--signer-cert', files.certificate, files.signed]),
  sqop: exits('sqop', (files) => ['inline-verify', files.certificate], signed),
  rnp: rnp(signed),
};

async function answers(
  verifiers: Readonly<Record<string, Verifier>>,
  cipher: string,
  content: string | Uint8Array,
  document: string,
): Promise<Readonly<Record<string, boolean>>> {
  await using bench = new Workbench();
  const { keys } = await harness.do(cipher, 'export-openpgp-public');
  const files = {
    certificate: bench.file('certificate.asc', keys[0].keyblock),
    signed: bench.file('signed.asc', document),
    data: bench.file('data', content),
    content: '',
  };
  const results: [string, boolean][] = [];
  for (const [name, verifier] of Object.entries(verifiers)) results.push([name, await verifier(bench, files)]);
  return Object.fromEntries(results);
}

const all = (verifiers: Readonly<Record<string, Verifier>>, value: boolean): Readonly<Record<string, boolean>> =>
  Object.fromEntries(Object.keys(verifiers).map((name) => [name, value]));

// Texts in which programs differ when a rule of canonical text or of dash-escaping is broken.
const texts: Readonly<Record<string, string>> = {
  plain: 'Origin: Example\nSuite: stable\n',
  'without a newline at its end': 'one\ntwo',
  'with CR LF': 'one\r\ntwo\r\n',
  'with blanks at the ends of lines': 'one \t \n \ntwo \n',
  'with dashes and From': '-\n- a\n-----BEGIN PGP SIGNATURE-----\nFrom me\n--\n',
  'with empty lines around': '\n\none\n\n\n',
  'with a line of 19,000 octets': `${'x'.repeat(19_000)}\nend\n`,
  'with letters of the world': 'Zwölf Boxkämpfer\u2028- 十二拳士\n',
};

describe.each(ciphers)('%s', (cipher) => {
  test.each(Object.keys(texts))('a cleartext document %s verifies everywhere, and with another letter nowhere', async (name) => {
    const text = texts[name] ?? '';
    const document = await sign(cipher, text, 'cleartext');
    expect(await answers(inlineVerifiers, cipher, text, document)).toEqual(all(inlineVerifiers, true));
    const changed = document.replace(/\n\n/, '\n\nX');
    expect(await answers(inlineVerifiers, cipher, text, changed)).toEqual(all(inlineVerifiers, false));
  });

  test.each(Object.keys(texts))(
    'a detached text signature of a text %s verifies everywhere, also with the other line endings',
    async (name) => {
      const text = texts[name] ?? '';
      const signature = await sign(cipher, text, 'detached-text');
      const other = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');
      for (const one of [text, other])
        expect(await answers(detachedVerifiers, cipher, one, signature)).toEqual(all(detachedVerifiers, true));
      expect(await answers(detachedVerifiers, cipher, `X${text}`, signature)).toEqual(all(detachedVerifiers, false));
    },
  );

  test('a message of octets verifies everywhere', async () => {
    const octets = Buffer.from([0, 1, 13, 10, 10, 255, ...Buffer.alloc(10_000, 7)]);
    const message = await sign(cipher, octets, 'message');
    expect(await answers(inlineVerifiers, cipher, octets, message)).toEqual(all(inlineVerifiers, true));
  });

  test('apt takes an InRelease file, and refuses a changed one', async () => {
    await using bench = new Workbench();
    await makeDebRepository(bench);
    const release = readFileSync(bench.path('repository/Release'));
    const inRelease = await sign(cipher, release, 'cleartext');
    writeFileSync(bench.path('repository/InRelease'), inRelease);
    const { keys } = await harness.do(cipher, 'export-openpgp-public');
    const keyring = bench.file('keyring.asc', keys[0].keyblock);
    const update = await aptUpdate(bench, keyring);
    expect(`${update.stdout}${update.stderr}`).not.toMatch(/^[EW]:/m);
    expect(update.stdout).toMatch(/InRelease/);
    expect((await aptDownload(bench)).code).toBe(0);
    writeFileSync(bench.path('repository/InRelease'), inRelease.replace('Date:', 'Label: forged\nDate:'));
    expect((await aptUpdate(bench, keyring)).stderr).toMatch(/BADSIG|invalid|not valid|not signed/i);
  });
});
