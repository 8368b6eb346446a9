// What OpenPGP keys in a token are mostly for: repositories of packages, accepted by the stock tools of Debian and of RPM.
// Needs the Debian packages apt, apt-utils, dpkg-dev, gnupg, rpm and sqv.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { aptDownload, aptUpdate, makeDebRepository, makeRpm } from './openpgp-repositories.ts';
import { type Outcome, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  // In the past: what was signed before a revocation is older than it, and other people's programs know no other time than now.
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().subtract({ hours: 1 }).toString());
});
afterAll(() => harness.close());

const block = async (name: string): Promise<string> => (await harness.do(name, 'export-openpgp-public')).keys[0].keyblock;
const sign = async (name: string, octets: Uint8Array, fields: object = {}): Promise<string> =>
  (await harness.do(name, 'openpgp-sign', { text: base64(octets), ...fields })).signature;

/** Makes `archive` and `archive-signing`, a signing subkey of it, and answers both names. */
async function makeKeys(cipher: string): Promise<readonly string[]> {
  const [primary, subkey] = [`archive-${cipher}`, `archive-${cipher}-signing`];
  if ((await harness.request('GET', `/v1/config/keystore/transit-keys/${primary}`)).status === 404) {
    await harness.create(primary, { cipher, 'openpgp-user-id': 'Archive <archive@example.org>' });
    await harness.create(subkey, { cipher, 'openpgp-primary': primary, 'openpgp-key-usage': ['sign'] });
  }
  return [primary, subkey];
}

const ciphers = ['rsa-4096', 'ed25519', 'ecdsa-p256'];

describe.each(ciphers)('a .deb repository signed with %s', (cipher) => {
  test('apt takes it with the right key, and refuses another Release and another key', async () => {
    for (const name of await makeKeys(cipher)) {
      await using bench = new Workbench();
      await makeDebRepository(bench);
      const release = readFileSync(bench.path('repository/Release'));
      writeFileSync(bench.path('repository/Release.gpg'), await sign(name, release));
      const keyring = bench.file('keyring.asc', await block(name));
      const update = await aptUpdate(bench, keyring);
      expect(`${update.stdout}${update.stderr}`).not.toMatch(/^[EW]:/m);
      expect((await aptDownload(bench)).code).toBe(0);

      writeFileSync(bench.path('repository/Release'), Buffer.concat([release, Buffer.from('Label: forged\n')]));
      expect((await aptUpdate(bench, keyring)).stderr).toMatch(/BADSIG|invalid|not valid|not signed/i);
      writeFileSync(bench.path('repository/Release'), release);
      await harness.create(`${name}-foreign`, { cipher: 'ed25519', 'openpgp-user-id': 'Foreign' });
      const foreign = bench.file('foreign.asc', await block(`${name}-foreign`));
      expect((await aptUpdate(bench, foreign)).stderr).toMatch(/NO_PUBKEY|not available|not signed/i);
    }
  });

  test("gpgv, with the keyring apt gives it, says GOODSIG of the Release file's signature", async () => {
    for (const name of await makeKeys(cipher)) {
      await using bench = new Workbench();
      await makeDebRepository(bench);
      const release = readFileSync(bench.path('repository/Release'));
      await bench.gpg('--dearmor', '--output', bench.path('keyring.gpg'), bench.file('keyring.asc', await block(name)));
      const files = [bench.file('Release.gpg', await sign(name, release)), bench.path('repository/Release')];
      const { stdout, code } = await bench.run('gpgv', ['--status-fd', '1', '--keyring', bench.path('keyring.gpg'), ...files]);
      expect(stdout).toMatch(/\[GNUPG:\] GOODSIG/);
      expect(code).toBe(0);
    }
  });
});

test('apt with signed-by: the block of the newest version loses earlier signatures, the one of version all with subkeys keeps them', async () => {
  await harness.create('turned', { cipher: 'ed25519', 'openpgp-user-id': 'Turned' });
  await harness.create('turned-leaf', { cipher: 'ed25519', 'openpgp-primary': 'turned', 'openpgp-key-usage': ['sign'] });
  await using bench = new Workbench();
  await makeDebRepository(bench);
  const release = readFileSync(bench.path('repository/Release'));
  const signatures = [await sign('turned-leaf', release)];
  for (const name of ['turned-leaf', 'turned', 'turned-leaf']) await harness.do(name, 'rotate');
  signatures.push(await sign('turned-leaf', release), await sign('turned', release));
  const { keys } = await harness.do('turned', 'export-openpgp-public', { version: 'all', subkeys: true });
  const [newest, whole] = [bench.file('newest.asc', await block('turned-leaf')), bench.file('whole.asc', keys[0].keyblock)];
  const updateWith = (signature: string | undefined, keyring: string): Promise<Outcome> => {
    writeFileSync(bench.path('repository/Release.gpg'), signature ?? '');
    return aptUpdate(bench, keyring);
  };
  for (const signature of signatures) {
    const update = await updateWith(signature, whole);
    expect(`${update.stdout}${update.stderr}`).not.toMatch(/^[EW]:/m);
  }
  expect((await updateWith(signatures[1], newest)).stderr).toBe('');
  expect((await updateWith(signatures[0], newest)).stderr).toMatch(/NO_PUBKEY|not signed/);
  // apt 2.6 asks gpgv, which does not go by the reason; apt 3.0 asks sqv, which does.
  harness.clock.advance(60);
  const { revocation } = await harness.do('turned-leaf', 'export-openpgp-revocation', { reason: 'superseded' });
  const { stdout: version } = await bench.run('apt-get', ['--version']);
  const { stderr } = await updateWith(signatures[1], bench.file('revoked.asc', revocation));
  expect(stderr).toMatch(version.startsWith('apt 2.') ? /REVKEYSIG|not signed/ : /^$/);
});

describe.each(ciphers)('RPM, %s', (cipher) => {
  // rpm 4.18 (Debian 12) knows RSA and EdDSA only; ECDSA came with rpm 4.19 on Sequoia.
  test.skipIf(cipher.startsWith('ecdsa'))(
    'rpmkeys imports the block and finds the signature of the package good; a changed package fails',
    { timeout: 120_000 },
    async () => {
      const [name = ''] = await makeKeys(cipher);
      await using bench = new Workbench();
      const rpm = await makeRpm(bench);
      await using signer = await SigningServer.open(name);
      const signed = await bench.run('rpmsign', [
        '--define',
        '_gpg_name any',
        '--define',
        `__gpg_sign_cmd ${signer.program(bench)}`,
        '--addsign',
        rpm,
      ]);
      expect([signed.code, signed.stderr]).toEqual([0, expect.any(String)]);
      const database = ['--dbpath', bench.path('rpmdb')];
      expect((await bench.run('rpmkeys', [...database, '--import', bench.file('key.asc', await block(name))])).code).toBe(0);
      const good = await bench.run('rpmkeys', [...database, '--checksig', '-v', rpm]);
      expect(good.stdout).toMatch(/Header V4 .* Signature, key ID [0-9a-f]{8}: OK/);
      expect(good.code).toBe(0);
      const octets = readFileSync(rpm);
      octets[octets.length - 100] = (octets.at(-100) ?? 0) ^ 1;
      expect((await bench.run('rpmkeys', [...database, '--checksig', bench.file('changed.rpm', octets)])).code).not.toBe(0);
    },
  );

  test('repomd.xml.asc verifies in gpg and sqv', async () => {
    for (const name of await makeKeys(cipher)) {
      await using bench = new Workbench();
      const repomd = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<repomd xmlns="http://linux.duke.edu/metadata/repo"/>\n');
      const keyring = bench.file('key.asc', await block(name));
      const files = [bench.file('repomd.xml.asc', await sign(name, repomd)), bench.file('repomd.xml', repomd)];
      await bench.gpg('--import', keyring);
      expect((await bench.gpg('--verify', ...files)).stdout).toMatch(/GOODSIG/);
      expect((await bench.run('sqv', ['--keyring', keyring, ...files])).code).toBe(0);
    }
  });
});

// rpm 4.18 takes no revoked subkey; rpm 4.20 goes by the reason. A database that has the key does not take its revocation from the same import.
describe('RPM after a revocation of the subkey that signed', () => {
  test.each(['superseded', 'retired', 'compromised', 'no-reason'])('%s', { timeout: 120_000 }, async (reason) => {
    const [primary, leaf] = [`rpm-${reason}`, `rpm-${reason}-leaf`];
    await harness.create(primary, { cipher: 'rsa-2048', 'openpgp-user-id': 'Archive <archive@example.org>' });
    await harness.create(leaf, { cipher: 'rsa-2048', 'openpgp-primary': primary, 'openpgp-key-usage': ['sign'] });
    await using bench = new Workbench();
    const rpm = await makeRpm(bench);
    await using signer = await SigningServer.open(leaf);
    await bench.run('rpmsign', ['--define', '_gpg_name any', '--define', `__gpg_sign_cmd ${signer.program(bench)}`, '--addsign', rpm]);
    harness.clock.advance(60);
    const { revocation } = await harness.do(leaf, 'export-openpgp-revocation', { reason });
    const isGood = async (keyblock: string, database: string): Promise<boolean> => {
      const where = ['--dbpath', bench.path(database)];
      await bench.run('rpmkeys', [...where, '--import', bench.file('key.asc', keyblock)]);
      return (await bench.run('rpmkeys', [...where, '--checksig', '-v', rpm])).code === 0;
    };
    const isOld = (await bench.run('rpmkeys', ['--version'])).stdout.includes(' 4.18.');
    expect(await isGood(await block(leaf), 'has-the-key')).toBe(true);
    expect(await isGood(revocation, 'has-the-key')).toBe(true);
    expect(await isGood(revocation, 'afresh')).toBe(!isOld && ['superseded', 'retired'].includes(reason));
  });
});

/** Lets rpmsign sign through the API: a loopback server that takes data and returns a binary signature, and a program that knocks. */
class SigningServer implements AsyncDisposable {
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
  }

  static async open(name: string): Promise<SigningServer> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        sign(name, Buffer.concat(chunks), { format: 'binary' }).then(
          (signature) => response.end(Buffer.from(signature, 'base64')),
          () => response.writeHead(500).end(),
        );
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    return new SigningServer(server);
  }

  /** The command line that rpmsign runs in place of gpg. */
  program(bench: Workbench): string {
    const { port } = this.#server.address() as AddressInfo;
    const script = `#!/bin/sh\nexec curl -sSf --data-binary @"$1" -o "$2" http://127.0.0.1:${port}/\n`;
    const file = bench.file('sign.sh', script);
    chmodSync(file, 0o700);
    return `${file} ${file} %{__plaintext_filename} %{__signature_filename}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((closed) => {
      this.#server.close(closed);
    });
  }
}
