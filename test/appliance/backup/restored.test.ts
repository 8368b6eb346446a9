// What a restored appliance says of itself, and what ends again what was taken away since the backup. Each test goes on with what the one before
// has left.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../harness/client.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor } from '../cli/run.ts';
import { makeCsr, makeKeys, x509 } from '../../plugins/ca/pki.ts';

const path = temporaryDirectory();
const [config, ca, state] = ['/v1/config/keystore/tls/ca', '/v1/state/keystore/tls/ca/devices', '/v1/state/system'];
const [passphrase, created] = ['a passphrase of some length', '/v1/state/keystore/token/create'];
const bytes = '/v1/state/keystore/crypto-functions/random-bytes';

let before: Daemon;
let after: Daemon;
let backup: Buffer;
/** the list that somebody has kept: of what was revoked after the backup */
let kept: Uint8Array<ArrayBuffer>;
/** issued before the backup, and after it; both revoked after it */
let serials: readonly string[];
/** ended after the backup, as the use of the secret-id */
let ended: string;
let endedRoot: string;
let plantToken: string;
let approle: { readonly 'role-id': string; readonly 'secret-id': string };

const crlOf = async (daemon: Daemon): Promise<Uint8Array<ArrayBuffer>> => {
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string };
  return new Uint8Array((await ask(daemon.url, `/v1/ca/${uuid}/devices/crl`, { ca: daemon.caPem })).octets);
};
const numberOf = (crl: Uint8Array<ArrayBuffer>): bigint => {
  const [{ value } = { value: new ArrayBuffer() }] = new x509.X509Crl(crl).extensions.filter(({ type }) => type === '2.5.29.20');
  return BigInt(`0x${Buffer.from(value).subarray(2).toString('hex')}`);
};
const serialsIn = (crl: Uint8Array<ArrayBuffer>): readonly string[] =>
  new x509.X509Crl(crl).entries.map(({ serialNumber }) => serialNumber).toSorted();
const issue = async (daemon: Daemon): Promise<string> => {
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=device' });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  return ((await daemon.request('POST', `${ca}/sign-csr`, { csr })) as { serial: string }).serial;
};
const tokenOf = async (daemon: Daemon): Promise<string> =>
  ((await daemon.request('POST', created, { policies: ['user'], ttl: '7d' })) as { token: string }).token;
const works = async (token: string): Promise<number> => (await after.exchange('POST', bytes, {}, token)).status;
const login = async (daemon: Daemon): Promise<number> => (await daemon.exchange('POST', '/v1/approle-login', approle, '')).status;
const healthOf = async (): Promise<Record<string, unknown>> =>
  (await after.exchange('GET', `${state}/health`)).body as Record<string, unknown>;

beforeAll(async () => {
  before = await startDaemon({ directory: path('before') });
  await before.request('POST', config, { name: 'devices', 'cert-key-type': 'ecdsa' });
  const early = await issue(before);
  ended = await tokenOf(before);
  endedRoot = ((await before.request('POST', created, { policies: ['root'], ttl: '7d' })) as { token: string }).token;
  await before.request('POST', '/v1/config/keystore/authentication/approles', { name: 'shop', 'token-policies': ['user'] });
  const made = await before.request('POST', '/v1/state/keystore/authentication/approles/shop/generate-secret-id', { 'num-uses': 1 });
  const shown = await before.request('GET', '/v1/state/keystore/authentication/approles/shop');
  approle = { 'role-id': (shown as { 'role-id': string })['role-id'], 'secret-id': (made as { 'secret-id': string })['secret-id'] };
  await before.request('POST', '/v1/config/tenants', { name: 'plant' });
  plantToken = ((await before.request('POST', '/v1/state/keystore/token/create-root', { name: 'plant' })) as { token: string }).token;
  await crlOf(before);
  backup = (await ask(before.url, `${state}/backup`, { method: 'POST', ca: before.caPem, token: before.rootToken, body: { passphrase } }))
    .octets;
  await before.request('POST', '/v1/state/keystore/token/disable', { token: ended });
  expect(await login(before)).toBe(200);
  serials = [early, await issue(before)].toSorted();
  for (const serial of serials) {
    await before.request('POST', `${ca}/revoke`, { serial, reason: 'key-compromise' });
    kept = await crlOf(before);
  }
  expect(serialsIn(kept)).toEqual(serials);
  await before.stop();
  writeFileSync(path('backup'), backup);
  writeFileSync(path('passphrase'), `${passphrase}\n`);
  const args = ['--restore', path('backup'), '--restore-passphrase-file', path('passphrase')];
  after = await startDaemon({ directory: path('after'), workers: 2, args, rootToken: before.rootToken });
}, 120_000);

afterAll(async () => {
  await after?.stop();
});

test('revocation lists of a restored CA have higher numbers than any that it published before', async () => {
  const list = await crlOf(after);
  expect(serialsIn(list)).toEqual([]);
  expect(numberOf(list)).toBeGreaterThan(numberOf(kept));
});

test('the new trail begins with what was restored: when the backup was made, by whom, its digest, and the heads that it remembers', () => {
  const trail = path('after', 'audit');
  const [name = ''] = readdirSync(trail)
    .filter((one) => one.startsWith('worker-1.'))
    .toSorted();
  const [first] = readFileSync(`${trail}/${name}`, 'utf8').split('\n');
  expect(JSON.parse(first ?? '')).toMatchObject({
    ...{ kind: 'trail', event: 'restored', from: 'backup', sequence: 1, digest: createHash('sha256').update(backup).digest('hex') },
    'made-at': expect.stringMatching(/^20\d\d-/),
    ...{ 'made-by': expect.any(String), origin: 'unproven', 'key-id': expect.stringMatching(/^[\da-f]{32}$/) },
    heads: expect.arrayContaining([{ chain: 'worker-1', sequence: expect.any(Number), hash: expect.stringMatching(/^[\da-f]{64}$/) }]),
  });
});

test('health says that it was restored, over a restart too, until somebody has answered that', async () => {
  const part = { state: 'unanswered', reason: expect.stringContaining('backup of 20') };
  expect(await healthOf()).toMatchObject({ status: 'degraded', restored: part });
  await after.stop();
  after = await startDaemon({ directory: path('after'), workers: 2, args: [], rootToken: before.rootToken });
  expect(await healthOf()).toMatchObject({ status: 'degraded', restored: part });
});

test('a list of what was revoked since is taken in, with certificates that the backup does not know, and no other list', async () => {
  const crl = Buffer.from(kept).toString('base64');
  const changed = Buffer.from(kept);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect((await after.exchange('POST', `${ca}/import-revocations`, { crl: changed.toString('base64') })).status).toBe(400);
  expect((await after.exchange('POST', `${ca}/import-revocations`, {})).status).toBe(400);
  expect(await after.request('POST', `${ca}/import-revocations`, { crl })).toEqual({ revoked: 1, 'never-issued': 1, 'known-before': 0 });
  const list = await crlOf(after);
  expect(serialsIn(list)).toEqual(serials);
  expect(new x509.X509Crl(list).entries.map(({ reason }) => reason)).toEqual([1, 1]);
  expect(numberOf(list)).toBeGreaterThan(numberOf(kept));
  expect(await after.request('POST', `${ca}/import-revocations`, { serials: [...serials, '4f9a2c51d07b83e6'] })).toEqual({
    ...{ revoked: 0, 'never-issued': 1, 'known-before': 2 },
  });
  expect(serialsIn(await crlOf(after))).toEqual([...serials, '4f9a2c51d07b83e6'].toSorted());
});

test('one command ends all tokens and secret-ids but the token that asks and what it has made, also what an earlier one has made since', async () => {
  expect(await works(ended)).toBe(200);
  const since = await tokenOf(after);
  const secretIds = '/v1/state/keystore/authentication/approles/shop/generate-secret-id';
  const made = (await after.request('POST', secretIds, { 'num-uses': 1 })) as { readonly 'secret-id': string };
  const tokenBy = async (secretId: string): Promise<string> => {
    const { body } = await after.exchange('POST', '/v1/approle-login', { ...approle, 'secret-id': secretId }, '');
    return (body as { readonly token: string }).token;
  };
  // The secret-id that was used up after the backup lets in once more.
  // By an earlier token, before the command: a secret-id and a root token, which stand alone, and a secret-id of their login.
  const makeBy = async (token: string): Promise<string> =>
    ((await after.request('POST', secretIds, {}, token)) as { readonly 'secret-id': string })['secret-id'];
  const secretIdOfEnded = await makeBy(endedRoot);
  const tokenOfEnded = await tokenBy(secretIdOfEnded);
  const [others, elsewhere] = ['office', 'depot'];
  for (const name of [others, elsewhere]) await after.request('POST', '/v1/config/tenants', { name });
  const createRoot = '/v1/state/keystore/token/create-root';
  const rootBy = async (name: string, token: string): Promise<string> =>
    ((await after.request('POST', createRoot, { name }, token)) as { readonly token: string }).token;
  const [rootOfEnded, rootOfRoot] = [await rootBy(others, endedRoot), await rootBy(elsewhere, after.rootToken)];
  expect(await Promise.all([tokenOfEnded, rootOfEnded, rootOfRoot].map(works))).toEqual([200, 200, 200]);
  const [revived, renewed] = [await tokenBy(approle['secret-id']), await tokenBy(made['secret-id'])];
  expect([await works(revived), await works(renewed)]).toEqual([200, 200]);
  const ctl = ctlFor(after, after.caPem, path());
  expect(await ctl(['do', 'system', 'end-credentials'])).toMatchObject({ code: 0, stdout: expect.stringContaining('secret-ids') });
  expect([await works(ended), await login(after), await works(since), await works(after.rootToken)]).toEqual([401, 401, 200, 200]);
  expect([await works(revived), await works(renewed)]).toEqual([401, 200]);
  expect(await Promise.all([tokenOfEnded, rootOfEnded, rootOfRoot].map(works))).toEqual([401, 401, 200]);
  const entry = await after.exchange('POST', '/v1/approle-login', { ...approle, 'secret-id': secretIdOfEnded }, '');
  expect(entry.status).toBe(401);
  // Nobody is shut out for good: a tenant whose root token has ended gets one more, once.
  expect(await works(plantToken)).toBe(401);
  const again = async (): Promise<number> =>
    (await after.exchange('POST', '/v1/state/keystore/token/create-root', { name: 'plant' })).status;
  expect([await again(), await again()]).toEqual([200, 409]);
});

test('when it is answered health is well, and the answer is on record', async () => {
  expect(await after.request('POST', `${state}/findings/restored/answer`)).toMatchObject({ 'answered-by': 'root' });
  await expect.poll(healthOf).not.toHaveProperty('restored');
  // What is found later is ended in the same way.
  expect(await after.exchange('POST', `${state}/end-credentials`)).toMatchObject({ status: 200 });
});
