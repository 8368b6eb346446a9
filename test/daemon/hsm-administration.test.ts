// What an HSM administrator does to an appliance that runs: the embedded token's PINs changed, the wrapping key rotated, by keystorectl.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { softhsmModule } from '../setup/softhsm.ts';
import { startDaemon, type Daemon } from '../setup/daemon.ts';
import { temporaryDirectory } from '../setup/temporary.ts';

vi.setConfig({ testTimeout: 180_000 });
const path = temporaryDirectory();
const run = promisify(execFile);
const keys = '/v1/config/keystore/transit-keys';
const orders = '/v1/state/keystore/transit-keys/orders';
const plaintext = 'aGVsbG8=';

async function ctl(daemon: Daemon, directory: string, ...words: readonly string[]): Promise<string> {
  const program = resolve(import.meta.dirname, '../../appliance/cli/keystorectl.ts');
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
      timeout: 30_000,
      interval: 500,
    },
  );
  await works();
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
