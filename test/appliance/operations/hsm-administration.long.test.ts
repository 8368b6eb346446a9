// What an HSM administrator does to an appliance that runs: the embedded token's PINs changed, the wrapping key rotated, by keystorectl.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { softhsmModule } from '../../harness/token/softhsm.ts';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const run = promisify(execFile);
const keys = '/v1/config/keystore/transit-keys';
const orders = '/v1/state/keystore/transit-keys/orders';
const hsm = '/v1/state/system/hsm';
const changePin = '/v1/state/system/change-pin';
const plaintext = 'aGVsbG8=';

async function ctl(daemon: Daemon, directory: string, ...words: readonly string[]): Promise<string> {
  const program = resolve(import.meta.dirname, '../../../appliance/cli/keystorectl.ts');
  const environment = { ...process.env, HOME: path(), KEYSTORED_URL: daemon.url, KEYSTORED_DATA: directory };
  const { stdout, stderr } = await run(process.execPath, [program, ...words], { env: environment });
  return stdout + stderr;
}

test('PINs of the embedded token are changed while it runs: nothing stops, and kills and restarts find the new ones', async () => {
  const directory = path('pins');
  const pin = (): string => readFileSync(join(directory, 'pin'), 'utf8');
  let daemon = await startDaemon({ directory, workers: 2 });
  await daemon.request('POST', keys, { name: 'orders' });
  const { ciphertext } = (await daemon.request('POST', `${orders}/encrypt`, { plaintext })) as { ciphertext: string };
  const works = async (): Promise<void> => {
    for (let count = 0; count < 6; count++)
      expect(await daemon.request('POST', `${orders}/decrypt`, { ciphertext })).toMatchObject({ plaintext });
  };
  const before = pin();
  expect(await ctl(daemon, directory, 'hsm', 'change-pin', '--data-dir', directory)).toContain('changed the user PIN of token default');
  expect([pin() === before, pin().length, existsSync(join(directory, 'pin.new'))]).toEqual([false, 32, false]);
  await works();
  const byCommand = pin();
  const changed = await Promise.all([1, 2].map(() => daemon.exchange('POST', changePin, {})));
  expect(changed.map(({ status, body }) => [status, body ?? ''])).toEqual([
    [204, ''],
    [204, ''],
  ]);
  expect([pin() === byCommand, pin().length, existsSync(join(directory, 'pin.new'))]).toEqual([false, 32, false]);
  expect(await daemon.request('GET', hsm)).toMatchObject({ tokens: [{ name: 'default', 'own-pin': true, state: 'up' }] });
  await works();
  writeFileSync(path('chosen'), 'a-chosen-so-pin');
  await ctl(daemon, directory, 'hsm', 'change-pin', '--data-dir', directory, '--so', '--new-pin-file', path('chosen'));
  expect(readFileSync(join(directory, 'so-pin'), 'utf8')).toBe('a-chosen-so-pin');
  await daemon.kill();
  daemon = await startDaemon({ directory, workers: 2 });
  await works();
  // Sealed processes know no PIN; the new one opens them.
  await daemon.exchange('POST', '/v1/state/keystore/system/seal');
  await vi.waitFor(
    async () => expect((await daemon.exchange('POST', '/v1/state/keystore/system/unseal', { pin: pin() })).status).toBe(204),
    {
      timeout: 60_000,
      interval: 500,
    },
  );
  await works();
  // The file has the PIN as before, although a person has unsealed.
  const given = pin();
  expect(await daemon.request('GET', hsm)).toMatchObject({ tokens: [{ name: 'default', 'own-pin': true }] });
  expect((await daemon.exchange('POST', changePin, {})).status).toBe(204);
  expect([pin() === given, pin().length, existsSync(join(directory, 'pin.new'))]).toEqual([false, 32, false]);
  await works();
  expect(await daemon.stop()).toBe(0);
});

test('an appliance that nobody has seen open is asked for its health and unsealed by keystorectl; everything else says sealed', async () => {
  const directory = path('attended');
  writeFileSync(path('attended.yaml'), 'hsm: { start: attended }\n');
  const daemon = await startDaemon({ directory, args: ['--config', path('attended.yaml')] });
  const health = (): Promise<string> => ctl(daemon, directory, 'show', 'health');
  await expect(health()).rejects.toMatchObject({ code: 6, stdout: expect.stringContaining('"sealed"') });
  for (const words of [
    ['list', 'transit-keys'],
    ['do', 'system', 'seal'],
    ['hsm', 'status'],
  ])
    await expect(ctl(daemon, directory, ...words)).rejects.toMatchObject({ code: 6, stderr: expect.stringContaining('503 sealed') });
  const unseal = ['do', 'system', 'unseal', '--pin', `@${join(directory, 'pin')}`];
  renameSync(join(directory, 'softhsm'), join(directory, 'softhsm-gone'));
  await expect(ctl(daemon, directory, ...unseal)).rejects.toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/409 data-damaged: .*softhsm is missing .*unseal it again when that is mended/),
  });
  renameSync(join(directory, 'softhsm-gone'), join(directory, 'softhsm'));
  await ctl(daemon, directory, ...unseal);
  await vi.waitFor(async () => expect(await health()).toContain('"ok"'), { timeout: 60_000, interval: 200 });
  // A person who gives the PIN at every start has to know it.
  expect(await daemon.request('GET', hsm)).toMatchObject({ tokens: [{ 'own-pin': false }] });
  expect(await daemon.exchange('POST', changePin, {})).toMatchObject({ status: 409, body: { code: 'operation-refused' } });
  expect(await daemon.stop()).toBe(0);
});

test('the wrapping key is rotated on command, every worker goes along, and one is left in the token', async () => {
  const directory = path('rotation');
  writeFileSync(path('rotation.yaml'), 'hsm: { job-timeout: 2s }\n');
  let daemon = await startDaemon({ directory, workers: 2, args: ['--config', path('rotation.yaml')] });
  await daemon.request('POST', keys, { name: 'orders' });
  const { ciphertext } = (await daemon.request('POST', `${orders}/encrypt`, { plaintext })) as { ciphertext: string };
  const rotated = await ctl(daemon, directory, 'hsm', 'rotate-wrapping-key', '--output', 'json');
  expect(JSON.parse(rotated)).toMatchObject({ number: 2, state: 'in-use', done: 3, total: 3, failed: 0 });
  expect(await ctl(daemon, directory, 'hsm', 'status', '--output', 'yaml')).toMatch(/wrapping-key:\n\s+number: 2\n\s+state: in-use/);
  const table = await ctl(daemon, directory, 'hsm', 'status', '--output', 'table');
  expect(table).toMatch(
    /^NAME +STATE +LABEL +SERIAL +WRAPPING-KEY .*\ndefault +up +keystored +[\da-f]{16} +2 in-use .*\n\nPLUGIN +NEEDS +MISSING\n/,
  );
  for (let count = 0; count < 6; count++)
    expect(await daemon.request('POST', `${orders}/decrypt`, { ciphertext })).toMatchObject({ plaintext });
  await daemon.kill();
  daemon = await startDaemon({ directory, workers: 2 });
  expect(await daemon.request('POST', `${orders}/decrypt`, { ciphertext })).toMatchObject({ plaintext });
  expect(await daemon.stop()).toBe(0);
  const token = { module: softhsmModule, label: 'keystored', environment: { SOFTHSM2_CONF: join(directory, 'softhsm.conf') } };
  const { stdout } = await run(
    'pkcs11-tool',
    ['--module', token.module, '--token-label', token.label, '--login', '--pin', readFileSync(join(directory, 'pin'), 'utf8'), '-O'],
    { env: { ...process.env, ...token.environment } },
  );
  expect(stdout.match(/label: +keystored-wrapping-key/g)).toHaveLength(1);
});

type WrappingKey = { readonly number: number; readonly state: string; readonly done: number; readonly total: number };

async function wrappingKeyOf(daemon: Daemon, rootToken = daemon.rootToken): Promise<WrappingKey> {
  const { tokens } = (await daemon.request('GET', '/v1/state/system/hsm', undefined, rootToken)) as {
    tokens: readonly { 'wrapping-key': WrappingKey }[];
  };
  return (tokens[0] as (typeof tokens)[number])['wrapping-key'];
}

/** Waits for the end of a rotation, stops, and has everything checked. */
async function expectRotated(daemon: Daemon, directory: string, rootToken?: string): Promise<string> {
  const options = { timeout: 60_000, interval: 200 };
  await vi.waitFor(async () => expect(await wrappingKeyOf(daemon, rootToken)).toMatchObject({ number: 2, state: 'in-use' }), options);
  expect(await daemon.stop()).toBe(0);
  const program = resolve(import.meta.dirname, '../../../appliance/check.ts');
  const { stdout, stderr } = await run(process.execPath, [program, '--data', directory]);
  expect(stdout).toBe('every invariant holds\n');
  return stderr;
}

test('backups taken before, during and after a rotation restore: every key opens, and a rotation that was under way ends', async () => {
  const directory = path('origin');
  const configuration = ['--config', path('rotation.yaml')];
  writeFileSync(path('rotation.yaml'), 'hsm: { job-timeout: 2s }\n');
  writeFileSync(path('passphrase'), 'a passphrase that is long enough');
  const daemon = await startDaemon({ directory, args: configuration });
  const ciphertexts = new Map<string, string>();
  for (let count = 0; count < 30; count++) {
    await daemon.request('POST', keys, { name: `key-${count}` });
    const path = `/v1/state/keystore/transit-keys/key-${count}`;
    const { ciphertext } = (await daemon.request('POST', `${path}/encrypt`, { plaintext })) as { ciphertext: string };
    ciphertexts.set(path, ciphertext);
  }
  const backUp = async (name: string): Promise<void> => {
    await ctl(daemon, directory, 'backup', '--out', path(`${name}.backup`), '--passphrase', `@${path('passphrase')}`);
  };
  // As a crash between the writing of a copy and its renaming leaves it, and as a backup meets it that is taken in between.
  writeFileSync(join(directory, 'softhsm', 'cut.token.copy.tmp'), 'half a cop');
  // As a file system or a person leaves it.
  writeFileSync(join(directory, 'softhsm', '.nfs0001'), '');
  await backUp('before');
  const begun = daemon.request('POST', '/v1/state/system/rotate-wrapping-key');
  await Promise.all([begun, backUp('beginning')]);
  await vi.waitFor(async () => expect(await wrappingKeyOf(daemon)).toMatchObject({ done: 61, total: 61 }), {
    timeout: 60_000,
    interval: 50,
  });
  await backUp('settling');
  await expectRotated(daemon, directory);

  for (const name of ['before', 'beginning', 'settling']) {
    const args = [...configuration, '--restore', path(`${name}.backup`), '--restore-passphrase-file', path('passphrase')];
    const restored = await startDaemon({ directory: path(name), args, rootToken: daemon.rootToken });
    const open = async (): Promise<void> => {
      for (const [at, ciphertext] of ciphertexts)
        expect(await restored.request('POST', `${at}/decrypt`, { ciphertext })).toMatchObject({ plaintext });
    };
    await open();
    if ((await wrappingKeyOf(restored)).number === 1) await restored.request('POST', '/v1/state/system/rotate-wrapping-key');
    await open();
    await expectRotated(restored, path(name));
  }
});

test('an appliance of the first format goes along: its blobs name no wrapping key', async () => {
  const upgrade = join(import.meta.dirname, '../../upgrade');
  const golden = JSON.parse(readFileSync(join(upgrade, 'appliance-backup-1.json'), 'utf8')) as Record<string, string>;
  writeFileSync(path('golden-passphrase'), golden['passphrase'] as string);
  writeFileSync(path('rotation.yaml'), 'hsm: { job-timeout: 2s }\n');
  const args = ['--config', path('rotation.yaml')];
  const restore = ['--restore', join(upgrade, 'appliance-backup-1.bin'), '--restore-passphrase-file', path('golden-passphrase')];
  const rootToken = golden['root-token'] as string;
  const restored = await startDaemon({ directory: path('golden'), args: [...args, ...restore], rootToken });
  await restored.request('POST', '/v1/state/system/rotate-wrapping-key');
  // Objects of that version may do more than their job, which is said and breaks nothing.
  expect(await expectRotated(restored, path('golden'))).toContain('note: token default: keystored-binding-key may also encrypt');
  const again = await startDaemon({ directory: path('golden'), rootToken });
  const { ciphertext, plaintext: opened, text, signature } = golden;
  expect(await again.request('POST', `${orders}/decrypt`, { ciphertext })).toMatchObject({ plaintext: opened });
  expect(await again.request('POST', `${orders.replace('orders', 'held')}/verify`, { text, signature })).toMatchObject({ valid: true });
  expect(await again.stop()).toBe(0);
});
