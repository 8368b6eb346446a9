// Planted secrets of every kind go through the real daemon; afterwards none is in its logs, audit trail, store, backup or output, nor in the
// store as it is in the memory of any process.
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { systemClock } from '../../../core/base/time.ts';
import { basic, pkcs10, send } from '../../plugins/est/client.ts';
import { makeDeviceCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { Browser } from '../../plugins/oidc/harness.ts';
import { startScriptedProvider } from '../../plugins/oidc/scripted-provider.ts';
import { childrenOf, filesBelow, found, mappedStore, needlesOf, type Needle } from '../../harness/token/canaries.ts';
import { ask } from '../../harness/client.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const directory = path('data');
const backupFile = path('backup');
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';
const authentication = 'keystore/authentication';
const cas = '/v1/config/keystore/tls/ca';

type Fields = Readonly<Record<string, unknown>>;
type Secrets = readonly (readonly [what: string, secret: string | Buffer])[];

let needles: readonly Needle[];
let pins: readonly Needle[];
let mapped: readonly Buffer[];
let output: string;

beforeAll(async () => {
  const daemon = await startDaemon({ directory, workers: 2, args: ['--log-level', 'debug'] });
  const planted: Secrets = [
    ['root token', daemon.rootToken],
    ...(await plantInTransit(daemon)),
    ...(await plantInLogins(daemon)),
    ...(await plantInEnrolments(daemon)),
    ...(await plantInSignIn(daemon)),
    ...(await plantInBackup(daemon)),
    ...(await plantInRefusals(daemon)),
  ];
  pins = needlesOf(new Map(['pin', 'so-pin'].map((name) => [name, readFileSync(join(directory, name), 'utf8').trim()])));
  needles = needlesOf(new Map(planted));
  mapped = childrenOf(daemon.pid).flatMap(mappedStore);
  await sealAndUnseal(daemon);
  mapped = [...mapped, ...childrenOf(daemon.pid).flatMap(mappedStore)];
  expect(await daemon.stop()).toBe(0);
  output = daemon.output();
});

test('the search would find them: what is not hidden is found, and every kind was planted', () => {
  expect(needles.length).toBeGreaterThan(250);
  // Two workers, before and after the seal.
  expect(mapped.length).toBeGreaterThanOrEqual(4);
  for (const octets of mapped) expect(octets.includes('signer')).toBe(true);
  const trail = filesBelow(join(directory, 'audit')).map((file) => readFileSync(file));
  expect(trail.some((octets) => octets.includes('transit-keys/signer/import'))).toBe(true);
  expect(trail.some((octets) => octets.includes('/simpleenroll'))).toBe(true);
  expect(trail.some((octets) => octets.includes('"user":"eve"'))).toBe(true);
  expect(found(readFileSync(join(directory, 'root-token')), needles)).toEqual(['root token (as it is)']);
  expect(found(readFileSync(join(directory, 'pin')), pins)).toEqual(['pin (as it is)']);
});

test('no file of the appliance holds one, but for those whose purpose it is', () => {
  const keepers = new Set(['root-token', 'pin', 'so-pin'].map((name) => join(directory, name)));
  const files = [...filesBelow(directory), backupFile].filter((file) => !keepers.has(file));
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) expect([file, found(readFileSync(file), [...needles, ...pins])]).toEqual([file, []]);
  // Nor a key that nobody planted: that of the listeners, say.
  for (const file of files) expect([file, readFileSync(file).includes('PRIVATE KEY-----')]).toEqual([file, false]);
});

test('the store in the memory of the workers holds none', () => {
  for (const octets of mapped) {
    expect(found(octets, [...needles, ...pins])).toEqual([]);
    expect(octets.includes('PRIVATE KEY-----')).toBe(false);
  }
});

test('the daemon has told none on its terminal', () => {
  expect(found(Buffer.from(output), [...needles, ...pins])).toEqual([]);
});

/** Payloads, contexts, imported and exported keys, backups. */
async function plantInTransit(daemon: Daemon): Promise<Secrets> {
  const post = async (where: string, body: Fields): Promise<Fields> => (await daemon.request('POST', where, body)) as Fields;
  const exportOf = async (name: string): Promise<string> => ((await post(`${actions}/${name}/export`, {}))['keys'] as Record<string, string>)['1'] ?? ''; // prettier-ignore
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  await post(keys, { name: 'plain', exportable: true, 'allow-plaintext-backup': true });
  await post(keys, { name: 'derived', derived: true });
  await post(keys, { name: 'signer', cipher: 'ecdsa-p256', exportable: true, 'openpgp-user-id': 'a <a@example.test>' });
  await post(keys, { name: 'rsa', cipher: 'rsa-2048', exportable: true });
  const { ciphertext } = await post(`${actions}/plain/encrypt`, { plaintext: base64('planted-plaintext-of-transit') });
  await post(`${actions}/plain/decrypt`, { ciphertext });
  await post(`${actions}/plain/rewrap`, { ciphertext });
  const bound = { context: 'planted-context-of-transit', 'associated-data': base64('planted-associated-data') };
  await post(`${actions}/derived/encrypt`, { plaintext: '', ...bound });
  await post(`${actions}/plain/hmac`, { plaintext: base64('planted-text-of-hmac') });
  await post(`${actions}/signer/sign`, { text: 'planted-text-of-sign', 'base64-encoded': false });
  await post(`${actions}/signer/openpgp-sign`, { text: 'planted-text-of-openpgp', 'base64-encoded': false });
  await post(`${actions}/plain/encrypt`, { 'batch-input': [{ plaintext: base64('planted-in-a-batch') }] });
  await post(`${actions}/plain/encrypt`, { plaintext: base64(`planted-in-a-large-body${'x'.repeat(600_000)}`) });
  const dataKey = await post(`${actions}/plain/generate-data-key`, { type: 'plaintext' });
  const [aes, scalar] = [await exportOf('plain'), scalarOf(await exportOf('signer'))];
  const backup = await post(`${actions}/plain/backup`, {});
  const pem = { privateKeyEncoding: { format: 'pem', type: 'pkcs8' }, publicKeyEncoding: { format: 'pem', type: 'spki' } } as const;
  const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem });
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048, ...pem });
  const symmetric = randomBytes(32);
  await daemon.request('POST', `${actions}/signer/import`, { data: ec });
  await daemon.request('POST', `${actions}/rsa/import`, { data: rsa });
  await daemon.request('POST', `${actions}/plain/import`, { data: symmetric.toString('base64') });
  const { d = '', p = '' } = createPrivateKey(rsa).export({ format: 'jwk' });
  return [
    ['plaintext', 'planted-plaintext-of-transit'],
    ['context', 'planted-context-of-transit'],
    ['associated data', 'planted-associated-data'],
    ['text of hmac', 'planted-text-of-hmac'],
    ['text of sign', 'planted-text-of-sign'],
    ['text of openpgp-sign', 'planted-text-of-openpgp'],
    ['batch item', 'planted-in-a-batch'],
    ['large body', 'planted-in-a-large-body'],
    ['data key', Buffer.from(String(dataKey['plaintext']), 'base64')],
    ['exported AES key', Buffer.from(aes, 'base64')],
    ['exported private scalar', scalar],
    ['imported private scalar', scalarOf(ec)],
    ['imported private exponent', Buffer.from(d, 'base64url').subarray(0, 64)],
    ['imported prime', Buffer.from(p, 'base64url')],
    ['imported AES key', symmetric],
    ['key material of a backup', Buffer.from(String(backup['key']), 'base64').subarray(60, 100)],
  ];
}

/** Tokens, secret-ids, right and wrong. */
async function plantInLogins(daemon: Daemon): Promise<Secrets> {
  const created = (await daemon.request('POST', '/v1/state/keystore/token/create', {})) as { token: string };
  await daemon.request('POST', `/v1/config/${authentication}/approles`, { name: 'robot', 'token-policies': ['user'] });
  const { 'role-id': roleId } = (await daemon.request('GET', `/v1/state/${authentication}/approles/robot`)) as Record<string, string>;
  const { 'secret-id': secretId = '' } = (await daemon.request(
    'POST',
    `/v1/state/${authentication}/approles/robot/generate-secret-id`,
    {},
  )) as Record<string, string>;
  const login = { 'role-id': roleId, 'secret-id': secretId };
  const { token } = (await daemon.request('POST', '/v1/approle-login', login)) as { token: string };
  await daemon.exchange('POST', '/v1/approle-login', { ...login, 'secret-id': 'planted-wrong-secret-id' });
  await daemon.exchange('POST', '/v1/approle-login', { 'role-id': 'planted-secret-as-role-id', 'secret-id': 'x' });
  await daemon.request('POST', '/v1/config/tenants', { name: 'tenant' });
  const root = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: 'tenant' })) as { token: string };
  await daemon.exchange('GET', '/v1/config/tenants', undefined, 'planted-unknown-token');
  await daemon.request('POST', '/v1/state/keystore/token/info', { token });
  return [
    ['created token', created.token],
    ['secret-id', secretId],
    ['token of a login', token],
    ['wrong secret-id', 'planted-wrong-secret-id'],
    ['secret given as role-id', 'planted-secret-as-role-id'],
    ['root token of a tenant', root.token],
    ['unknown token', 'planted-unknown-token'],
  ];
}

/** Shared secrets of EST: in documents, on creation and merge, and as the password of devices. */
async function plantInEnrolments(daemon: Daemon): Promise<Secrets> {
  const [first, second, wrong] = ['planted-enroll-secret-1', 'planted-enroll-secret-2', 'planted-wrong-enroll-secret'] as const;
  const est = (secret: string) => ({ est: { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['example.test'], 'allow-subdomains': true } }); // prettier-ignore
  await daemon.request('POST', cas, { name: 'ca', ...est(first) });
  await daemon.request('PATCH', `${cas}/ca`, est(second));
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string };
  const device = await makeKeys('P-256');
  const { body, headers } = pkcs10(await makeDeviceCsr(device, 'device.example.test'));
  const enrol = async (password: string): Promise<number> => {
    const all = { ...headers, Authorization: basic(password) };
    const options = { method: 'POST', ca: daemon.caPem, headers: all, ...defined({ body }) };
    return (await send(daemon.estUrl, `/.well-known/est/${uuid}/ca/simpleenroll`, options)).status;
  };
  expect([await enrol(second), await enrol(wrong)]).toEqual([200, 401]);
  return [first, second, wrong].map((secret) => [secret, secret]);
}

/** A person signs in at a provider: the client secret, what the provider hands out, what the browser gets, a claim nobody asked for. */
async function plantInSignIn(daemon: Daemon): Promise<Secrets> {
  const provider = await startScriptedProvider({ directory: path('provider'), clock: systemClock });
  try {
    const idTokens: string[] = [];
    provider.script = {
      accessToken: 'planted-access-token',
      person: { groups: ['staff'], email: 'eve', phone_number: 'planted-claim-of-a-person' },
      idToken(compact) {
        idTokens.push(compact);
        return compact;
      },
    };
    await daemon.request('POST', `/v1/config/${authentication}/oidc`, {
      name: 'corp',
      'discovery-url': `${provider.issuer}/.well-known/openid-configuration`,
      'use-root-ca-certs': false,
      'ca-certs': provider.ca,
      'client-id': provider.clientId,
      'client-secret': provider.clientSecret,
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': [`${daemon.url}/oidc-callback`],
    });
    const role = { 'token-policies': ['user'], 'claim-mappings': { email: 'username' } };
    await daemon.request('PUT', `/v1/config/${authentication}/oidc/corp/roles/staff`, role);
    const browser = new Browser((method, where, body, headers) => ask(daemon.url, where, { method, headers, body, ca: daemon.caPem }));
    const begun = await browser.start();
    const binding = [...browser.cookies.values()];
    const callback = new URL(provider.authorize(begun));
    const { status } = await browser.get(`${callback.pathname}${callback.search}`);
    expect([status, idTokens.length]).toEqual([303, 1]);
    // The name of the tenant, remembered for the next sign-in, is no secret.
    browser.cookies.delete('__Host-keystored-tenant');
    const cookies = [...new Set([...binding, ...browser.cookies.values()])].map((value, index) => [`cookie ${index}`, value] as const);
    expect(cookies.length).toBeGreaterThanOrEqual(2);
    return [
      ['client secret', provider.clientSecret],
      ['access token', 'planted-access-token'],
      ['claim', 'planted-claim-of-a-person'],
      ['signature of the ID token', idTokens[0]?.split('.')[2] ?? ''],
      ['authorization code', callback.searchParams.get('code') ?? ''],
      ['state', callback.searchParams.get('state') ?? ''],
      ['nonce', new URL(begun).searchParams.get('nonce') ?? ''],
      ...cookies,
    ];
  } finally {
    await provider.close();
  }
}

/** The passphrase of a backup, and the backup itself, which is searched like a file of the appliance. */
async function plantInBackup(daemon: Daemon): Promise<Secrets> {
  const passphrase = 'planted passphrase of a backup';
  const headers = { Authorization: `Bearer ${daemon.rootToken}`, 'Content-Type': 'application/json' };
  const options = { method: 'POST', ca: daemon.caPem, headers, body: JSON.stringify({ passphrase }) };
  const { status, body } = await send(daemon.url, '/v1/state/system/backup', options);
  expect(status).toBe(200);
  writeFileSync(backupFile, body);
  return [['passphrase', passphrase]];
}

/** Secrets where they do not belong: misspelt fields, wrong types, paths, queries, headers of refused requests. */
async function plantInRefusals(daemon: Daemon): Promise<Secrets> {
  for (const [where, body] of [
    [`${actions}/plain/encrypt`, { plaintxt: 'planted-misspelt' }],
    [`${actions}/plain/encrypt`, { plaintext: { deep: 'planted-wrong-type' } }],
    [`${actions}/nowhere/encrypt`, { plaintext: 'planted-for-nobody' }],
    ['/v1/state/system/backup', { passphrase: 'planted-passphrase', unknown: 1 }],
    ['/v1/state/keystore/system/unseal', { pin: 'planted-wrong-pin' }],
    ['/v1/config/tenants?token=planted-in-a-query', {}],
    ['/v1/planted-in-a-path', {}],
  ] as const) {
    await daemon.exchange('POST', where, body);
  }
  const headers = { Authorization: basic('planted-password-of-basic'), Cookie: 'session=planted-unknown-cookie' };
  await send(daemon.url, '/v1/config/tenants', { ca: daemon.caPem, headers });
  const names = ['misspelt', 'wrong-type', 'for-nobody', 'passphrase', 'wrong-pin', 'in-a-query', 'in-a-path', 'password-of-basic', 'unknown-cookie']; // prettier-ignore
  return names.map((name) => [`planted-${name}`, `planted-${name}`]);
}

/** The PIN goes over the wire. */
async function sealAndUnseal(daemon: Daemon): Promise<void> {
  await daemon.request('POST', '/v1/state/keystore/system/seal', {});
  const health = async (): Promise<number> => (await daemon.exchange('GET', '/v1/state/system/health').catch(() => ({ status: 0 }))).status;
  await vi.waitFor(async () => expect(await health()).toBe(503), 60_000);
  const pin = readFileSync(join(directory, 'pin'), 'utf8').trim();
  await vi.waitFor(
    async () => expect((await daemon.exchange('POST', '/v1/state/keystore/system/unseal', { pin })).status).toBeLessThan(300),
    60_000,
  );
  await vi.waitFor(async () => expect(await health()).toBe(200), 60_000);
  await daemon.request('POST', `${actions}/plain/encrypt`, { plaintext: '' });
}

/** The private number of a P-256 key in PKCS#8. */
function scalarOf(pem: string): Buffer {
  return Buffer.from(createPrivateKey(pem).export({ format: 'jwk' }).d ?? '', 'base64url');
}
