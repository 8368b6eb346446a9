// Libraries for Vault in Java and Rust against a running appliance: Spring Vault, vault-java-driver, vaultrs.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, toolDirectory } from '../clients/commands.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const programs = join(import.meta.dirname, 'vault');
const approles = 'keystore/authentication/approles';
const tooOld = 'ciphertext or signature version is disallowed by policy (too old)';
let daemon: Daemon;

const rules = [
  { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow', read: 'allow' } },
  { path: '/v1/config/keystore/transit-keys/*', operations: { update: 'allow', delete: 'allow' } },
  { path: '/v1/state/keystore/transit-keys/**', operations: { read: 'allow', execute: 'allow' } },
  ...['sign-csr', 'issue', 'revoke'].map((act) => ({
    path: `/v1/state/keystore/tls/ca/web/${act}`,
    operations: { execute: 'allow' },
  })),
  { path: '/v1/state/keystore/hand-over/create', operations: { execute: 'allow' } },
];

beforeAll(async () => {
  writeFileSync(at('keystored.yaml'), 'vault:\n  tenants: { system: {} }\n  pki-mounts:\n    pki: { tenant: system, ca: web }\n');
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'story', 'rest-api': { rules } });
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est });
});
afterAll(() => daemon?.stop());

/** Why a library cannot be tried here, for the name of the test; empty where it can. */
async function missing(...names: readonly Parameters<typeof requireToolchain>[0][]): Promise<string> {
  const all = await Promise.all(
    names.map((name) =>
      requireToolchain(name).then(
        () => [],
        (error: Error) => [error.message],
      ),
    ),
  );
  const said = all.flat();
  return said.length === 0 ? '' : ` (${said.join('; ')})`;
}

/** An approle of its own for a program, as its environment. */
async function environmentFor(name: string): Promise<Record<string, string>> {
  await daemon.request('POST', `/v1/config/${approles}`, { name, 'token-policies': ['story'], 'token-ttl': '2h', 'token-max-ttl': '1d' });
  const role = (await daemon.request('GET', `/v1/state/${approles}/${name}`)) as { 'role-id': string };
  const secret = (await daemon.request('POST', `/v1/state/${approles}/${name}/generate-secret-id`, {})) as { 'secret-id': string };
  return { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem'), KEY: name, ROLE_ID: role['role-id'], SECRET_ID: secret['secret-id'] };
}

const noJava = await missing('java', 'mvn');

/** Runs the program in Java; what it needs comes once. */
async function byJava(name: string, ...args: readonly string[]): Promise<unknown> {
  const jars = join(import.meta.dirname, '../../node_modules/.cache/vault-clients');
  const maven = ['-q', '-B', '-f', join(programs, 'java/pom.xml'), 'dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!existsSync(jars)) await must('mvn', maven);
  const environment = await environmentFor(name);
  const { stdout } = await must('java', ['-cp', `${jars}/*`, join(programs, 'java/Clients.java'), ...args], { environment });
  return JSON.parse(stdout) as unknown;
}

test.skipIf(noJava !== '')(`Spring Vault${noJava}`, async () => {
  expect(await byJava('spring')).toEqual({
    wrong: expect.stringContaining('invalid role or secret ID'),
    service: [true, false, false],
    mounts: ['transit', 'approle'],
    who: 'spring',
    keys: ['spring', 'spring-derived', 'spring-ecdsa'],
    ...{ absent: true, prefixes: ['vault:v1:', 'vault:v2:'], opened: ['first', 'first'], derived: 'bound' },
    batch: ['a', 'b'],
    // A batch with a bad item is 400, as there, which this client throws for.
    badItem: expect.stringContaining('Status 400'),
    ...{ verified: [true, false], mac: true, read: ['aes256-gcm96', 2, 2, true] },
    tooOld: expect.stringContaining(tooOld),
    ...{ gone: true, issued: 'CN=spring.example.test' },
    wrapped: { a: '1' },
    // It takes that refusal for an absent answer.
    again: 'not refused: null',
    ended: true,
  });
});

test.skipIf(noJava !== '')(`vault-java-driver${noJava}`, async () => {
  expect(await byJava('driver', 'driver')).toEqual({
    wrong: expect.stringMatching(/^400: [^]*invalid role or secret ID/),
    login: [true, 1_800],
    who: 'driver',
    health: [true, false, false],
    ...{ keys: ['driver'], opened: 'by the driver' },
    absent: expect.stringContaining('404'),
    // It answers refusals with the status, and throws for few.
    tampered: 'not refused: 400',
    issued: true,
    ended: expect.stringMatching(/^403: /),
  });
});

const noRust = await missing('cargo');
test.skipIf(noRust !== '')(`vaultrs${noRust}`, async () => {
  const target = toolDirectory('cargo-vault');
  const build = ['build', '--quiet', '--locked', '--manifest-path', join(programs, 'rust/Cargo.toml')];
  await must('cargo', build, { environment: { CARGO_TARGET_DIR: target } });
  const { stdout } = await must(join(target, 'debug/keystored-vault-clients'), [], { environment: await environmentFor('vaultrs') });
  expect(JSON.parse(stdout)).toEqual({
    service: [true, false],
    login: ['400: invalid role or secret ID', true, 1_800, 'vaultrs'],
    mounts: 'transit',
    keys: ['vaultrs', 'vaultrs-ecdsa'],
    ...{ prefixes: ['vault:v1:', 'vault:v2:'], opened: [true, true], dataKey: true, verified: [true, false], mac: true },
    ...{ read: [true, true], public: true },
    refused: [expect.stringContaining(`400: ${tooOld}`), expect.stringMatching(/^404: /), '403: permission denied'],
  });
});
