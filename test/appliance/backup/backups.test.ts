// Backups of a running appliance: one at a time, who may have which, the schedule, and what is told when they fail.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { untilEnded } from '../../../appliance/backup/run/answer.ts';
import { takeLease } from '../../../appliance/backup/run/lease.ts';
import { noHistory, runningKey, runningTable } from '../../../appliance/backup/run/record.ts';
import { TestClock } from '../../harness/clock.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const system = '/v1/state/system';
const clock = new TestClock();
let appliance: TestAppliance;
let identity: string;
let recipient: string;
let fetcher: string;

beforeAll(async () => {
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
  mkdirSync(path('share'));
  appliance = await startTestAppliance({
    directory: path('data'),
    clock,
    backup: {
      recipients: [recipient],
      schedule: { everySeconds: 3_600 },
      to: [{ kind: 'directory', directory: path('share'), keep: 0, keepMonthly: 0 }],
    },
  });
  const rules = [{ path: `${system}/pull-backup`, operations: { execute: 'allow' } }];
  await appliance.request('POST', '/v1/config/policy/policies', { name: 'fetch', 'rest-api': { rules } });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['fetch'] });
  fetcher = String(made.body.token);
});
afterEach(async () => {
  expect(await appliance.check()).toEqual([]);
});
afterAll(() => appliance.close());

const files = (): string[] => readdirSync(path('share')).filter((name) => !name.startsWith('.'));
const scratches = (): string[] => readdirSync(path('data')).filter((name) => name.startsWith('backup-'));
const status = async () => (await appliance.request('GET', `${system}/backup-status`)).body as Record<string, unknown>;

async function runJob(): Promise<void> {
  await appliance.jobs.find(({ name }) => name === 'backups')?.run(new AbortController().signal);
}

test('a token that may fetch backups may do nothing else, and cannot choose who opens them', async () => {
  const asked = (method: string, at: string, body?: unknown) => appliance.request(method, at, body, { token: fetcher });
  const pulled = await asked('POST', `${system}/pull-backup`);
  expect(pulled).toMatchObject({ status: 200, headers: { 'content-type': 'application/octet-stream' } });
  expect(String(pulled.body)).toMatch(/^age-encryption\.org\/v1\n-> X25519 /);
  expect((await asked('POST', `${system}/pull-backup`, { recipients: [recipient] })).status).toBe(400);
  for (const at of ['backup', 'run-backup'])
    expect((await asked('POST', `${system}/${at}`, { recipients: [recipient] })).status, at).toBe(403);
  for (const at of ['backup-status', 'metrics', 'hsm']) expect((await asked('GET', `${system}/${at}`)).status, at).toBe(403);
});

test.each([
  [{}, 'missing-field', /passphrase, or recipients/],
  [{ passphrase: 'long enough for this', recipients: ['age1x'] }, 'invalid-value', /not both/],
  [{ recipients: ['age1qqqq'] }, 'invalid-value', /age1qqqq is not a recipient/],
  [{ recipients: [] }, 'invalid-value', /recipients/],
])('%j is refused before anything is copied', async (body, code, detail) => {
  expect(await appliance.request('POST', `${system}/backup`, body)).toMatchObject({
    status: 400,
    body: { code, detail: expect.stringMatching(detail) },
  });
  expect(scratches()).toEqual([]);
});

test('while a backup is read slowly there is no second one, its progress shows, and a client that leaves frees the way', async () => {
  // Larger than what the connection buffers.
  const large = appliance.store.table<Uint8Array>('test-large');
  for (let index = 0; index < 12; index++)
    await appliance.store.write((transaction) => transaction.put(large, [index], randomBytes(1_000_000)));
  const headers = { authorization: `Bearer ${appliance.rootToken}`, 'content-type': 'application/json' };
  const { hostname, port } = new URL(appliance.url);
  const slow = httpsRequest({
    hostname,
    port,
    method: 'POST',
    path: `${system}/pull-backup`,
    headers,
    rejectUnauthorized: false,
    agent: false,
  });
  slow.on('error', () => undefined);
  const response = await new Promise<IncomingMessage>((done) => slow.once('response', done).end());
  response.on('error', () => undefined);
  response.pause();
  const total = Number(response.headers['content-length']);
  for (const at of ['pull-backup', 'run-backup']) {
    const refused = await appliance.request('POST', `${system}/${at}`);
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'backup-running', detail: expect.stringMatching(/has been running since/) },
    });
  }
  await expect
    .poll(async () => (await status())['running'], { timeout: 30_000 })
    .toMatchObject({ purpose: 'pull', stage: 'sending', 'total-bytes': total });
  expect((await appliance.request('GET', `${system}/metrics`)).body).toContain('keystored_backup_running 1');
  await runJob();
  expect(files()).toEqual([]);
  slow.destroy();
  await expect.poll(scratches, { timeout: 30_000 }).toEqual([]);
  const running = async (): Promise<unknown> => (await status())['running'];
  await expect.poll(running, { timeout: 30_000 }).toBeUndefined();
  expect((await appliance.request('POST', `${system}/pull-backup`)).status).toBe(200);
  // It ends a moment after its last octet, and a scheduled one leaves its time to the next job while another runs.
  await expect.poll(running, { timeout: 30_000 }).toBeUndefined();
});

test('a scheduled time is served once, also by two jobs at the same moment', async () => {
  await Promise.all([runJob(), runJob(), runJob()]);
  await runJob();
  expect(files()).toHaveLength(1);
  expect(await status()).toMatchObject({ scheduled: true, failures: 0, 'last-bytes': expect.any(Number) });
  clock.step(3_601);
  await runJob();
  expect(files()).toHaveLength(2);
});

test('a backup has what the shares of custodians open, without which nobody has the PIN of its token', async () => {
  for (const name of ['custodians.json', 'custodians.next.json']) writeFileSync(path('data', name), `content of ${name}`);
  clock.step(3_601);
  await runJob();
  for (const name of ['custodians.json', 'custodians.next.json']) rmSync(path('data', name));
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const archive = Buffer.from(await decrypter.decrypt(readFileSync(path('share', files().toSorted().at(-1) ?? '')))).toString('latin1');
  for (const name of ['custodians.json', 'custodians.next.json']) expect(archive).toMatch(new RegExp(`${name}\\0[^]*content of ${name}`));
});

test('a failure is told, tried again later each time, and becomes a matter of health; success ends that', async () => {
  rmSync(path('share'), { recursive: true });
  clock.step(3_601);
  await runJob();
  await runJob();
  expect(await status()).toMatchObject({ failures: 1, 'failures-in-a-row': 1, 'last-failure': expect.stringMatching(/does not exist/) });
  clock.step(61);
  await runJob();
  expect(await status()).toMatchObject({ failures: 2 });
  clock.step(61);
  await runJob();
  expect(await status()).toMatchObject({ failures: 2 });
  expect(appliance.logged.some(({ level, message }) => level === 'warn' && message.startsWith('a backup failed'))).toBe(true);
  clock.step(3_600);
  const health = await appliance.request('GET', `${system}/health`);
  expect(health).toMatchObject({ status: 200, body: { status: 'degraded', backup: { state: 'overdue' } } });
  expect(String((await appliance.request('GET', `${system}/metrics`)).body)).toContain('keystored_backup_failures_total 2');
  mkdirSync(path('share'));
  clock.step(3_600);
  await runJob();
  expect(files()).toHaveLength(1);
  expect(await status()).toMatchObject({ failures: 2, 'failures-in-a-row': 0 });
  expect((await appliance.request('GET', `${system}/health`)).body).toMatchObject({ status: 'ok', backup: { state: 'up' } });
});

test('a backup whose process was killed blocks no other, and one that runs does', async () => {
  const record = {
    id: 'x',
    purpose: 'now',
    stage: 'sending',
    target: 't',
    startedAt: '2026-01-01T00:00:00.000000Z',
    doneBytes: 0,
    totalBytes: 0,
  } as const;
  const beatAt = (await appliance.request('GET', `${system}/backup-status`)).body['last-success-at'] as string;
  const table = runningTable(appliance.store);
  const put = (pid: number): Promise<void> =>
    appliance.store.write((transaction) => transaction.put(table, runningKey, { ...record, beatAt, pid }));
  await put(process.pid);
  await expect(takeLease(appliance.store, clock, 'now')).rejects.toMatchObject({ code: 'backup-running' });
  await put(2 ** 22 + 1);
  await (await takeLease(appliance.store, clock, 'now')).end();
  await put(process.pid);
  clock.step(61);
  await (await takeLease(appliance.store, clock, 'now')).end();
  expect(noHistory.failures).toBe(0);
});

test('an answer that nobody reads is ended, and what is read afterwards is no whole backup', async () => {
  const ends: unknown[] = [];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    yield new Uint8Array(1);
  }
  const stalled = untilEnded(pieces(), async (how) => void ends.push(how), 50)[Symbol.asyncIterator]();
  await stalled.next();
  await expect.poll(() => ends.length).toBe(1);
  expect(ends[0]).toBeInstanceOf(Error);
  await expect(stalled.next()).rejects.toThrow(/took nothing/);
  const whole = await Array.fromAsync(untilEnded(pieces(), async (how) => void ends.push(how), 50));
  expect(whole).toHaveLength(2);
  expect(ends.slice(1)).toEqual(['whole']);
});
