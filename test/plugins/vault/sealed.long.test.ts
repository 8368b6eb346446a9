// What clients of Vault's API are told by an appliance that waits for its PIN, with the real daemon.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const sealPath = '/v1/state/keystore/system/seal';
let daemon: Daemon;
let without: Daemon;

beforeAll(async () => {
  writeFileSync(path('config.yaml'), 'vault:\n  tenants:\n    system: {}\n');
  daemon = await startDaemon({ directory: path('with'), args: ['--config', path('config.yaml')], firstStart: false });
  without = await startDaemon({ directory: path('without') });
});
afterAll(() => Promise.all([daemon.stop(), without.stop()]));

const ask = (of: Daemon, name: string) => of.exchange('GET', `/v1/sys/${name}`, undefined, '');

test('sealed, health and seal-status say so as documents of Vault, with the status that the client wants, and all else is refused', async () => {
  expect(await ask(daemon, 'health')).toMatchObject({ status: 200, body: { sealed: false } });
  expect(await ask(daemon, 'seal-status')).toMatchObject({ status: 200, body: { sealed: false, cluster_name: 'keystored' } });
  const workers = processesBelow(daemon.pid, '/worker.');
  const left = (): readonly number[] => processesBelow(daemon.pid, '/worker.').filter((one) => workers.includes(one));
  expect((await daemon.exchange('POST', sealPath)).status).toBe(204);
  // At once by the processes of before the seal, then by those that wait for the PIN.
  for (let round = 0; round < 2; round++) {
    expect(await ask(daemon, 'health')).toMatchObject({
      ...{ status: 503, headers: { 'content-type': 'application/json' } },
      body: { initialized: true, sealed: true, standby: false, version: expect.any(String), server_time_utc: expect.any(Number) },
    });
    expect(await ask(daemon, 'health?sealedcode=218')).toMatchObject({ status: 218, body: { sealed: true } });
    expect((await ask(daemon, 'health?sealedcode=204')).status).toBe(503);
    const status = await ask(daemon, 'seal-status');
    expect(status).toMatchObject({ status: 200, body: { type: 'pkcs11', initialized: true, sealed: true, t: 1, n: 1, progress: 0 } });
    expect(status.body).not.toHaveProperty('cluster_name');
    expect(await ask(daemon, 'mounts')).toMatchObject({ status: 503, body: { code: 'sealed' } });
    expect((await daemon.exchange('POST', '/v1/sys/health', {}, '')).body).toMatchObject({ code: 'sealed' });
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  }
  const pin = readFileSync(join(path('with'), 'pin'), 'utf8');
  await expect
    .poll(async () => (await daemon.exchange('POST', '/v1/state/keystore/system/unseal', { pin })).status, { timeout: 60_000 })
    .toBe(204);
  await expect.poll(() => ask(daemon, 'health'), { timeout: 30_000 }).toMatchObject({ status: 200, body: { sealed: false } });
});

test('where this API is on for nobody, its paths are as any other', async () => {
  expect((await without.exchange('POST', sealPath)).status).toBe(204);
  expect(await ask(without, 'health')).toMatchObject({ status: 503, body: { code: 'sealed' } });
});
