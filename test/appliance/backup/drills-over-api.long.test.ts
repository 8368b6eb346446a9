// Restore drills over the API, with the real daemon: of a stored backup, of an uploaded one, and of what somebody else made.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../core/base/secret.ts';
import type { Manifest } from '../../../appliance/backup/format/manifest.ts';
import { sealCopy } from '../../../appliance/backup/run/sealed.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { patienceMs } from '../../harness/patience.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const system = '/v1/state/system';
const passphrase = 'correct horse battery staple';
let identity: string;
let daemon: Daemon;

type Result = Readonly<Record<string, unknown>> & { readonly outcome: string; readonly at: string };
type State = {
  readonly running?: object;
  readonly upload?: { readonly bytes: number };
  readonly last?: Result;
  readonly 'last-good'?: Result;
};

beforeAll(async () => {
  identity = await generateX25519Identity();
  mkdirSync(path('share'));
  writeFileSync(
    path('backup.yaml'),
    `backup: { recipients: [${await identityToRecipient(identity)}], to: [{ directory: '${path('share')}' }] }\n`,
  );
  daemon = await startDaemon({ directory: path('data'), args: ['--config', path('backup.yaml')], workers: 2 });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
});
afterAll(() => daemon.stop());

const read = async (): Promise<State> => (await daemon.request('GET', `${system}/restore-drill`)) as State;
const post = (action: string, body: object): Promise<unknown> => daemon.request('POST', `${system}/${action}`, body);

/** Runs one to its end. */
async function drill(body: object): Promise<Result> {
  const before = (await read()).last?.at;
  await post('run-restore-drill', body);
  await expect.poll(async () => (await read()).last?.at, { timeout: patienceMs }).not.toBe(before);
  await expect.poll(async () => (await read()).running, { timeout: patienceMs }).toBeUndefined();
  expect(readdirSync(path('data', 'drill')).filter((name) => name.startsWith('scratch'))).toEqual([]);
  return (await read()).last as Result;
}

/** In two pieces. */
async function upload(octets: Buffer): Promise<void> {
  const half = Math.floor(octets.length / 2);
  await post('upload-backup', { offset: 0, content: octets.subarray(0, half).toString('base64') });
  await post('upload-backup', { offset: half, content: octets.subarray(half).toString('base64') });
  expect((await read()).upload?.bytes).toBe(octets.length);
}

function takeBackup(): Promise<Buffer> {
  const headers = { authorization: `Bearer ${daemon.rootToken}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    httpsRequest(`${daemon.url}${system}/backup`, { method: 'POST', ca: daemon.caPem, headers }, (answer) => resolve(buffer(answer)))
      .on('error', reject)
      .end(JSON.stringify({ passphrase }));
  });
}

async function names(): Promise<readonly string[]> {
  return ((await daemon.request('GET', '/v1/state/notices')) as readonly { readonly name: string }[]).map(({ name }) => name);
}

test('a stored backup is proven with its identity, which stays nowhere, and the notice that none was proven ends', async () => {
  await post('run-backup', {});
  const stored = async () => (await daemon.request('GET', `${system}/stored-backups`)) as { backups: { file: string }[] };
  await expect.poll(async () => (await stored()).backups, { timeout: patienceMs }).toHaveLength(1);
  await expect.poll(names, { timeout: patienceMs }).toContain('drill-missing');
  const [{ file } = { file: '' }] = (await stored()).backups;
  const name = basename(file);
  const result = await drill({ file, identity });
  expect(result).toMatchObject({
    outcome: 'restores',
    by: 'root',
    kind: 'drill',
    source: name,
    'signed-by': 'this-appliance',
    findings: [],
  });
  expect(result['keys']).toEqual(expect.arrayContaining([{ type: 'aes-256', count: expect.any(Number) as number }]));
  expect((await read())['last-good']).toMatchObject({ source: name });
  expect(await names()).not.toContain('drill-missing');
  const trail = readdirSync(path('data', 'audit'))
    .map((file) => readFileSync(path('data', 'audit', file), 'latin1'))
    .join('');
  expect(trail).toContain('"drill-ended"');
  expect(trail).not.toContain(identity);
});

test('an uploaded backup opens with its passphrase alone, and is kept until it is proven', async () => {
  await upload(await takeBackup());
  await expect(post('upload-backup', { offset: 1, content: 'AAAA' })).rejects.toThrow(/octets: go on at that offset/);
  expect(await drill({ passphrase: 'another horse battery' })).toMatchObject({
    outcome: 'not-opened',
    reason: 'the passphrase is wrong, or the backup is damaged',
  });
  expect(await drill({ passphrase, 'look-only': true })).toMatchObject({ outcome: 'looked', kind: 'look', 'signed-by': 'this-appliance' });
  expect((await read())['last-good']).toMatchObject({ kind: 'drill' });
  expect(await drill({ passphrase })).toMatchObject({ outcome: 'restores', source: 'an uploaded file' });
  expect((await read()).upload).toBeUndefined();
  await expect(post('run-restore-drill', { passphrase })).rejects.toThrow(/No backup was uploaded/);
});

test('what this appliance has not signed is looked at, and neither its store nor its token is opened', async () => {
  const manifest: Manifest = {
    kind: 'keystored-backup',
    format: 2,
    ...{ 'made-at': '2026-01-01T00:00:00Z', version: '0.1.0', appliance: 'elsewhere', embedded: true, tokens: [], records: 1, files: [] },
  };
  const copy = { manifest, signature: undefined, keys: '', files: [], release: () => undefined };
  const sealed = await sealCopy(copy, { passphrase: new Secret(passphrase) }, () => undefined);
  await upload(Buffer.concat(await Array.fromAsync(sealed.pieces)));
  const result = await drill({ passphrase });
  expect(result).toMatchObject({ outcome: 'looked', 'signed-by': 'nobody', 'made-by': 'elsewhere' });
  expect(result['reason']).toContain('nobody signed it');
  expect(result).not.toHaveProperty('keys');
});

test('a file outside of the configured directories is none, and both ways to open it are one too many', async () => {
  await expect(post('run-restore-drill', { passphrase, file: '/etc/shadow.age' })).rejects.toThrow(/There is no such backup/);
  await expect(post('run-restore-drill', { passphrase, file: `${path('share')}/../data/pin.age` })).rejects.toThrow(
    /There is no such backup/,
  );
  await expect(post('run-restore-drill', { passphrase, identity })).rejects.toThrow(/either passphrase or identity/);
});

test('a drill elsewhere counts once a person has told of it', async () => {
  await post('note-restore-drill', { source: 'a.tar.age, at the vault' });
  expect((await read())['last-good']).toMatchObject({ kind: 'noted', by: 'root', source: 'a.tar.age, at the vault' });
});
