// The daemon from its bundle, as `npm start` and the packages run it: it describes and answers what the sources do, with every process.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { provideService } from '../../../appliance/packaging/service/provide.ts';
import { processTree, programOf } from '../../bench/measure/processes.ts';
import { endWithTests } from '../../harness/children.ts';
import { freePort, isFree, startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';

describe('the daemon from its bundle', () => {
  let program: string;
  let daemon: Daemon;
  beforeAll(async () => {
    program = await provideService();
    const identity = await generateX25519Identity();
    writeFileSync(path('identity'), `${identity}\n`, { mode: 0o600 });
    mkdirSync(path('share'));
    const backup = `backup: { recipients: [${await identityToRecipient(identity)}], schedule: 31d, to: [{ directory: '${path('share')}', keep: 2 }] }`;
    // A receiver that is away: the shipper runs all the same.
    const shipping = `shipping: { destinations: [{ name: siem, protocol: json-lines, url: 'https://127.0.0.1:${await freePort()}/' }] }`;
    writeFileSync(path('keystored.yaml'), `${backup}\n${shipping}\n`);
    daemon = await startDaemon({ directory: path('data'), workers: 2, args: ['--config', path('keystored.yaml')], program });
  });
  afterAll(() => daemon.stop());

  test('runs every process from the bundle, none from the sources', async () => {
    const running = (): string[] => processTree(daemon.pid).map(({ script }) => script);
    await expect.poll(() => running().map(programOf).toSorted()).toEqual(['host', 'host', 'keystored', 'shipper', 'worker', 'worker']);
    for (const script of running()) expect(script).toMatch(/\/dist\/service\/[0-9a-f]{16}\/[a-z]+\.js$/);
  });

  test('describes the API and refuses as the sources do, word by word', async () => {
    const sources = join(root, 'appliance/keystored.ts');
    const other = await startDaemon({ directory: path('sources'), args: ['--config', path('keystored.yaml')], program: sources });
    try {
      for (const [method, url, body] of [
        ['GET', '/v1/openapi.json', undefined],
        ['POST', keys, { name: 7 }],
        ['POST', keys, { name: 'a', ciper: 'rsa-2048', cipher: 'des' }],
        ['GET', `${keys}/absent`, undefined],
      ] as const) {
        const [own, expected] = [await daemon.exchange(method, url, body), await other.exchange(method, url, body)];
        expect([own.status, withoutAddresses(own.text)], url).toEqual([expected.status, withoutAddresses(expected.text)]);
      }
    } finally {
      await other.stop();
    }
  });

  test('encrypts, signs, makes RSA keys beside signatures, and reads a body so large that a thread parses it', async () => {
    await daemon.request('POST', keys, { name: 'orders' });
    await daemon.request('POST', keys, { name: 'rsa', cipher: 'rsa-2048' });
    const plaintext = Buffer.alloc(1 << 20, 5).toString('base64');
    const { ciphertext } = (await daemon.request('POST', `${actions}/orders/encrypt`, { plaintext })) as { ciphertext: string };
    expect(await daemon.request('POST', `${actions}/orders/decrypt`, { ciphertext })).toMatchObject({ plaintext });
    const signing = Array.from({ length: 20 }, () => daemon.exchange('POST', `${actions}/rsa/sign`, { text: 'aGVsbG8=' }));
    expect((await Promise.all(signing)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });

  test('packages that are loaded at the first use are found: OpenPGP, names of certificates', async () => {
    await daemon.request('POST', keys, { name: 'signer', cipher: 'ed25519', 'openpgp-user-id': 'A <a@example.test>' });
    const text = Buffer.from('hello').toString('base64');
    const { signature } = (await daemon.request('POST', `${actions}/signer/openpgp-sign`, { text })) as { signature: string };
    expect(await daemon.request('POST', `${actions}/signer/openpgp-verify`, { text, signature })).toMatchObject({ valid: true });
    expect((await daemon.exchange('POST', '/v1/config/keystore/tls/ca', { name: 'devices' })).status).toBe(201);
  });

  test('serves the pages of the console and the documentation, which are files beside the code', async () => {
    expect((await daemon.exchange('GET', '/v1/docs')).status).toBe(200);
    const built = JSON.parse(readFileSync(join(root, 'plugins/console/built/manifest.json'), 'utf8')) as Record<string, { file: string }>;
    for (const { file } of Object.values(built)) expect((await daemon.exchange('GET', `/ui/${file}`)).status, file).toBe(200);
  });

  test('writes a backup by a process of its own, and the drill from the bundle restores it', async () => {
    const made = (): string[] => readdirSync(path('share')).filter((name) => name.endsWith('.tar.age'));
    await expect.poll(made, { timeout: 60_000 }).not.toEqual([]);
    mkdirSync(path('drills'));
    const words = [program, 'restore-drill', path('share', made()[0] ?? ''), '--identity-file', path('identity'), '--work', path('drills')];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: root });
    expect(status, stdout + stderr).toBe(0);
  });
});

/** Without what differs between two appliances: ports, request ids. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS').replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID');
}

describe('npm start', () => {
  /** A tree of its own with the packages of this one. */
  function copyTree(directory: string): void {
    const names = ['hsm', 'core', 'plugins', 'appliance', 'package.json', 'package-lock.json', 'tsconfig.json', 'softhsm.conf', 'LICENSE'];
    for (const name of names) cpSync(join(root, name), join(directory, name), { recursive: true });
    mkdirSync(join(directory, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'))) {
      symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name));
    }
    const stamp = createHash('sha256')
      .update(readFileSync(join(root, 'package-lock.json')))
      .digest('hex');
    writeFileSync(join(directory, 'node_modules/.keystored-setup'), stamp);
  }

  function help(directory: string): { readonly stdout: string; readonly stderr: string; readonly bundles: string[] } {
    const words = [join(directory, 'appliance/setup.mjs'), 'start', '--help'];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: directory, encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    return { stdout, stderr, bundles: readdirSync(join(directory, 'dist/service')) };
  }

  test('bundles the service once, again when a source has changed, and runs the sources where it cannot', () => {
    const directory = path('tree');
    copyTree(directory);
    const first = help(directory);
    expect(first.stderr).toContain('bundling the service');
    expect(first.bundles).toHaveLength(1);
    const again = help(directory);
    expect(again).toEqual({ ...first, stderr: '' });

    const entry = join(directory, 'appliance/keystored.ts');
    writeFileSync(entry, readFileSync(entry, 'utf8').replace('Or: npm start', 'Changed: npm start'));
    const changed = help(directory);
    expect(changed.stderr).toContain('bundling the service');
    expect(changed.stdout).toContain('Changed: npm start');
    expect(changed.bundles).toHaveLength(2);

    appendFileSync(entry, '// once more\n');
    expect(help(directory).bundles).toHaveLength(2);

    appendFileSync(join(directory, 'appliance/packaging/service/bundle.ts'), "throw new Error('broken');\n");
    const unbundled = help(directory);
    expect(unbundled.stderr).toContain('without a bundle of the service');
    expect(unbundled.stdout).toContain('Changed: npm start');
  });

  test('leaves no process of the set-up behind the appliance, which ends with an npm that is killed', async () => {
    const [port, estPort] = [await freePort(), await freePort()];
    const addresses = ['--listen', `127.0.0.1:${port}`, '--est-listen', `127.0.0.1:${estPort}`];
    const npm = spawn('npm', ['start', '--silent', '--', '--data', path('launched'), ...addresses, '--workers', '1'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    endWithTests(npm);
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect.poll(() => output, { timeout: 120_000 }).toContain('ready https://');
    const programs = processTree(Number(npm.pid)).map(({ script }) => programOf(script));
    expect(programs.filter((name) => name !== '').toSorted()).toEqual(['host', 'keystored', 'worker']);
    expect(processTree(Number(npm.pid)).length).toBe(4);
    process.kill(Number(npm.pid), 'SIGKILL');
    await expect.poll(async () => (await isFree(port)) && (await isFree(estPort)), { timeout: 60_000 }).toBe(true);
  });
});
