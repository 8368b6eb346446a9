// import vault: keys of an OpenBao come with their versions, wrapped or in clear, proven or not at all; values of keys that stay there.
import { sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';
import { type SimulatedVault, startSimulatedVault } from './simulated-vault.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let vault: SimulatedVault;
let ctl: Ctl;
let environment: Record<string, string>;

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'vault']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  ctl = ctlFor(appliance, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
  vault = await startSimulatedVault(path('vault'), 's.token');
  writeFileSync(path('vault-ca.pem'), vault.ca);
  environment = { VAULT_ADDR: vault.url, VAULT_CACERT: path('vault-ca.pem'), VAULT_TOKEN: 's.token' };
});
afterAll(async () => {
  vault.close();
  await appliance.close();
});
beforeEach(() => {
  vault.keys.clear();
  vault.isOld = false;
});

type Row = { readonly key: string; readonly outcome: string; readonly versions: string; readonly proven: number; readonly reason: string };
const state = '/v1/state/keystore/transit-keys';
const ask = async (method: string, target: string, body?: unknown) => (await appliance.request(method, target, body)).body;
const move = async (...words: readonly string[]): Promise<{ code: number; rows: readonly Row[]; stderr: string }> => {
  const { code, stdout, stderr } = await ctl(['import', 'vault', ...words], { environment });
  return { code, rows: stdout === '' ? [] : (JSON.parse(stdout) as Row[]), stderr };
};
const opened = async (key: string, ciphertext: string): Promise<string> => {
  const { plaintext = '' } = (await ask('POST', `${state}/${key}/decrypt`, {
    ciphertext: ciphertext.replace('vault:', 'store:'),
  })) as Record<string, string>;
  return Buffer.from(plaintext, 'base64').toString();
};

test.each([
  ['wrapped', []],
  ['in clear', ['--in-clear']],
])('keys come %s, with the numbers of their versions and what they may do', async (_, words) => {
  const ending = words.length === 0 ? '' : '-clear';
  const name = (of: string): string => `${of}${ending}`;
  vault.make(name('orders'), 'aes256-gcm96', [3, 4], { min_decryption_version: 3, auto_rotate_period: 86_400 });
  vault.make(name('small'), 'aes128-gcm96', [1]);
  vault.make(name('signs'), 'ecdsa-p384', [1, 2], { deletion_allowed: true });
  vault.make(name('quick'), 'ed25519', [1]);
  vault.make(name('web'), 'rsa-2048', [1]);
  const { code, rows } = await move(...words);
  expect([code, rows.map(({ key, outcome, versions, proven }) => `${key} ${outcome} ${versions} ${proven}`)]).toEqual([
    0,
    [
      `${name('orders')} moved 3-4 2`,
      `${name('small')} moved 1 1`,
      `${name('signs')} moved 1-2 2`,
      `${name('quick')} moved 1 1`,
      `${name('web')} moved 1 1`,
    ],
  ]);
  expect(await opened(name('orders'), vault.encrypt(name('orders'), 'three', 3))).toBe('three');
  expect(await opened(name('small'), vault.encrypt(name('small'), 'small', 1))).toBe('small');
  expect(await ask('GET', `${state}/${name('orders')}`)).toMatchObject({
    ...{ 'latest-version': 4, 'oldest-version': 3, 'min-decryption-version': 3, exportable: false, 'deletion-allowed': false },
    'auto-rotate': { 'rotate-after': '86400s' },
  });
  expect(await ask('GET', `${state}/${name('signs')}`)).toMatchObject({ 'deletion-allowed': true, 'latest-version': 2 });
  const signature = sign('sha384', Buffer.from('x'), vault.keys.get(name('signs'))?.versions.get(1) as KeyObject).toString('base64');
  const body = { text: 'eA==', signature: `store:v1:${signature}`, 'hash-algorithm': 'sha384' };
  expect(await ask('POST', `${state}/${name('signs')}/verify`, body)).toMatchObject({ valid: true });
  expect([...vault.keys.keys()].filter((one) => one.startsWith('keystored-import'))).toEqual([]);
  expect(vault.requests.some((one) => one.includes('/export/'))).toBe(words.length > 0);
});

test('what cannot come is left, with the reason, and exit code 7', async () => {
  vault.make('Big_Name', 'aes256-gcm96', [1]);
  vault.make('stays', 'aes256-gcm96', [1], { exportable: false });
  vault.make('derived', 'aes256-gcm96', [1], { derived: true, kdf: 'hmac-sha256-counter' });
  vault.make('stream', 'chacha20-poly1305', [1]);
  vault.make('present', 'aes256-gcm96', [1]);
  await ask('POST', '/v1/config/keystore/transit-keys', { name: 'present' });
  const { code, rows } = await move('Big_Name', 'stays', 'derived', 'stream', 'present', 'absent', 'Big_Name=big-name');
  expect(code).toBe(7);
  expect(Object.fromEntries(rows.map(({ key, outcome, reason }) => [key, `${outcome}: ${reason}`]))).toEqual({
    Big_Name: expect.stringContaining('left: this is not a name here'),
    stays: expect.stringContaining('left: it is not exportable there'),
    derived: expect.stringContaining('left: it derives by hmac-sha256-counter'),
    stream: expect.stringContaining('left: 400'),
    present: expect.stringContaining('left: 409 already-exists'),
    absent: expect.stringContaining('left: GET /v1/transit/keys/absent there: 404'),
    'Big_Name=big-name': expect.stringContaining('moved: HMACs of there do not verify here'),
  });
});

test('a version that turns out to be another key moves nothing', async () => {
  const { versions } = vault.make('swapped', 'aes256-gcm96', [1, 2]);
  const encrypt = vault.encrypt;
  const [first, second] = [versions.get(1), versions.get(2)] as [Buffer, Buffer];
  Object.assign(vault, {
    encrypt: (name: string, plaintext: string, version: number) => {
      versions.set(2, first);
      const ciphertext = encrypt(name, plaintext, version);
      versions.set(2, second);
      return ciphertext;
    },
  });
  const { code, rows } = await move('swapped');
  Object.assign(vault, { encrypt });
  expect([code, rows[0]?.outcome, rows[0]?.reason]).toEqual([7, 'left', expect.stringContaining('version 2 is another key')]);
  expect((await appliance.request('GET', `${state}/swapped`)).status).toBe(404);
  expect((await move('swapped')).code).toBe(0);
});

test('a source without byok-export is asked for keys in clear only when that is said', async () => {
  vault.make('early', 'aes256-gcm96', [1]);
  vault.isOld = true;
  expect((await move('early')).rows[0]?.reason).toContain('404 unsupported path');
  expect(vault.requests.filter((one) => one.includes('/export/encryption-key/early'))).toEqual([]);
  expect((await move('early', '--in-clear')).rows[0]?.outcome).toBe('moved');
});

test('a wrong token, and an address without TLS, are refused before anything is moved', async () => {
  const { code, stderr } = await ctl(['import', 'vault'], { environment: { ...environment, VAULT_TOKEN: 'other' } });
  expect([code, stderr]).toEqual([3, expect.stringContaining('403 permission denied')]);
  const plain = await ctl(['import', 'vault', '--from', 'http://127.0.0.1:8200'], { environment });
  expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining('give https://HOST:PORT')]);
});

test('a source that does not give the lent key back keeps a public key, and the report is there', async () => {
  const made = vault.make('kept', 'aes256-gcm96', [1]);
  vault.keepsLent = true;
  const { code, rows, stderr } = await move('kept');
  vault.keepsLent = false;
  expect([code, rows[0]?.outcome, made.versions.size]).toEqual([0, 'moved', 1]);
  expect(stderr).toMatch(/the public key "keystored-import-[0-9a-f]{12}" is still there.*deletion/);
});

test('values of a key that stays there are moved line by line, or not at all', async () => {
  vault.make('inside', 'aes256-gcm96', [1, 2], { exportable: false });
  await ask('POST', '/v1/config/keystore/transit-keys', { name: 'inside' });
  const lines = Array.from({ length: 600 }, (_, at) => (at === 300 ? '' : vault.encrypt('inside', `value ${at}`, 1 + (at % 2))));
  writeFileSync(path('values'), `${lines.join('\n')}\n`);
  const words = ['import', 'vault-values', 'inside', '--in', path('values'), '--out', path('moved')];
  expect(await ctl(words, { environment })).toEqual({ code: 0, stdout: '', stderr: '599 values were moved\n' });
  const moved = readFileSync(path('moved'), 'utf8').split('\n');
  expect([moved.length, moved[300], moved[0]?.slice(0, 9)]).toEqual([601, '', 'vault:v1:']);
  for (const at of [0, 299, 301, 599]) expect(await opened('inside', moved[at] ?? '')).toBe(`value ${at}`);
  writeFileSync(path('values'), [...lines.slice(0, 3), `${lines[3]?.slice(0, -4)}AAAA`, ...lines.slice(4)].join('\n'));
  const refused = await ctl([...words.slice(0, -1), path('unmoved')], { environment });
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('line 4 does not open there')]);
  expect(existsSync(path('unmoved'))).toBe(false);
});
