// Writes the golden appliance of a version: node test/upgrade/make-golden-appliance.ts SOURCES NAME. SOURCES: a checkout of that version with
// its packages. Asks only for what the first version had already.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { makeDeviceCsr, makeKeys } from '../plugins/ca/pki.ts';
import { type GoldenAppliance, type GoldenUse, goldenVersions, packGolden } from './golden-appliance.ts';
import { goldenText } from './golden-keys.ts';

const [sources, name] = process.argv.slice(2);
if (sources === undefined || name === undefined) throw new Error('usage: node test/upgrade/make-golden-appliance.ts SOURCES NAME');
if (goldenVersions.includes(name)) throw new Error(`${name} is there`);
const passphrase = 'the passphrase of the golden backup';
const config = '/v1/config/keystore';
const state = '/v1/state/keystore';

type Sort = 'seals' | 'signs' | 'certifies';

/** By name. */
const keys: Readonly<Record<string, { readonly sort: Sort } & Readonly<Record<string, unknown>>>> = {
  sealing: { sort: 'seals' },
  trimmed: { sort: 'seals' },
  held: { sort: 'seals', custody: 'token' },
  derived: { sort: 'seals', derived: true, 'convergent-encryption': true },
  ecdsa: { sort: 'signs', cipher: 'ecdsa-p384' },
  'held-ecdsa': { sort: 'signs', cipher: 'ecdsa-p256', custody: 'token' },
  ed25519: { sort: 'signs', cipher: 'ed25519' },
  archive: { sort: 'certifies', cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.test>' },
  build: { sort: 'certifies', cipher: 'ed25519', 'openpgp-primary': 'archive', 'openpgp-key-usage': ['sign'] },
};

type Act = (key: string, action: string, body: object) => Promise<Record<string, string>>;

/** What the newest version of a key makes, and what it must give for ever. */
const uses: Readonly<Record<Sort, (key: string, act: Act) => Promise<readonly GoldenUse[]>>> = {
  async seals(key, act) {
    const derivation = key === 'derived' ? { context: 'golden' } : {};
    const { ciphertext } = await act(key, 'encrypt', { plaintext: goldenText, ...derivation });
    const { hmac } = await act(key, 'hmac', { plaintext: goldenText });
    return [
      { key, action: 'decrypt', request: { ciphertext, ...derivation }, answer: { plaintext: goldenText } },
      { key, action: 'verify', request: { text: goldenText, hmac }, answer: { valid: true } },
    ];
  },
  async signs(key, act) {
    const { signature } = await act(key, 'sign', { text: goldenText });
    return [{ key, action: 'verify', request: { text: goldenText, signature }, answer: { valid: true } }];
  },
  async certifies(key, act) {
    const { signature } = await act(key, 'openpgp-sign', { text: goldenText });
    return [{ key, action: 'openpgp-verify', request: { text: goldenText, signature }, answer: { valid: true } }];
  },
};

const directory = mkdtempSync(join(tmpdir(), 'keystored-golden-'));
try {
  const program = resolve(sources, 'appliance/keystored.ts');
  const daemon = await startDaemon({ directory: join(directory, 'data'), firstStart: true, program });
  try {
    writeFileSync(join(directory, 'golden.json'), JSON.stringify(await makeGolden(daemon)));
    writeFileSync(join(directory, 'backup'), await takeBackup(daemon));
  } finally {
    await daemon.stop();
  }
  rmSync(join(directory, 'data/logs'), { recursive: true, force: true });
  packGolden(directory, join(import.meta.dirname, 'appliances', `${name}.tar.gz`));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function makeGolden(daemon: Daemon): Promise<GoldenAppliance> {
  const post = async (path: string, body: object = {}, token?: string): Promise<Record<string, string>> =>
    (await daemon.request('POST', path, body, token)) as Record<string, string>;
  const act = (key: string, action: string, body: object = {}, token?: string) => post(`${state}/transit-keys/${key}/${action}`, body, token);
  const { tenantToken, liveToken, endedToken, login } = await makeIdentities(daemon, post);
  const made: GoldenUse[] = [];
  for (const [key, { sort, ...fields }] of Object.entries(keys)) {
    await post(`${config}/transit-keys`, { name: key, ...fields, 'deletion-allowed': true });
    for (let version = 1; version <= 3; version++) {
      if (version > 1) await act(key, 'rotate');
      made.push(...(await uses[sort](key, act)));
    }
  }
  await act('trimmed', 'trim', { version: 2 });
  await post(`${config}/transit-keys`, { name: 'of-shop' }, tenantToken);
  const ofShop = await uses.seals('of-shop', (key, action, body) => act(key, action, body, tenantToken));
  made.push(...ofShop.map((use) => ({ ...use, ofShop: true as const })));
  await makeCertificates(post);
  const read = async (paths: readonly string[]): Promise<Record<string, unknown>> =>
    Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await daemon.request('GET', path)] as const)));
  return {
    ...{ passphrase, rootToken: daemon.rootToken, tenantToken, liveToken, endedToken, login, caPem: daemon.caPem },
    documents: await read([
      ...Object.keys(keys).map((key) => `${config}/transit-keys/${key}`),
      ...['/v1/config/policy/policies/reader', '/v1/config/tenants/shop', `${config}/authentication/approles/app`],
      ...[`${config}/authentication/oidc/people`, `${config}/tls/ca/root`, `${config}/tls/ca/issuer`, `${config}/tls/ca/appliance`],
    ]),
    states: await read([`${state}/tls/ca/issuer/certificates`]),
    uses: made.filter(({ key, request }) => key !== 'trimmed' || !JSON.stringify(request).includes(':v1:')),
  };
}

type Post = (path: string, body?: object, token?: string) => Promise<Record<string, string>>;

type Identities = Pick<GoldenAppliance, 'tenantToken' | 'liveToken' | 'endedToken' | 'login'>;

async function makeIdentities(daemon: Daemon, post: Post): Promise<Identities> {
  const rules = [{ path: '/v1/state/keystore/transit-keys/*', operations: { read: 'allow' } }];
  await post('/v1/config/policy/policies', { name: 'reader', 'rest-api': { rules } });
  await post('/v1/config/tenants', { name: 'shop', 'descriptive-name': 'The shop' });
  const { token: tenantToken = '' } = await post(`${state}/token/create-root`, { name: 'shop' });
  const { token: liveToken = '' } = await post(`${state}/token/create`, { policies: ['root'], ttl: '20y' });
  const { token: endedToken = '', accessor } = await post(`${state}/token/create`, { policies: ['root'], ttl: '20y' });
  await post(`${state}/token/disable`, { accessor });
  await post(`${config}/authentication/approles`, { name: 'app', 'token-policies': ['reader'] });
  const { 'role-id': roleId } = (await daemon.request('GET', `${state}/authentication/approles/app`)) as { 'role-id': string };
  const { 'secret-id': secretId = '' } = await post(`${state}/authentication/approles/app/generate-secret-id`);
  await post(`${config}/authentication/oidc`, {
    name: 'people',
    'discovery-url': 'https://idp.example/.well-known/openid-configuration',
    ...{ 'client-id': 'golden', 'client-secret': 'golden-client-secret', 'role-select': { 'role-claim': 'groups' } },
    'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
  });
  // Under way, and forgotten ten minutes later: a migration of an earlier version's records finds them.
  for (let count = 0; count < 3; count++) await post('/v1/oidc-login', { tenant: 'system', service: 'people' });
  return { tenantToken, liveToken, endedToken, login: { 'role-id': roleId, 'secret-id': secretId } };
}

/** Two certificates of an intermediate, one of them revoked. */
async function makeCertificates(post: Post): Promise<void> {
  await post(`${config}/tls/ca`, { name: 'root', ttl: '50y' });
  const est = { enabled: true, 'initial-enroll-secret': 'golden enrolment secret', 'allowed-domains': ['example.test'], ttl: '20y' };
  await post(`${config}/tls/ca`, { name: 'issuer', 'issuing-ca': 'root', ttl: '50y', est });
  const csr = (await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test')).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${csr}\n-----END CERTIFICATE REQUEST-----\n`;
  const issue = () => post(`${state}/tls/ca/issuer/sign-csr`, { csr: pem, ttl: '20y' });
  const [{ serial }] = [await issue(), await issue()] as const;
  await post(`${state}/tls/ca/issuer/revoke`, { serial, reason: 'superseded' });
}

async function takeBackup({ url, rootToken: token, caPem: ca }: Daemon): Promise<Buffer> {
  const { status, octets, text } = await ask(url, '/v1/state/system/backup', { method: 'POST', body: { passphrase }, token, ca });
  if (status !== 200) throw new Error(`the backup was answered ${status} ${text}`);
  return octets;
}
