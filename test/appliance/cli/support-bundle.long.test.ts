// The support bundle of a real daemon: what is in it, and that none of the secrets planted everywhere is, in any encoding.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { withoutSecrets } from '../../../appliance/cli/support/without-secrets.ts';
import { ctlFor, type Ctl } from './run.ts';

const path = temporaryDirectory();
const secrets = new Map<string, string | Buffer>();
let daemon: Daemon;
let ctl: Ctl;

/** A fresh secret under a name that a failure shows. */
function plant(name: string): string {
  const secret = `${name}-${randomBytes(12).toString('hex')}`;
  secrets.set(name, secret);
  return secret;
}

/** A secret that was answered. */
function keep(name: string, secret: unknown): string {
  if (typeof secret !== 'string' || secret.length < 8) throw new Error(`${name} is no secret`);
  secrets.set(name, secret);
  return secret;
}

/** Every form in which a text could hold a secret; base64 at each of the three places where it can begin. */
function formsOf(secret: string | Buffer): readonly string[] {
  const octets = Buffer.from(secret);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), octets])
      .toString('base64')
      .replace(/=+$/, '');
    const inner = text.slice(Math.ceil((offset * 8) / 6), -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = octets.toString('hex');
  const text = octets.toString();
  return [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), hex, hex.toUpperCase(), octets.toString('utf16le'), ...base64];
}

function found(content: Buffer): readonly string[] {
  const text = content.toString('latin1');
  return [...secrets]
    .filter(([, secret]) => formsOf(secret).some((form) => text.includes(Buffer.from(form).toString('latin1'))))
    .map(([name]) => name);
}

beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data') });
  mkdirSync(path('home'));
  ctl = ctlFor(daemon, daemon.caPem, path('home'));
});
afterAll(async () => {
  await daemon?.stop();
});

/** A secret of every kind that the API takes or answers, also where it does not belong: requests that are refused, log lines about them. */
async function plantEverywhere(): Promise<void> {
  for (const file of ['root-token', 'pin', 'so-pin']) keep(file, readFileSync(path('data', file), 'utf8').trim());
  const state = '/v1/state/keystore';
  const keys = `${state}/transit-keys`;
  const post = async (target: string, body: object): Promise<Record<string, unknown>> =>
    ((await daemon.request('POST', target, body)) ?? {}) as Record<string, unknown>;
  const redirect = ['https://localhost:4646/oidc-callback'];
  await post('/v1/config/keystore/authentication/oidc', {
    name: 'work',
    'discovery-url': 'https://127.0.0.1:1/.well-known/openid-configuration',
    'client-id': 'keystore',
    'client-secret': plant('client-secret'),
    'role-select': { 'role-claim': 'groups' },
    'allowed-redirect-uris': redirect,
  });
  await post('/v1/config/keystore/tls/ca', {
    name: 'plant',
    est: { enabled: true, 'initial-enroll-secret': plant('enroll-secret'), 'allowed-domains': ['a.example'] },
  });
  await post('/v1/config/keystore/authentication/approles', { name: 'shop', 'token-policies': ['user'] });
  const { 'secret-id': secretId } = await post(`${state}/authentication/approles/shop/generate-secret-id`, {});
  const { 'role-id': roleId } = (await daemon.request('GET', `${state}/authentication/approles/shop`)) as Record<string, unknown>;
  keep('login token', (await post('/v1/approle-login', { 'role-id': roleId, 'secret-id': keep('secret-id', secretId) }))['token']);
  keep('child token', (await post(`${state}/token/create`, { ttl: '1h' }))['token']);
  await post('/v1/config/tenants', { name: 'branch' });
  keep('tenant root token', (await post(`${state}/token/create-root`, { name: 'branch' }))['token']);
  await post('/v1/config/keystore/transit-keys', { name: 'orders', exportable: true, 'allow-plaintext-backup': true });
  const plaintext = Buffer.from(plant('plaintext')).toString('base64');
  const { ciphertext } = await post(`${keys}/orders/encrypt`, { plaintext });
  await post(`${keys}/orders/decrypt`, { ciphertext });
  const exported = JSON.stringify(await post(`${keys}/orders/export`, {}));
  const [, material = ''] = /"([A-Za-z0-9+/]{43}=)"/.exec(exported) ?? [];
  secrets.set('key material', Buffer.from(keep('exported key', material), 'base64'));
  keep('plaintext backup', (await post(`${keys}/orders/backup`, {}))['key']);
  keep('data key', (await post(`${keys}/orders/generate-data-key`, { type: 'plaintext' }))['plaintext']);
  await post('/v1/config/keystore/transit-keys', { name: 'imported', cipher: 'ecdsa-p256' });
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  await post(`${keys}/imported/import`, { data: privateKey });
  keep('imported key', privateKey.split('\n').slice(1, -2).join('').slice(40, 140));
  await post('/v1/state/system/backup', { passphrase: plant('backup-passphrase') }).catch(() => undefined);

  // Where a secret does not belong: names of fields, paths, queries, broken bodies, headers.
  for (const request of [
    ['POST', `${keys}/orders/encrypt`, { [plant('field-name')]: 1 }],
    ['POST', `${keys}/orders/encrypt`, `{"plaintext": "${plant('broken-json')}`],
    ['GET', `${keys}/orders?token=${plant('query')}`],
    ['POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': plant('wrong-secret-id') }],
    ['POST', `${state}/token/info`, { token: plant('asked-token') }],
    ['POST', `${state}/system/unseal`, { pin: plant('unseal-pin') }],
    ['POST', `${keys}/imported/import`, { data: `-----BEGIN PRIVATE KEY-----\n${plant('broken-pem')}\n-----END PRIVATE KEY-----\n` }],
  ] as const)
    await daemon.exchange(request[0], request[1], request[2]);
  await daemon.exchange('GET', '/v1/config/tenants', undefined, plant('bearer'));
}

test('has what helps, readable by its owner alone, and none of the secrets', async () => {
  await plantEverywhere();
  const made = await ctl(['support-bundle', '--out', path('bundle.tgz'), '--data-dir', path('data')]);
  expect(made).toMatchObject({ code: 0, stdout: '' });
  expect(statSync(path('bundle.tgz')).mode & 0o777).toBe(0o600);
  mkdirSync(path('unpacked'));
  execFileSync('tar', ['-xzf', path('bundle.tgz'), '-C', path('unpacked')]);
  const read = (name: string): string => readFileSync(path('unpacked', name), 'utf8');
  expect(readdirSync(path('unpacked')).sort()).toEqual([
    'audit-trail.json',
    'check.txt',
    'configuration.yaml',
    'health.json',
    'hsm.json',
    'logs.jsonl',
    'manifest.json',
    'metrics.txt',
    'versions.json',
  ]);
  expect(JSON.parse(read('health.json'))).toHaveProperty('status');
  expect(JSON.parse(read('hsm.json')).tokens[0]).toMatchObject({ state: 'up' });
  expect(JSON.parse(read('audit-trail.json')).heads).not.toEqual([]);
  expect(JSON.parse(read('manifest.json')).missing).toEqual([]);
  expect(read('configuration.yaml')).toContain('name: orders\n');
  expect(read('metrics.txt')).toContain('# TYPE ');
  expect(read('logs.jsonl')).toContain('is up');

  expect(secrets.size).toBeGreaterThan(20);
  const archive = gunzipSync(readFileSync(path('bundle.tgz')));
  expect(found(archive)).toEqual([]);
  // The search finds each of them where they are.
  for (const [name, secret] of secrets) for (const form of formsOf(secret)) expect(found(Buffer.from(`x${form}x`)), name).toContain(name);
});

test('replaces no file unless told to, and says what it may not read', async () => {
  expect(await ctl(['support-bundle', '--out', path('bundle.tgz')])).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
  const { token } = await ctl.json('do', 'token', 'create', '--policies', 'default');
  const partial = await ctl(['support-bundle', '--out', path('partial.tgz')], { environment: { KEYSTORED_TOKEN: token } });
  expect(partial).toMatchObject({ code: 0, stderr: expect.stringMatching(/hsm\.json is left out: 403/) });
  expect(gunzipSync(readFileSync(path('partial.tgz'))).includes(token)).toBe(false);
  expect((await ctl(['support-bundle', '--out', path('x.tgz'), '--logs', '0'])).code).toBe(1);
  expect((await ctl(['support-bundle', '--out', path('absent', 'x.tgz')])).code).toBe(1);
});

test('is made of a stopped appliance from its data directory, with the result of the check', async () => {
  await daemon.stop();
  const made = await ctl(['support-bundle', '--out', path('stopped.tgz'), '--data-dir', path('data')]);
  expect(made).toMatchObject({ code: 0 });
  const archive = gunzipSync(readFileSync(path('stopped.tgz')));
  expect(archive.toString()).toMatch(/every invariant holds\n[^]*exit code 0\n/);
  expect(found(archive)).toEqual([]);
});

test('the last guard removes private keys, credentials of headers and what this machine knows as secret', () => {
  mkdirSync(path('guarded'));
  writeFileSync(join(path('guarded'), 'pin'), 'guarded-pin\n');
  const clean = withoutSecrets('guarded-token', path('guarded'));
  for (const form of [...formsOf('guarded-token').slice(0, 5), ...formsOf('guarded-pin').slice(0, 5)])
    expect(clean(`a ${form} b`)).toBe('a [removed] b');
  expect(clean('x\n-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\ny')).toBe('x\n[removed]\ny');
  expect(clean('-----BEGIN PRIVATE KEY-----\ncut off')).toBe('[removed]');
  expect(clean('Authorization: Bearer f81d4fae-7dec')).toBe('Authorization: Bearer [removed]');
  expect(clean('-----BEGIN CERTIFICATE-----\nabc')).toBe('-----BEGIN CERTIFICATE-----\nabc');
});
