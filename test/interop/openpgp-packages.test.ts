// What OpenPGP keys in a token are mostly for: repositories of packages, accepted by the stock tools of Debian and of RPM.
// Needs the Debian packages apt, apt-utils, dpkg-dev, gnupg, rpm and sqv.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { base64, type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { type Outcome, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
let harness: OpenpgpHarness;
beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().toString());
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

/** A package, its index and a Release file below `repository`. */
async function makeDebRepository(bench: Workbench): Promise<void> {
  mkdirSync(bench.path('package/DEBIAN'), { recursive: true });
  mkdirSync(bench.path('repository'));
  const control = 'Package: keystored-probe\nVersion: 1\nArchitecture: all\nMaintainer: Ada <ada@example.org>\nDescription: probe\n';
  writeFileSync(bench.path('package/DEBIAN/control'), control);
  await bench.run('dpkg-deb', ['--build', 'package', 'repository/keystored-probe.deb']);
  const made = await bench.run('sh', [
    '-c',
    'cd repository && apt-ftparchive packages . > Packages && apt-ftparchive release . > ../Release && mv ../Release .',
  ]);
  expect([made.code, made.stderr]).toEqual([0, '']);
}

// An apt of its own: nothing of the machine's configuration, lists or cache is read or written.
function apt(bench: Workbench, ...command: readonly string[]): Promise<Outcome> {
  for (const directory of ['lists/partial', 'archives/partial', 'etc']) mkdirSync(bench.path(directory), { recursive: true });
  const options = {
    'Dir::Etc': bench.path('etc'),
    'Dir::Etc::SourceList': bench.path('sources.list'),
    'Dir::Etc::SourceParts': '-',
    'Dir::State': bench.path('.'),
    'Dir::State::Lists': bench.path('lists'),
    'Dir::State::status': bench.file('status', ''),
    'Dir::Cache': bench.path('.'),
    'Dir::Cache::archives': bench.path('archives'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  };
  return bench.run('apt-get', [...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]), ...command]);
}

function aptUpdate(bench: Workbench, keyring: string): Promise<Outcome> {
  // What it has fetched before it takes for the same file when both were written in one second.
  rmSync(bench.path('lists'), { recursive: true, force: true });
  bench.file('sources.list', `deb [signed-by=${keyring}] file:${bench.path('repository')} ./\n`);
  return apt(bench, 'update');
}

function aptDownload(bench: Workbench): Promise<Outcome> {
  return apt(bench, 'download', 'keystored-probe');
}

async function makeRpm(bench: Workbench): Promise<string> {
  const spec = `
Name: probe
Version: 1
Release: 1
Summary: probe
License: none
BuildArch: noarch
%description
probe
%install
mkdir -p %{buildroot}/opt
head -c 5000 /dev/urandom > %{buildroot}/opt/probe
%files
/opt/probe
`;
  const built = await bench.run('rpmbuild', ['--define', `_topdir ${bench.path('rpm')}`, '-bb', bench.file('probe.spec', spec)]);
  expect([built.code, built.stderr]).toEqual([0, expect.any(String)]);
  return bench.path('rpm/RPMS/noarch/probe-1-1.noarch.rpm');
}

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
