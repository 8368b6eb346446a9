// encrypt-file, decrypt-file and rewrap-file: files of any length, the client libraries' format, and nothing in the place of what was changed.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../../dist/clients/typescript/src/index.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { ctlFor, type Ctl } from './run.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;
let client: Client;
let ctl: Ctl;

beforeAll(async () => {
  for (const name of ['appliance', 'home']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  const ca = readFileSync(path('appliance', 'tls-cert.pem'), 'utf8');
  ctl = ctlFor(appliance, ca, path('home'));
  client = new Client({ address: appliance.url, ca, credentials: { token: appliance.rootToken } });
  await client.transitKeys.create({ name: 'orders' });
  await client.transitKeys.create({ name: 'derived', derived: true });
});
afterAll(async () => {
  client.close();
  await appliance.close();
});

const done = { code: 0, stdout: '', stderr: '' };

test('a file comes back, and the client library opens it', async () => {
  const plain = randomBytes(200_000);
  writeFileSync(path('plain'), plain);
  expect(await ctl(['encrypt-file', 'orders', '--in', path('plain'), '--out', path('sealed')])).toEqual(done);
  expect(await ctl(['decrypt-file', 'orders', '--in', path('sealed'), '--out', path('opened')])).toEqual(done);
  expect(readFileSync(path('opened')).equals(plain)).toBe(true);
  expect(statSync(path('opened')).mode & 0o777).toBe(0o600);
  expect(Buffer.concat(await Array.fromAsync(client.key('orders').open(readFileSync(path('sealed'))))).equals(plain)).toBe(true);
});

test('standard input and output are files as well', async () => {
  writeFileSync(path('piped'), Buffer.concat(await Array.fromAsync(client.key('orders').seal('4711'))));
  expect(await ctl(['decrypt-file', 'orders'], { stdin: readFileSync(path('piped')) })).toEqual({ ...done, stdout: '4711' });
  expect(await ctl(['encrypt-file', 'orders', '--out', path('of-pipe')], { stdin: '4712' })).toEqual(done);
  expect((await ctl(['decrypt-file', 'orders', '--in', path('of-pipe')])).stdout).toBe('4712');
});

test('data that was changed makes no file, and exit code 7', async () => {
  const sealed = Buffer.concat(await Array.fromAsync(client.key('orders').seal(randomBytes(100_000))));
  writeFileSync(path('cut'), sealed.subarray(0, -1));
  const before = readdirSync(path());
  const refused = await ctl(['decrypt-file', 'orders', '--in', path('cut'), '--out', path('uncut')]);
  expect(refused).toEqual({
    code: 7,
    stdout: '',
    stderr: `keystorectl: ${path('cut')}: piece 2 is not as it was sealed: changed, moved, cut off or extended\n`,
  });
  writeFileSync(path('other'), 'text');
  expect((await ctl(['decrypt-file', 'orders', '--in', path('other'), '--out', path('uncut')])).code).toBe(7);
  expect(readdirSync(path()).toSorted()).toEqual([...before, 'other'].toSorted());
});

test('a key that did not wrap the data key is refused by the appliance', async () => {
  await client.transitKeys.create({ name: 'another' });
  const { code, stderr } = await ctl(['decrypt-file', 'another', '--in', path('sealed'), '--out', path('no')]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('decryption-failed') as unknown });
  expect(existsSync(path('no'))).toBe(false);
  expect((await ctl(['encrypt-file', 'nothing', '--in', path('plain'), '--out', path('no')])).code).toBe(4);
});

test('a header is rewrapped in place', async () => {
  const before = readFileSync(path('sealed'));
  await client.transitKeys.rotate('orders');
  expect(await ctl(['rewrap-file', 'orders', path('sealed'), path('of-pipe')])).toEqual(done);
  const after = readFileSync(path('sealed'));
  expect(after.toString('latin1', 81, 90)).toBe('store:v2:');
  expect(after.subarray(1_024).equals(before.subarray(1_024))).toBe(true);
  expect((await ctl(['decrypt-file', 'orders', '--in', path('of-pipe')])).stdout).toBe('4712');
  expect((await ctl(['rewrap-file', 'orders', path('other')])).stderr).toMatch(/other: the header has 4 octets of 1024: it is cut off/);
});

test('contexts and associated data are those of the data key', async () => {
  const bound = ['--derivation-context', 'shop-7', '--associated-data', 'invoice 12'];
  writeFileSync(path('short'), '4713');
  expect(await ctl(['encrypt-file', 'derived', ...bound, '--in', path('short'), '--out', path('bound')])).toEqual(done);
  expect((await ctl(['decrypt-file', 'derived', ...bound, '--in', path('bound')])).stdout).toBe('4713');
  const other = ['--derivation-context', 'shop-7', '--associated-data', 'invoice 13'];
  expect(await ctl(['decrypt-file', 'derived', ...other, '--in', path('bound')])).toMatchObject({ code: 2, stdout: '' });
  await client.transitKeys.rotate('derived');
  expect(await ctl(['rewrap-file', 'derived', ...bound, path('bound')])).toEqual(done);
  const octets = client.key('derived').open(readFileSync(path('bound')), { context: 'shop-7', associatedData: 'invoice 12' });
  expect(Buffer.concat(await Array.fromAsync(octets)).toString()).toBe('4713');
});

test('octets are not written to a terminal, and nothing is waited for at one', async () => {
  expect(await ctl(['encrypt-file', 'orders', '--in', path('plain')], { terminal: true })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('encrypted data is not text for a terminal: give --out FILE') as unknown,
  });
  expect(await ctl(['decrypt-file', 'orders', '--out', path('no')])).toMatchObject({
    code: 1,
    stderr: 'keystorectl: nothing to read: give --in FILE, or a pipe\n',
  });
  expect((await ctl(['encrypt-file', 'orders', '--in', path('absent'), '--out', path('no')])).stderr).toContain('cannot be read (ENOENT)');
});
