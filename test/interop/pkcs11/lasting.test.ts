// A program that lives long, over the client of p11-kit: signatures at once, a killed appliance, a rotated key, a policy that is taken away; and
// a program that forks.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createPublicKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, run } from '../../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../../clients/go/toolchain.ts';
import { versions } from '../../clients/versions.ts';
import { endWithTests } from '../../harness/children.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const at = temporaryDirectory();
const program = at('crypto11');
const forks = at('forks');
const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
const policy = '/v1/config/policy/policies/signer?lists=replace';
const signing = { path: '/v1/state/keystore/transit-keys/web/sign', operations: { execute: 'allow' } };
const reading = { path: '/v1/state/keystore/transit-keys/web', operations: { read: 'allow' } };
let daemon: Daemon;
let port: number;

beforeAll(async () => {
  await requireToolchain('go');
  const go = await obtainGo(versions.go);
  await must(go, ['build', '-mod=readonly', '-o', program, '.'], { cwd: import.meta.dirname, environment: onlyThisGo });
  await must('cc', ['-o', forks, join(import.meta.dirname, 'forks/forks.c'), '-ldl', '-pthread']);
  for (const name of ['modules', 'none', 'home']) mkdirSync(at(name));
  port = await freePort();
  await startAppliance();
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'web', cipher: 'ecdsa-p256' });
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'signer', 'rest-api': { rules: [reading, signing] } });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['signer'] })) as { token: string };
  writeFileSync(at('token'), token, { mode: 0o600 });
  writeFileSync(at('ca.pem'), daemon.caPem);
  const words = ['pkcs11', '--key', 'web', '--url', daemon.url, '--ca', at('ca.pem'), '--token-file', at('token')];
  writeFileSync(at('modules', 'keystored.module'), `remote: |${[join(root, 'appliance/keystorectl'), ...words].join(' ')}\n`);
});
afterAll(async () => {
  await daemon?.stop();
});
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

async function startAppliance(): Promise<void> {
  daemon = await startDaemon({ directory: at('data'), port });
}

/** Words that run a program with the module file of the test alone. */
function alone(...words: readonly string[]): readonly string[] {
  const mounts = [
    'mount --make-rprivate /',
    `mount --bind ${at('modules')} /etc/pkcs11/modules`,
    `mount --bind ${at('none')} /usr/share/p11-kit/modules`,
  ];
  return ['-m', 'bash', '-c', [...mounts, 'exec "$@"'].join(' && '), '--', ...words];
}

type Signer = { readonly publicKey: string; ask(line: string): Promise<string>; stderr(): string; end(): void };

async function startSigner(): Promise<Signer> {
  const child = spawn('unshare', alone(program, join(libraries, 'p11-kit-proxy.so'), 'web'), {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, HOME: at('home') },
  });
  endWithTests(child);
  running.push(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  const publicKey = await next();
  return {
    publicKey,
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    stderr: () => said,
    end: () => void child.kill('SIGKILL'),
  };
}

async function publicKeyOf(version: number): Promise<string> {
  const { keys } = (await daemon.request('GET', '/v1/state/keystore/transit-keys/web')) as { keys: Record<string, string> };
  return createPublicKey(keys[version] ?? '')
    .export({ format: 'der', type: 'spki' })
    .toString('hex');
}

test('two hundred signatures at once hold', async () => {
  const signer = await startSigner();
  expect(signer.publicKey).toBe(await publicKeyOf(1));
  expect(await signer.ask('sign 1')).toBe('1');
  expect(await signer.ask('sign 200')).toBe('200');
});

test('an appliance that is killed fails signatures until it is back; the program goes on, with nothing started again', async () => {
  const signer = await startSigner();
  expect(await signer.ask('sign 8')).toBe('8');
  await daemon.kill();
  expect(await signer.ask('sign 1')).toContain('CKR_DEVICE_ERROR');
  expect(await signer.ask('sign 8')).toContain('CKR_DEVICE_ERROR');
  expect(signer.stderr()).toMatch(/^keystorectl pkcs11: cannot sign with web: .* does not answer .*: is keystored running there\?\n$/);
  await startAppliance();
  expect(await signer.ask('sign 8')).toBe('8');
});

test('a key that is rotated signs on with the version that the program has read; a program that starts then has the new one', async () => {
  const signer = await startSigner();
  await daemon.request('POST', '/v1/state/keystore/transit-keys/web/rotate', {});
  expect(await signer.ask('sign 4')).toBe('4');
  const later = await startSigner();
  expect(later.publicKey).toBe(await publicKeyOf(2));
  expect(later.publicKey).not.toBe(signer.publicKey);
  expect(await later.ask('sign 4')).toBe('4');
});

test('a policy that is taken away acts on the next signature, and standard error says which right is missing', async () => {
  const signer = await startSigner();
  expect(await signer.ask('sign 1')).toBe('1');
  await daemon.request('PATCH', policy, { 'rest-api': { rules: [reading] } });
  expect(await signer.ask('sign 1')).toContain('CKR_KEY_FUNCTION_NOT_PERMITTED');
  expect(signer.stderr()).toMatch(/^keystorectl pkcs11: cannot sign with web: 403 [^\n]*\n$/);
  await daemon.request('PATCH', policy, { 'rest-api': { rules: [reading, signing] } });
  expect(await signer.ask('sign 1')).toBe('1');
});

test('eight threads sign beside each other, and a child of a fork signs after it has initialised again', async () => {
  const { code, output } = await run('unshare', alone(forks, join(libraries, 'p11-kit-proxy.so')), { environment: { HOME: at('home') } });
  expect(output).toBe('threads 320\nchild 1\nparent 1\n');
  expect(code).toBe(0);
});
