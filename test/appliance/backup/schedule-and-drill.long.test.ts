// Backups without a person, with the real daemon: made by schedule into a directory, killed at any moment, and proven by drills.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const program = await serviceUnderTest();
const keys = '/v1/config/keystore/transit-keys';
const status = '/v1/state/system/backup-status';
let recipient: string;
let daemon: Daemon;
let args: readonly string[];

type Status = {
  readonly 'last-success-at'?: string;
  readonly 'last-failure'?: string;
  readonly failures: number;
  readonly running?: object;
};

beforeAll(async () => {
  const identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
  writeFileSync(path('identity'), `${identity}\n`, { mode: 0o600 });
  writeFileSync(path('other'), `${await generateX25519Identity()}\n`, { mode: 0o600 });
  mkdirSync(path('share'));
  mkdirSync(path('drills'));
  args = configured(
    'schedule',
    `audit: { sign-every: 1s }\nbackup: { recipients: [${recipient}], schedule: 31d, to: [{ directory: '${path('share')}', keep: 2 }] }\n`,
  );
  daemon = await startDaemon({ directory: path('data'), args, workers: 2 });
});
afterAll(async () => {
  await daemon.stop();
});

function configured(name: string, text: string): readonly string[] {
  writeFileSync(path(`${name}.yaml`), text);
  return ['--config', path(`${name}.yaml`)];
}

const files = (): string[] => readdirSync(path('share')).filter((name) => name.endsWith('.tar.age'));
const newest = (): string => path('share', files().toSorted().at(-1) ?? '');
const read = async (): Promise<Status> => (await daemon.request('GET', status)) as Status;

async function backUpNow(): Promise<string> {
  const before = files().length === 0 ? '' : newest();
  await daemon.request('POST', '/v1/state/system/run-backup');
  await expect.poll(async () => (await read()).running, { timeout: 60_000 }).toBeUndefined();
  expect(newest(), JSON.stringify(await read())).not.toBe(before);
  return newest();
}

function drill(...more: string[]): { code: number | null; output: string } {
  const words = [program, 'restore-drill', '--work', path('drills'), ...more];
  const { status: code, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: root });
  return { code, output: stdout + stderr };
}

/** Names, sizes, times and content of all files of the data directory but those that a serving appliance writes by itself. */
function fingerprint(): string {
  const own = readdirSync(path('data'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?:softhsm\/|pin|so-pin|store-key)/.test(name) && name.includes('.'))
    .toSorted();
  const hash = createHash('sha256');
  for (const name of own) hash.update(name).update(readFileSync(path('data', name)));
  return hash.digest('hex');
}

test('the first one is made at once and once, its record is in the trail, and metrics and status tell of it', async () => {
  await expect.poll(files, { timeout: 60_000 }).toHaveLength(1);
  await expect.poll(async () => (await read())['last-success-at'], { timeout: 60_000 }).toBeDefined();
  await setTimeout(12_000);
  expect(files()).toHaveLength(1);
  const sha256 = createHash('sha256').update(readFileSync(newest())).digest('hex');
  const trail = readdirSync(path('data/audit')).map((name) => readFileSync(path('data/audit', name), 'utf8'));
  expect(trail.join('')).toContain(`"digest":"${sha256}"`);
  const metrics = String(await daemon.request('GET', '/v1/state/system/metrics'));
  expect(metrics).toMatch(/^keystored_backup_last_success_timestamp_seconds \d{10}/m);
  expect(metrics).toContain('keystored_backup_failures_total 0');
  expect(await daemon.request('GET', '/v1/state/system/health')).toMatchObject({ status: 'ok', backup: { state: 'up' } });
});

test('a drill opens every record and every kind of key, checks the trail, and leaves token and appliance as they were', async () => {
  const ciphers = ['aes128-gcm96', 'aes256-gcm96', 'rsa-2048', 'ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];
  for (const cipher of ciphers) await daemon.request('POST', keys, { name: `d-${cipher}`, cipher });
  await daemon.request('POST', keys, { name: 'derived', derived: true, 'convergent-encryption': true });
  await daemon.request('POST', keys, { name: 'in-token', cipher: 'ecdsa-p256', custody: 'token' });
  await daemon.request('GET', '/v1/state/keystore/wrapping-key').catch(() => undefined);
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'devices' });
  const file = await backUpNow();
  const before = fingerprint();
  const proofs = ['--audit', path('data/audit'), '--audit-keys', path('data/audit/audit-keys.pem')];
  const { code, output } = drill(file, '--identity-file', path('identity'), ...proofs);
  expect(output).toMatch(/this backup restores/);
  expect(output).toMatch(/signature verifies under the audit key [0-9a-f]{32}, which was given/);
  for (const type of ['aes-128', 'aes-256', 'rsa-2048', 'ed25519', 'ecdsa-p384', 'ecdsa-p521', 'secret-256', 'ecdsa-p256 in token default'])
    expect(output).toContain(type);
  expect(output).toMatch(/audit trail: \d+ records in \d chains, signed until 20/);
  expect(code).toBe(0);
  expect(fingerprint()).toBe(before);
  expect(readdirSync(path('drills'))).toEqual([]);
});

test('a drill names what is wrong: another identity, a changed file, keys of another appliance, a trail that was cut off', async () => {
  const file = newest();
  expect(drill(file, '--identity-file', path('other'))).toMatchObject({ code: 2, output: expect.stringMatching(/none of the identities/) });
  const changed = readFileSync(file);
  changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
  writeFileSync(path('changed.age'), changed);
  expect(drill(path('changed.age'), '--identity-file', path('identity'))).toMatchObject({
    code: 2,
    output: expect.stringMatching(/damaged or cut off/),
  });
  const openssl = spawnSync('openssl', ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'], { encoding: 'utf8' });
  const other = spawnSync('openssl', ['pkey', '-pubout'], { input: openssl.stdout, encoding: 'utf8' });
  writeFileSync(path('other.pem'), other.stdout);
  const foreign = drill(file, '--identity-file', path('identity'), '--audit-keys', path('other.pem'));
  expect(foreign).toMatchObject({ code: 2, output: expect.stringMatching(/signed by none of the audit keys/) });
  mkdirSync(path('cut'));
  const [name = ''] = readdirSync(path('data/audit')).filter((one) => one.startsWith('worker-1.'));
  const lines = readFileSync(path('data/audit', name), 'utf8').split('\n');
  writeFileSync(path('cut', name), `${lines.slice(0, 3).join('\n')}\n`);
  const cut = drill(file, '--identity-file', path('identity'), '--audit', path('cut'));
  expect(cut).toMatchObject({ code: 1, output: expect.stringMatching(/FOUND: .*signed head/) });
  expect(drill(path('nothing.age'), '--identity-file', path('identity'))).toMatchObject({
    code: 2,
    output: expect.stringMatching(/there is no such file/),
  });
  expect(drill(file)).toMatchObject({
    code: 2,
    output: expect.stringMatching(/the drill needs --passphrase-file FILE or --identity-file FILE/),
  });
  expect(readdirSync(path('drills'))).toEqual([]);
});

test('a drill that is interrupted removes what it unpacked, and what a killed one left is removed by the next', async () => {
  const begin = (): ReturnType<typeof spawn> =>
    spawn(process.execPath, [program, 'restore-drill', newest(), '--identity-file', path('identity'), '--work', path('drills')], {
      cwd: root,
      stdio: 'ignore',
    });
  const unpacked = (): boolean => readdirSync(path('drills'), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('/pin'));
  for (const [signal, left] of [
    ['SIGINT', 0],
    ['SIGTERM', 0],
    ['SIGKILL', 1],
  ] as const) {
    const child = begin();
    const ended = new Promise((done) => child.once('exit', done));
    await expect.poll(unpacked, { timeout: 60_000, interval: 5 }).toBe(true);
    child.kill(signal);
    await ended;
    expect(readdirSync(path('drills')), signal).toHaveLength(left);
  }
  expect(drill(newest(), '--identity-file', path('identity')).code).toBe(0);
  expect(readdirSync(path('drills'))).toEqual([]);
});

test('keep removes the oldest, and killed at any moment there is never a file under its name that is not whole', async () => {
  const plain = (file: string): boolean => {
    const { code } = drill(file, '--identity-file', path('identity'));
    return code === 0;
  };
  for (const delayMs of [0, 30, 100, 250, 500]) {
    await daemon.request('POST', '/v1/state/system/run-backup').catch(() => undefined);
    await setTimeout(delayMs);
    await daemon.kill();
    // Killed between the new file and the removal of the oldest, there is one more until the next backup.
    expect(files().length).toBeLessThanOrEqual(3);
    daemon = await startDaemon({ directory: path('data'), args, workers: 2 });
    // The start may make up for the backup that was cut, and then has a copy of its own for a moment.
    const copies = (): string[] => readdirSync(path('data')).filter((name) => name.startsWith('backup-'));
    await expect.poll(copies, { timeout: 60_000 }).toEqual([]);
  }
  for (const file of files()) expect(plain(path('share', file))).toBe(true);
  await backUpNow();
  await backUpNow();
  expect(files()).toHaveLength(2);
  expect(readdirSync(path('share')).filter((name) => name.endsWith('.partial'))).toEqual([]);
});

test('a directory that is not there fails the backup with a reason, and service goes on', async () => {
  rmSync(path('share'), { recursive: true });
  await daemon.request('POST', '/v1/state/system/run-backup');
  await expect
    .poll(async () => (await read())['last-failure'], { timeout: 60_000 })
    .toMatch(/share: does not exist: is the share mounted\?/);
  expect(String(await daemon.request('GET', '/v1/state/system/metrics'))).toMatch(/keystored_backup_failures_total [1-9]/);
  expect(await daemon.request('GET', '/v1/state/system/health')).toMatchObject({ status: 'ok' });
  mkdirSync(path('share'));
});

test('a typing error in a recipient refuses the start and is named; so does a section that cannot work', async () => {
  const typo = recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
  for (const [text, why] of [
    [`backup: { recipients: [${typo}] }`, /backup\/recipients of the configuration: age1.*checksum/],
    [`backup: { recipients: [${recipient}], schedule: 1h }`, /must have to/],
    [
      `backup: { recipients: [${recipient}], schedule: '25:00', to: [{ directory: /x }] }`,
      /line 1: "backup\/schedule" must be an interval/,
    ],
    [`backup: { recipients: [${recipient}], to: [{ directory: x }] }`, /absolute path/],
    [
      `backup: { recipients: [${recipient}], to: [{ directory: /x, s3: { endpoint: 'https://x', bucket: abc, access-key-id: a, secret-access-key-file: b } }] }`,
      /exactly one/,
    ],
  ] as const) {
    await expect(startDaemon({ directory: path('refused'), args: configured('refused', `${text}\n`) })).rejects.toThrow(why);
  }
  expect(existsSync(path('refused/store'))).toBe(false);
});
