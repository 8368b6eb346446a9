// Programs that speak Vault's API, as people run them: SOPS, cosign, SPIRE. Each takes many minutes to build, so that they are built once, and only
// when that is asked for: VAULT_PROGRAMS=build npm test -- interop vault-programs.
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, run, toolDirectory } from '../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../clients/go/toolchain.ts';
import { versions } from '../clients/versions.ts';
import { endWithTests } from '../harness/children.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const programs = {
  sops: { module: 'github.com/getsops/sops/v3', path: 'cmd/sops', version: 'v3.13.3' },
  cosign: { module: 'github.com/sigstore/cosign/v3', path: 'cmd/cosign', version: 'v3.1.3' },
  'spire-server': { module: 'github.com/spiffe/spire', path: 'cmd/spire-server', version: 'v1.13.3' },
} as const;

const at = temporaryDirectory();
const fileOf = (name: keyof typeof programs): string => join(toolDirectory('vault-programs'), `${name}-${programs[name].version}`);
const state = '/v1/state/keystore/transit-keys';
const approles = 'keystore/authentication/approles';
let daemon: Daemon;

/** Why a program cannot be tried, for the name of the test; empty where it can. */
async function missing(name: keyof typeof programs): Promise<string> {
  if (existsSync(fileOf(name))) return '';
  if (process.env['VAULT_PROGRAMS'] !== 'build') return ' (not built: VAULT_PROGRAMS=build builds it)';
  return requireToolchain('go').then(
    () => '',
    (error: Error) => ` (${error.message})`,
  );
}

async function build(name: keyof typeof programs): Promise<void> {
  const { module, path, version } = programs[name];
  const [go, directory] = [await obtainGo(versions.go), at(`build-${name}`)];
  mkdirSync(directory);
  const goMod = `module built\n\ngo ${versions.go}\n\ntool ${module}/${path}\n\nrequire ${module} ${version}\n`;
  writeFileSync(join(directory, 'go.mod'), goMod);
  const args = ['build', '-mod=mod', '-o', fileOf(name), `${module}/${path}`];
  await must(go, args, { cwd: directory, environment: onlyThisGo });
}

const [noSops, noCosign, noSpire] = [await missing('sops'), await missing('cosign'), await missing('spire-server')];

beforeAll(async () => {
  for (const name of Object.keys(programs) as (keyof typeof programs)[])
    if (!existsSync(fileOf(name)) && (await missing(name)) === '') await build(name);
  writeFileSync(at('keystored.yaml'), 'vault:\n  tenants: { system: {} }\n  pki-mounts:\n    pki: { tenant: system, ca: upstream }\n');
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
}, 3_600_000);
afterAll(() => daemon?.stop());

type Rule = { readonly path: string; readonly operations: Readonly<Record<string, string>> };

/** The environment of a program, with a token for `rules`. */
async function environmentFor(name: string, rules: readonly Rule[]): Promise<Record<string, string>> {
  await daemon.request('POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } });
  const made = await daemon.request('POST', '/v1/state/keystore/token/create', { policies: [name], ttl: '1h' });
  const { token } = made as { readonly token: string };
  mkdirSync(at(name));
  return { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem'), VAULT_TOKEN: token, HOME: at(name) };
}

const may = (key: string, ...acts: readonly string[]): readonly Rule[] =>
  acts.map((act) => ({ path: `${state}/${key}/${act}`, operations: { execute: 'allow' } }));

test.skipIf(noSops !== '')(`SOPS ${programs.sops.version} encrypts, decrypts and rotates files${noSops}`, async () => {
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'sops' });
  const environment = await environmentFor('sops', may('sops', 'encrypt', 'decrypt'));
  const sops = (...args: readonly string[]) => run(fileOf('sops'), args, { cwd: at('sops'), environment });
  const file = at('sops', 'secret.yaml');
  writeFileSync(file, 'password: swordfish\n');
  const key = ['--hc-vault-transit', `${daemon.url}/v1/transit/keys/sops`];
  const encrypted = await sops('encrypt', ...key, '--in-place', file);
  expect([encrypted.code, encrypted.output]).toEqual([0, '']);
  expect(readFileSync(file, 'utf8')).not.toContain('swordfish');
  expect(readFileSync(file, 'utf8')).toContain('vault:v1:');
  expect((await sops('decrypt', file)).stdout).toBe('password: swordfish\n');

  await daemon.request('POST', `${state}/sops/rotate`, {});
  expect((await sops('decrypt', file)).stdout).toBe('password: swordfish\n');
  expect((await sops('rotate', '--in-place', file)).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('vault:v2:');
  expect((await sops('decrypt', file)).stdout).toBe('password: swordfish\n');

  // Without upsert nothing is made for a name that nobody has made a key for.
  writeFileSync(at('sops', 'other.yaml'), 'a: b\n');
  const absent = await sops('encrypt', '--hc-vault-transit', `${daemon.url}/v1/transit/keys/absent`, at('sops', 'other.yaml'));
  expect(absent.code).not.toBe(0);
  expect(absent.output).toContain('403');
});

test.skipIf(noCosign !== '')(`cosign ${programs.cosign.version} makes a key, signs and verifies${noCosign}`, async () => {
  const environment = await environmentFor('cosign', [
    { path: '/v1/config/keystore/transit-keys', operations: { create: 'allow' } },
    { path: `${state}/cosign`, operations: { read: 'allow' } },
    ...may('cosign', 'sign', 'verify'),
  ]);
  const cosign = (...args: readonly string[]) => run(fileOf('cosign'), args, { cwd: at('cosign'), environment });
  const made = await cosign('generate-key-pair', '--kms', 'hashivault://cosign');
  expect(made.code, made.output).toBe(0);
  writeFileSync(at('cosign', 'artifact'), 'released');
  writeFileSync(at('cosign', 'other'), 'changed');
  const offline = ['--use-signing-config=false', '--tlog-upload=false', '--new-bundle-format=false', '--yes'];
  const signed = await cosign('sign-blob', '--key', 'hashivault://cosign', ...offline, '--output-signature', 'signature', 'artifact');
  expect(signed.code, signed.output).toBe(0);
  const verified = async (key: string, file: string): Promise<boolean> => {
    const with_ = ['--key', key, '--insecure-ignore-tlog', '--signature', 'signature', '--new-bundle-format=false'];
    const { code, output } = await cosign('verify-blob', ...with_, file);
    expect(output).toMatch(code === 0 ? /Verified OK/ : /invalid signature|error/i);
    return code === 0;
  };
  expect([await verified('cosign.pub', 'artifact'), await verified('cosign.pub', 'other')]).toEqual([true, false]);
  expect([await verified('hashivault://cosign', 'artifact'), await verified('hashivault://cosign', 'other')]).toEqual([true, false]);
  expect((await cosign('public-key', '--key', 'hashivault://cosign')).stdout).toBe(readFileSync(at('cosign', 'cosign.pub'), 'utf8'));
});

/** The configuration of a server whose CA is certified by ours. */
function spireConfiguration(directory: string, port: number, { role, secret }: Readonly<Record<'role' | 'secret', string>>): string {
  return `server {
  bind_address = "127.0.0.1"
  bind_port = ${port}
  socket_path = "${directory}/api.sock"
  trust_domain = "example.org"
  data_dir = "${directory}"
  ca_ttl = "24h"
  default_x509_svid_ttl = "1h"
}
plugins {
  DataStore "sql" { plugin_data { database_type = "sqlite3" connection_string = "${directory}/datastore.sqlite3" } }
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "join_token" { plugin_data {} }
  UpstreamAuthority "vault" {
    plugin_data {
      vault_addr = "${daemon.url}"
      ca_cert_path = "${at('ca.pem')}"
      pki_mount_point = "pki"
      approle_auth { approle_auth_mount_point = "approle" approle_id = "${role}" approle_secret_id = "${secret}" }
    }
  }
}
`;
}

test.skipIf(noSpire !== '')(`a SPIRE server ${programs['spire-server'].version} has its CA certified by ours${noSpire}`, async () => {
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'upstream', est: { 'allowed-domains': ['example.org'] } });
  const rules = ['sign-csr', 'certify-ca'].map((act) => ({
    path: `/v1/state/keystore/tls/ca/upstream/${act}`,
    operations: { execute: 'allow' },
  }));
  await environmentFor('spire', rules);
  await daemon.request('POST', `/v1/config/${approles}`, { name: 'spire', 'token-policies': ['spire'], 'token-ttl': '1h' });
  const { 'role-id': role } = (await daemon.request('GET', `/v1/state/${approles}/spire`)) as { 'role-id': string };
  const made = await daemon.request('POST', `/v1/state/${approles}/spire/generate-secret-id`, {});
  const { 'secret-id': secret } = made as { 'secret-id': string };
  writeFileSync(at('spire.conf'), spireConfiguration(at('spire'), await freePort(), { role, secret }));
  const server: ChildProcess = spawn(fileOf('spire-server'), ['run', '-config', at('spire.conf')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  endWithTests(server);
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const socket = ['-socketPath', at('spire', 'api.sock')];
  await expect.poll(async () => (await run(fileOf('spire-server'), ['healthcheck', ...socket])).code, { message: said }).toBe(0);

  const minted = await run(fileOf('spire-server'), [
    'x509',
    'mint',
    ...socket,
    '-spiffeID',
    'spiffe://example.org/shop',
    '-write',
    at('spire'),
  ]);
  expect(minted.code, `${minted.output}\n${said}`).toBe(0);
  const pem = readFileSync(at('spire', 'svid.pem'), 'utf8');
  const [leaf, middle] = (pem.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g) ?? []).map((one) => new X509Certificate(one));
  const root = new X509Certificate(readFileSync(at('spire', 'bundle.pem')));
  expect(leaf?.subjectAltName).toBe('URI:spiffe://example.org/shop');
  expect([middle, leaf].every((one) => one !== undefined)).toBe(true);
  expect([leaf?.verify((middle as X509Certificate).publicKey), middle?.verify(root.publicKey), middle?.ca]).toEqual([true, true, true]);
  const ours = await daemon.exchange('GET', '/v1/pki/ca/pem', undefined, '');
  expect(new X509Certificate(ours.text).fingerprint256).toBe(root.fingerprint256);
  server.kill('SIGTERM');
});
