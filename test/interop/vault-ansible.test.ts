// Ansible's collection for Vault, community.hashi_vault, against a running appliance: a playbook with its modules and lookups, by an approle.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must, requireToolchain, toolDirectory } from '../clients/commands.ts';
import { virtualEnvironment } from '../clients/virtual-environment.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const at = temporaryDirectory();
const here = join(import.meta.dirname, 'vault/ansible');
const approles = 'keystore/authentication/approles';
const noPython = await requireToolchain('python3').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);
let daemon: Daemon;

const may = (path: string, ...operations: readonly string[]) => ({
  path,
  operations: Object.fromEntries(operations.map((operation) => [operation, 'allow'])),
});
const keys = 'keystore/transit-keys';
const rules = [
  may(`/v1/config/${keys}`, 'create', 'read'),
  may(`/v1/config/${keys}/ansible`, 'update'),
  ...['ansible', 'ansible-ecdsa'].map((name) => may(`/v1/state/${keys}/${name}/*`, 'execute')),
  may(`/v1/state/${keys}/*`, 'read'),
  may('/v1/state/keystore/crypto-functions/random-bytes', 'execute'),
  may('/v1/state/keystore/hand-over/create', 'execute'),
  ...['sign-csr', 'issue'].map((act) => may(`/v1/state/keystore/tls/ca/web/${act}`, 'execute')),
];

beforeAll(async () => {
  writeFileSync(at('keystored.yaml'), 'vault:\n  tenants: { system: {} }\n');
  daemon = await startDaemon({ directory: at('data'), args: ['--config', at('keystored.yaml')] });
  writeFileSync(at('ca.pem'), daemon.caPem);
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'ansible', 'rest-api': { rules } });
  const est = {
    'allowed-domains': ['example.test'],
    'allow-subdomains': true,
    'allow-ip-sans': true,
    'allowed-uris': ['spiffe://example.test/*'],
  };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'web', est });
});
afterAll(() => daemon?.stop());

/** Installs Ansible, and of the package that carries all collections that of Vault; answers where both are. */
async function obtainAnsible(): Promise<{ readonly bin: string; readonly collections: string }> {
  const bin = await virtualEnvironment('vault-ansible', [], ['ansible-core', 'hvac'], here);
  const collections = toolDirectory('vault-ansible', 'collections');
  if (existsSync(join(collections, 'ansible_collections/community/hashi_vault/MANIFEST.json'))) return { bin, collections };
  const pip = [
    '-m',
    'pip',
    'download',
    '--quiet',
    '--no-deps',
    '--constraint',
    join(here, 'constraints.txt'),
    '--dest',
    at('wheel'),
    'ansible',
  ];
  await must(join(bin, 'python3'), pip);
  const unpack = `import glob, zipfile
with zipfile.ZipFile(glob.glob(${JSON.stringify(at('wheel', '*.whl'))})[0]) as wheel:
    wheel.extractall(${JSON.stringify(collections)}, [name for name in wheel.namelist() if name.startswith("ansible_collections/community/hashi_vault/")])`;
  await must(join(bin, 'python3'), ['-c', unpack]);
  return { bin, collections };
}

async function environmentFor(name: string): Promise<Record<string, string>> {
  await daemon.request('POST', `/v1/config/${approles}`, { name, 'token-policies': [name], 'token-ttl': '1h' });
  const role = (await daemon.request('GET', `/v1/state/${approles}/${name}`)) as { 'role-id': string };
  const secret = (await daemon.request('POST', `/v1/state/${approles}/${name}/generate-secret-id`, {})) as { 'secret-id': string };
  return { VAULT_ADDR: daemon.url, VAULT_CACERT: at('ca.pem'), ROLE_ID: role['role-id'], SECRET_ID: secret['secret-id'] };
}

type Issued = Readonly<Record<'certificate' | 'private_key' | 'private_key_type' | 'issuing_ca', string>> & { readonly ca_chain: string[] };

test.skipIf(noPython !== '')(`a playbook reads, writes, encrypts, signs and has certificates made${noPython}`, async () => {
  const { bin, collections } = await obtainAnsible();
  mkdirSync(at('home'));
  const ansible = { ANSIBLE_COLLECTIONS_PATH: collections, ANSIBLE_LOCALHOST_WARNING: 'false', ANSIBLE_NOCOLOR: '1', HOME: at('home') };
  const environment = { ...(await environmentFor('ansible')), ...ansible, REPORT: at('report.json') };
  const played = await must(join(bin, 'ansible-playbook'), ['-i', 'localhost,', join(here, 'playbook.yaml')], { environment });
  expect(played.stdout).toMatch(/failed=0 .* ignored=5/);
  const { issued, bundle, ...report } = JSON.parse(readFileSync(at('report.json'), 'utf8')) as Record<string, unknown>;
  expect(report).toEqual({
    login: ['service', 'ansible', 'ansible'],
    wrong: expect.stringContaining('invalid role or secret ID'),
    read: ['aes256-gcm96', 1],
    absent: "The path 'transit/keys/absent' doesn't seem to exist.",
    list: ['ansible', 'ansible-ecdsa'],
    prefixes: ['vault:v1:', 'vault:v2:'],
    opened: 'first',
    verified: [true, false],
    forbidden: "Forbidden: Permission Denied to path 'auth/approle/role/other/secret-id'.",
    too_old: expect.stringContaining('ciphertext or signature version is disallowed by policy (too old)'),
    unwrapped: { a: 1 },
    other_name: expect.stringContaining('a common name is not within allowed-domains'),
    lookups: { read: 2, list: ['ansible', 'ansible-ecdsa'], write: 16 },
  });
  const { certificate, private_key: key, private_key_type: kind, issuing_ca: ca, ca_chain: chain } = issued as Issued;
  const leaf = new X509Certificate(certificate);
  expect([kind, key.includes('BEGIN EC PRIVATE KEY'), chain, leaf.verify(new X509Certificate(ca).publicKey)]).toEqual([
    'ec',
    true,
    [ca],
    true,
  ]);
  expect(leaf.subjectAltName).toBe(
    'DNS:a.example.test, DNS:b.example.test, DNS:c.example.test, IP Address:10.1.2.3, URI:spiffe://example.test/shop',
  );
  expect(leaf.validToDate.getTime() - Date.now()).toBeLessThan(2 * 3_600_000 + 1);
  const pem = bundle as Issued;
  expect([pem.private_key.includes('BEGIN PRIVATE KEY'), pem.certificate.startsWith(pem.private_key)]).toEqual([true, true]);
});
