// Programs made for Vault against a running appliance: hvac, node-vault, and in Go the clients of HashiCorp, OpenBao, sigstore (cosign), Tink,
// and of a transit seal; certificates as cert-manager and SPIRE ask for them.
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must, requireToolchain } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const programs = join(import.meta.dirname, 'vault');
const approles = 'keystore/authentication/approles';
let daemon: Daemon;

/** What the story needs, and no more. */
const rulesOfStory = [
  { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow', read: 'allow' } },
  { path: '/v1/config/keystore/transit-keys/*', operations: { update: 'allow', delete: 'allow' } },
  { path: '/v1/state/keystore/transit-keys/**', operations: { read: 'allow', execute: 'allow' } },
  { path: '/v1/state/keystore/crypto-functions/random-bytes', operations: { execute: 'allow' } },
];
const caOfStory = '/v1/state/keystore/tls/ca/web';
const rulesOfCertificates = ['sign-csr', 'certify-ca', 'issue', 'revoke', 'certificates', 'certificates/*'].map((act) => ({
  path: `${caOfStory}/${act}`,
  operations: { all: 'allow' },
}));
const rulesOfWrapping = [`/v1/state/${approles}/hvac-wrapping/generate-secret-id`, '/v1/state/keystore/hand-over/create'].map((path) => ({
  path,
  operations: { execute: 'allow' },
}));
const rulesOfSeal = ['encrypt', 'decrypt'].map((act) => ({
  path: `/v1/state/keystore/transit-keys/seal/${act}`,
  operations: { execute: 'allow' },
}));

beforeAll(async () => {
  writeFileSync(
    at('keystored.yaml'),
    'vault:\n  tenants:\n    system:\n      upsert: true\n  pki-mounts:\n    pki: { tenant: system, ca: web }\n',
  );
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
  for (const [name, rules] of Object.entries({
    story: rulesOfStory,
    seal: rulesOfSeal,
    certificates: rulesOfCertificates,
    wrapping: rulesOfWrapping,
  }))
    await daemon.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  const est = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est });
});
afterAll(() => daemon?.stop());

/** Why the clients of a language cannot be tried here, for the name of the test; empty where they can. */
async function missing(toolchain: Parameters<typeof requireToolchain>[0]): Promise<string> {
  return requireToolchain(toolchain).then(
    () => '',
    (error: Error) => ` (${error.message})`,
  );
}

/** An approle of its own for a program, as its environment. */
async function environmentFor(name: string, policy = 'story'): Promise<Record<string, string>> {
  await daemon.request('POST', `/v1/config/${approles}`, { name, 'token-policies': [policy], 'token-ttl': '2h', 'token-max-ttl': '1d' });
  const role = (await daemon.request('GET', `/v1/state/${approles}/${name}`)) as { 'role-id': string };
  const secret = (await daemon.request('POST', `/v1/state/${approles}/${name}/generate-secret-id`, {})) as { 'secret-id': string };
  const server = { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem'), VAULT_MAX_RETRIES: '0' };
  return { ...server, KEY: name, ROLE_ID: role['role-id'], SECRET_ID: secret['secret-id'] };
}

type Refusals = Readonly<Record<'wrong' | 'absent' | 'undeletable' | 'gone' | 'tooOld' | 'revoked', unknown>>;

/** Goes through the story with one client, whose program prints a line of JSON; refusals are in the words of each client. */
async function expectStory(name: string, program: readonly [string, ...string[]], refusals: Refusals): Promise<void> {
  const [command, ...args] = program;
  const { stdout } = await must(command, args, { environment: await environmentFor(name) });
  const { wrong, absent, undeletable, gone, tooOld, revoked } = refusals;
  expect(JSON.parse(stdout)).toEqual({
    service: { initialized: true, sealed: [false, false, false] },
    login: { wrong, authenticated: true, same: true, who: name, renewable: true, ttl: expect.closeTo(7_200, -2) },
    capabilities: [['update', 'create'], ['deny']],
    ...{ absent, tooOld, revoked, accessor: name, mounts: ['transit', 'approle'], trimmed: [2, ['2']] },
    keys: ['', '-ecdsa', '-ed25519', '-upserted'].map((ending) => `${name}${ending}`),
    opened: ['first', 'first'],
    prefixes: ['vault:v1:', 'vault:v2:'],
    read: { type: 'aes256-gcm96', latest_version: 2, min_decryption_version: 2, deletion_allowed: true },
    ...{ dataKey: true, wrappedAlone: true, verified: [true, false, true, false, true, false], random: 48, batch: ['a:a', 'b:b'] },
    deleted: [undeletable, gone],
    renewed: [true, expect.closeTo(1_800, -2)],
  });
}

const noPython = await missing('python3');
test.skipIf(noPython !== '')(`hvac${noPython}`, async () => {
  const bin = await virtualEnvironment('vault', [], ['hvac'], programs);
  await expectStory('hvac', [join(bin, 'python3'), '-B', join(programs, 'client.py')], {
    wrong: 'InvalidRequest: invalid role or secret ID',
    absent: 'InvalidPath: ',
    undeletable: expect.stringContaining('InvalidRequest: deletion is not allowed for this key'),
    gone: 'InvalidPath: ',
    tooOld: expect.stringContaining('InvalidRequest: ciphertext or signature version is disallowed by policy (too old)'),
    revoked: 'Forbidden: permission denied',
  });
});

test.skipIf(noPython !== '')(`certificates by hvac${noPython}`, async () => {
  const bin = await virtualEnvironment('vault', [], ['hvac'], programs);
  const environment = await environmentFor('hvac-certificates', 'certificates');
  const { stdout } = await must(join(bin, 'python3'), ['-B', join(programs, 'certificates.py')], { environment });
  expect(JSON.parse(stdout)).toEqual({
    ...{ issued: ['ec', 1], signed: true, authority: true, chain: 1, list: true, listed: true, read: true },
    ...{ revoked: 'revoked', absent: 'forbidden' },
  });
});

test.skipIf(noPython !== '')(`wrapped answers by hvac${noPython}`, async () => {
  const bin = await virtualEnvironment('vault', [], ['hvac'], programs);
  const environment = await environmentFor('hvac-wrapping', 'wrapping');
  const { stdout } = await must(join(bin, 'python3'), ['-B', join(programs, 'wrapping.py')], { environment });
  expect(JSON.parse(stdout)).toEqual({
    ...{ unseen: true, same: true, path: 'auth/approle/role/hvac-wrapping/secret-id', login: 'hvac-wrapping', any: { a: 1 } },
    again: expect.stringMatching(/^InvalidRequest: wrapping token is not valid or does not exist: This was opened at /),
  });
});

const noNpm = await missing('npm');
test.skipIf(noNpm !== '')(`node-vault${noNpm}`, async () => {
  const project = at('node-vault');
  cpSync(programs, project, { recursive: true });
  await must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
  await expectStory('node-vault', [process.execPath, join(project, 'client.mjs')], {
    wrong: '400: invalid role or secret ID',
    absent: '404: ',
    undeletable: expect.stringContaining('400: deletion is not allowed for this key'),
    gone: '404: ',
    tooOld: expect.stringContaining('400: ciphertext or signature version is disallowed by policy (too old)'),
    revoked: '403: permission denied',
  });
});

const noGo = await missing('go');
describe.skipIf(noGo !== '')(`the clients in Go${noGo}`, () => {
  const program = at('clients-in-go');

  beforeAll(async () => {
    const go = await obtainGo(versions.go);
    await must(go, ['build', '-mod=readonly', '-o', program, '.'], { cwd: programs, environment: onlyThisGo });
  });

  test('vault/api', async () => {
    await expectStory('vault-api', [program], {
      wrong: '400: invalid role or secret ID',
      absent: 'true <nil>',
      undeletable: expect.stringContaining('400: deletion is not allowed for this key'),
      gone: 'true <nil>',
      tooOld: expect.stringContaining('400: ciphertext or signature version is disallowed by policy (too old)'),
      revoked: '403: permission denied',
    });
  });

  const reported = async (library: string, policy?: string): Promise<unknown> =>
    JSON.parse((await must(program, [library], { environment: await environmentFor(library, policy) })).stdout);

  test('openbao/api', async () => {
    expect(await reported('openbao')).toEqual({ opened: 'by OpenBao', absent: 'true <nil>', listed: true, health: true });
  });

  test("sigstore's hashivault, which cosign uses", async () => {
    expect(await reported('sigstore')).toEqual({ 'ecdsa-p256': [true, true, false], ed25519: [true, true, false] });
  });

  test('tink-go-hcvault', async () => {
    expect(await reported('tink')).toEqual({ opened: 'by Tink', refusesOther: true });
  });

  test('certificates as cert-manager, SPIRE and programs without a key ask for them', async () => {
    expect(await reported('certificates', 'certificates')).toEqual({
      ...{ leaf: ['a.example.test', false], intermediate: ['spiffe://example.org', true, true] },
      ...{ issued: true, listed: expect.any(Number), revoked: 'revoked' },
    });
  });

  test('the client of a transit seal starts, goes on under a rotation of its key, and starts again', async () => {
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'seal' });
    const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['seal'], ttl: '1h' })) as {
      token: string;
    };
    const environment = { ...(await environmentFor('seal-admin')), VAULT_TOKEN: token, ADMIN_TOKEN: daemon.rootToken, SEAL_KEY: 'seal' };
    const { stdout } = await must(program, ['seal'], { environment });
    expect(JSON.parse(stdout)).toEqual({
      withoutKey: expect.stringMatching(/^403: /),
      keyIds: ['v1', 'v1', 'v2', 'v2'],
      opened: ['before', 'after'],
      tampered: expect.stringContaining('400: cipher: message authentication failed'),
    });
  });
});
