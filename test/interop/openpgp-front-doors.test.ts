// keystorectl in the place of gpg, in the programs that people publish software with: git, rpmsign, debsign, debsigs, reprepro and aptly.
// Needs the Debian packages aptly, debsig-verify, debsigs, devscripts, git, gnupg, reprepro and rpm.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readKey } from 'openpgp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenpgpHarness, startOpenpgpHarness } from '../plugins/openpgp/harness.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { aptUpdateFrom, makeDebRepository, makeRpm } from './openpgp-repositories.ts';
import { type Outcome, Workbench } from './openpgp-tools.ts';

const path = temporaryDirectory();
const keystorectl = new URL('../../appliance/keystorectl', import.meta.url).pathname;
let harness: OpenpgpHarness;
let block: string;
let fingerprint: string;

beforeAll(async () => {
  harness = await startOpenpgpHarness(path(), Temporal.Now.instant().toString());
  await harness.create('root-key', { cipher: 'rsa-4096', 'openpgp-user-id': 'Releases <releases@example.org>' });
  await harness.create('builds', { cipher: 'rsa-4096', 'openpgp-primary': 'root-key', 'openpgp-key-usage': ['sign'] });
  block = await harness.block('builds');
});
afterAll(() => harness.close());

/** A workbench whose programs find keystorectl as `keystored-gpg`, and as `gpg` in the folder `instead`. */
async function openBench(): Promise<Bench> {
  const bench = new Workbench();
  const script = `#!/bin/sh
export KEYSTORED_URL='${harness.url}' KEYSTORED_CA='${join(path(), 'tls-cert.pem')}' KEYSTORED_TOKEN='${harness.rootToken}'
exec '${keystorectl}' gpg "$@"
`;
  mkdirSync(bench.path('instead'));
  for (const name of ['keystored-gpg', 'instead/gpg']) chmodSync(bench.file(name, script), 0o755);
  await bench.gpg('--import', bench.file('certificate.asc', block));
  const { stdout } = await bench.gpg('--with-colons', '--list-keys');
  fingerprint = stdout.match(/^fpr:+([0-9A-F]{40}):/gm)?.[1]?.replaceAll(/fpr|:/g, '') ?? '';
  const environment = { HOME: bench.path('.'), PATH: `${bench.path('instead')}:${process.env['PATH']}`, DEBEMAIL: 'releases@example.org' };
  const run = (program: string, ...args: readonly string[]): Promise<Outcome> =>
    bench.run('env', [...Object.entries(environment).map(([name, value]) => `${name}=${value}`), program, ...args]);
  return { bench, run, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() };
}

type Bench = AsyncDisposable & {
  readonly bench: Workbench;
  readonly run: (program: string, ...args: readonly string[]) => Promise<Outcome>;
};

const told = ({ code, stdout, stderr }: Outcome) => ({ code, said: `${stdout}${stderr}` });
const well = { code: 0, said: expect.any(String) as unknown };

test('git signs commits and tags, verifies them by the real gpg, and finds a changed one', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  const git = (...args: readonly string[]): Promise<Outcome> => run('git', '-C', bench.path('work'), ...args);
  expect(told(await run('git', 'init', '-q', bench.path('work')))).toEqual(well);
  for (const [name, value] of Object.entries({
    'user.name': 'Ada',
    'user.email': 'releases@example.org',
    'user.signingkey': 'builds',
    'gpg.program': bench.path('keystored-gpg'),
    'commit.gpgsign': 'true',
  }))
    await git('config', name, value);
  writeFileSync(bench.path('work/file'), 'one\n');
  await git('add', 'file');
  expect(told(await git('commit', '-m', 'one'))).toEqual(well);
  expect(told(await git('tag', '-s', 'v1', '-m', 'version 1'))).toEqual(well);
  for (const verified of [await git('verify-commit', '--raw', 'HEAD'), await git('verify-tag', '--raw', 'v1')]) {
    expect(told(verified)).toEqual(well);
    expect(verified.stderr).toMatch(/\[GNUPG:\] GOODSIG .*Releases <releases@example\.org>/);
  }
  expect((await git('log', '-1', '--format=%G? %GF')).stdout.trim()).toMatch(new RegExp(`^[GU] ${fingerprint}$`));
  const forged = (await git('cat-file', 'commit', 'HEAD')).stdout.replace('\none\n', '\ntwo\n');
  const { stdout: object } = await git('hash-object', '-t', 'commit', '-w', bench.file('forged', forged));
  const { code, stderr } = await git('verify-commit', '--raw', object.trim());
  expect([code === 0, /BADSIG/.test(stderr)]).toEqual([false, true]);
  // Who has no right makes no commit.
  await git('config', 'user.signingkey', 'nobody');
  expect((await git('commit', '--allow-empty', '-m', 'two')).code).not.toBe(0);
});

test('rpmsign signs a package that rpmkeys finds good', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  const rpm = await makeRpm(bench);
  const defines = ['--define', `__gpg ${bench.path('keystored-gpg')}`, '--define', '_gpg_name builds'];
  expect(told(await run('rpmsign', ...defines, '--addsign', rpm))).toEqual(well);
  const database = ['--dbpath', bench.path('rpmdb')];
  expect((await run('rpmkeys', ...database, '--import', bench.file('key.asc', block))).code).toBe(0);
  expect((await run('rpmkeys', ...database, '--checksig', '-v', rpm)).stdout).toMatch(
    /Header V4 RSA\/SHA512 Signature, key ID [0-9a-f]{8}: OK/,
  );
});

test('debsign signs .dsc, .buildinfo and .changes, and gpg verifies them', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  const dsc = 'Format: 1.0\nSource: probe\nVersion: 1\nMaintainer: Ada <releases@example.org>\nFiles:\n';
  bench.file('probe_1.dsc', dsc);
  const changes =
    'Format: 1.8\nSource: probe\nVersion: 1\nDistribution: unstable\nMaintainer: Ada <releases@example.org>\nChanged-By: Ada <releases@example.org>\n';
  const { createHash } = await import('node:crypto');
  const sum = (algorithm: string): string => `${createHash(algorithm).update(dsc).digest('hex')} ${dsc.length}`;
  bench.file(
    'probe_1_source.changes',
    `${changes}Checksums-Sha1:\n ${sum('sha1')} probe_1.dsc\nChecksums-Sha256:\n ${sum('sha256')} probe_1.dsc\nFiles:\n ${sum('md5')} misc optional probe_1.dsc\n`,
  );
  const signed = await run(
    'debsign',
    '--re-sign',
    `-p${bench.path('keystored-gpg')}`,
    `-k${fingerprint}`,
    bench.path('probe_1_source.changes'),
  );
  expect(told(signed)).toEqual(well);
  for (const name of ['probe_1.dsc', 'probe_1_source.changes'])
    expect((await bench.gpg('--verify', bench.path(name))).stdout).toMatch(/\[GNUPG:\] GOODSIG/);
});

test('debsigs signs a .deb, and debsig-verify takes it by its policy', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  await makeDebRepository(bench);
  const deb = bench.path('repository/keystored-probe.deb');
  expect(told(await run('debsigs', '--sign=origin', '-k', 'root-key', deb))).toEqual(well);
  // It finds no subkeys.
  const id = (await readKey({ armoredKey: block })).getFingerprint().toUpperCase();
  const folder = id.slice(-16);
  for (const kind of ['policies', 'keyrings']) mkdirSync(bench.path(`${kind}/${folder}`), { recursive: true });
  writeFileSync(
    bench.path(`policies/${folder}/probe.pol`),
    `<?xml version="1.0"?>
<!DOCTYPE Policy SYSTEM "https://www.debian.org/debsig/1.0/policy.dtd">
<Policy xmlns="https://www.debian.org/debsig/1.0/">
  <Origin Name="Releases" id="${id}" Description="Releases"/>
  <Selection><Required Type="origin" File="debsig.gpg" id="${id}"/></Selection>
  <Verification MinOptional="0"><Required Type="origin" File="debsig.gpg" id="${id}"/></Verification>
</Policy>
`,
  );
  await bench.gpg('--dearmor', '--output', bench.path(`keyrings/${folder}/debsig.gpg`), bench.path('certificate.asc'));
  const verified = await run('debsig-verify', '--policies-dir', bench.path('policies'), '--keyrings-dir', bench.path('keyrings'), deb);
  expect(told(verified)).toEqual(well);
});

test('reprepro signs by a hook of three lines, and apt takes InRelease', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  await makeDebRepository(bench);
  mkdirSync(bench.path('archive/conf'), { recursive: true });
  // reprepro gives the release file, and the names of InRelease and Release.gpg.
  const hook = `#!/bin/sh\nset -e\n'${bench.path('keystored-gpg')}' --yes -u builds --clearsign -o "$2" "$1"\n'${bench.path('keystored-gpg')}' --yes -u builds -ab -o "$3" "$1"\n`;
  chmodSync(bench.file('sign-release', hook), 0o755);
  writeFileSync(
    bench.path('archive/conf/distributions'),
    `Codename: stable\nComponents: main\nArchitectures: amd64\nSignWith: !${bench.path('sign-release')}\n`,
  );
  const added = ['--section', 'misc', '--priority', 'optional', 'includedeb', 'stable', bench.path('repository/keystored-probe.deb')];
  expect(told(await run('reprepro', '-b', bench.path('archive'), ...added))).toEqual(well);
  expect(readdirSync(bench.path('archive/dists/stable')).toSorted()).toEqual(expect.arrayContaining(['InRelease', 'Release.gpg']));
  const update = await aptUpdateFrom(bench, `[signed-by=${bench.path('certificate.asc')}] file:${bench.path('archive')} stable main`);
  expect(update.stdout).toMatch(/InRelease/);
  expect(`${update.stdout}${update.stderr}`).not.toMatch(/^[EW]:/m);
});

test('aptly publishes by a gpg first on the path that is keystorectl, and apt takes InRelease', { timeout: 120_000 }, async () => {
  await using opened = await openBench();
  const { bench, run } = opened;
  await makeDebRepository(bench);
  const aptly = (...args: readonly string[]): Promise<Outcome> => run('aptly', ...args);
  expect(told(await aptly('repo', 'create', '-distribution=stable', '-component=main', 'probe'))).toEqual(well);
  expect(told(await aptly('repo', 'add', 'probe', bench.path('repository/keystored-probe.deb')))).toEqual(well);
  expect(told(await aptly('publish', 'repo', '-batch', '-gpg-key=builds', '-architectures=amd64', 'probe'))).toEqual(well);
  const published = bench.path('.aptly/public');
  expect(existsSync(`${published}/dists/stable/InRelease`)).toBe(true);
  expect(readFileSync(`${published}/dists/stable/Release.gpg`, 'utf8')).toMatch(/^-----BEGIN PGP SIGNATURE-----/);
  const update = await aptUpdateFrom(bench, `[signed-by=${bench.path('certificate.asc')}] file:${published} stable main`);
  expect(`${update.stdout}${update.stderr}`).not.toMatch(/^[EW]:/m);
});
