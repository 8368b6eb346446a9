// Bills of materials and provenance in the hands of other people's tools: the validators of SPDX and CycloneDX, the libraries of in-toto and
// DSSE, gpg and sqv.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must, run, type Ending } from '../clients/commands.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../..');
const programs = join(import.meta.dirname, 'attestations');
const tree = path('tree');
const dist = path('tree/dist');

const tools = ['dpkg-deb', 'git', 'gpg', 'python3', 'sqv'];
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
if (missing.length > 0) console.warn(`SKIPPED: bills of materials and provenance in tools of others, because of ${missing.join(', ')}`);

describe.skipIf(missing.length > 0)('what comes beside the Debian package', () => {
  let python = '';
  let daemon: Daemon;
  beforeAll(async () => {
    const packages = ['spdx-tools', 'cyclonedx-python-lib', 'securesystemslib', 'in-toto-attestation'] as const;
    // What they need for this, and do without for other things.
    const others = ['cryptography', 'jsonschema[format-nongpl]', 'referencing'];
    python = join(await virtualEnvironment('attestations', packages, others, programs), 'python3');
    // The committed tree: a statement about another would be refused.
    await must('git', ['clone', '--quiet', '--no-hardlinks', root, tree]);
    symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
    cpSync(join(root, 'plugins/console/built'), join(tree, 'plugins/console/built'), { recursive: true });
    await must(process.execPath, ['appliance/packaging/build-deb.ts'], { cwd: tree });
    daemon = await startDaemon({ directory: path('data') });
    const user = { 'openpgp-user-id': 'Releases <releases@example.org>' };
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'releases', cipher: 'ed25519', ...user });
  });
  afterAll(async () => {
    await daemon?.stop();
  });

  const artefacts = (): string[] => readdirSync(dist).filter((name) => name.startsWith('keystored_'));
  const billOf = (ending: string): string => join(dist, artefacts().find((name) => name.endsWith(ending)) ?? '');

  test('pyspdxtools accepts the bill in SPDX, and not a broken one', async () => {
    const validate = (file: string): Promise<Ending> =>
      run(python, ['-m', 'spdx_tools.spdx.clitools.pyspdxtools', '--infile', file, '--version', 'SPDX-2.3']);
    const ending = await validate(billOf('.spdx.json'));
    expect(ending.code, ending.output).toBe(0);
    const broken = readFileSync(billOf('.spdx.json'), 'utf8').replace('"licenseDeclared": "MIT"', '"licenseDeclared": "My own"');
    writeFileSync(path('broken.spdx.json'), broken);
    expect((await validate(path('broken.spdx.json'))).code).not.toBe(0);
  });

  test('the strict validator of CycloneDX accepts the bill in CycloneDX, and not a broken one', async () => {
    const validate = (file: string): Promise<Ending> => run(python, [join(programs, 'validate_cyclonedx.py'), file]);
    const ending = await validate(billOf('.cdx.json'));
    expect(ending.code, ending.output).toBe(0);
    const broken = readFileSync(billOf('.cdx.json'), 'utf8').replace('"alg": "SHA-512"', '"alg": "SHA-513"');
    writeFileSync(path('broken.cdx.json'), broken);
    expect((await validate(path('broken.cdx.json'))).code).toBe(1);
  });

  describe('provenance signed by a running keystored', () => {
    const statement = join(dist, 'provenance.json');
    const provenance = (...words: readonly string[]): Promise<Ending> =>
      must(process.execPath, ['appliance/packaging/provenance/command.ts', ...words], {
        cwd: tree,
        environment: { KEYSTORED_URL: daemon.url, KEYSTORED_CA: path('data/tls/ca.pem'), KEYSTORED_TOKEN: daemon.rootToken },
      });

    beforeAll(async () => {
      const files = artefacts().map((name) => join('dist', name));
      const origin = ['--builder', 'https://ci.example.org/', '--source', 'git+https://example.org/keystored', '--build', 'package'];
      await provenance('state', ...origin, ...files);
      const first = readFileSync(statement, 'utf8');
      await provenance('state', ...origin, ...files.toReversed());
      expect(readFileSync(statement, 'utf8')).toBe(first);
      await provenance('sign', '--key', 'releases');
      const action = '/v1/state/keystore/transit-keys/releases';
      const { keys: blocks } = (await daemon.request('POST', `${action}/export-openpgp-public`, {})) as { keys: { keyblock: string }[] };
      const { keys } = (await daemon.request('GET', action)) as { keys: Record<string, string> };
      writeFileSync(path('releases.asc'), blocks[0]?.keyblock ?? '');
      writeFileSync(path('releases.pem'), keys['1'] ?? '');
    });

    test('sha256sum finds every artefact as the statement says', async () => {
      const { subject } = JSON.parse(readFileSync(statement, 'utf8')) as { subject: { name: string; digest: { sha256: string } }[] };
      writeFileSync(path('SHA256SUMS'), subject.map(({ name, digest }) => `${digest.sha256}  ${name}\n`).join(''));
      expect(subject.map(({ name }) => name).toSorted()).toEqual(artefacts().toSorted());
      await must('sha256sum', ['--check', '--strict', path('SHA256SUMS')], { cwd: dist });
    });

    test('gpg and sqv verify the detached signature, and refuse another statement', async () => {
      mkdirSync(path('gnupg'), { mode: 0o700 });
      const environment = { GNUPGHOME: path('gnupg') };
      await must('gpg', ['--batch', '--import', path('releases.asc')], { environment });
      const other = path(basename(statement));
      writeFileSync(other, readFileSync(statement, 'utf8').replace('ci.example.org', 'cj.example.org'));
      const gpg = (file: string): Promise<Ending> =>
        run('gpg', ['--batch', '--status-fd', '1', '--verify', `${statement}.asc`, file], { environment });
      const sqv = (file: string): Promise<Ending> => run('sqv', ['--keyring', path('releases.asc'), `${statement}.asc`, file]);
      expect((await gpg(statement)).stdout).toContain('[GNUPG:] GOODSIG');
      expect((await gpg(other)).stdout).toContain('[GNUPG:] BADSIG');
      expect([(await sqv(statement)).code, (await sqv(other)).code]).toEqual([0, 1]);
      await run('gpgconf', ['--kill', 'all'], { environment });
    });

    test('securesystemslib verifies the envelope, and the library of in-toto reads the statement in it', async () => {
      const envelope = statement.replace(/\.json$/, '.intoto.jsonl');
      const read = (file: string): Promise<Ending> => run(python, [join(programs, 'verify_envelope.py'), path('releases.pem'), file]);
      const ending = await read(envelope);
      expect(ending.code, ending.output).toBe(0);
      expect(JSON.parse(ending.stdout)).toEqual({
        subjects: artefacts().toSorted(),
        predicateType: 'https://slsa.dev/provenance/v1',
        builder: 'https://ci.example.org/',
      });
      const { payload, ...rest } = JSON.parse(readFileSync(envelope, 'utf8')) as { payload: string };
      const changed = Buffer.from(payload, 'base64').toString().replace('ci.example.org', 'cj.example.org');
      writeFileSync(path('changed.intoto.jsonl'), JSON.stringify({ payload: Buffer.from(changed).toString('base64'), ...rest }));
      const refused = await read(path('changed.intoto.jsonl'));
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('VerificationError')]);
    });
  });
});
