// A data directory has one appliance at a time, also where two do not see each other but in its file system.
import { join } from 'node:path';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { startAndEnd } from '../../harness/refused-start.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
/** As a container has it: another network, and other process ids. */
const contained = ['unshare', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
const isOpen = async (daemon: Daemon): Promise<void> => void (await daemon.request('GET', '/v1/config/keystore/transit-keys'));

test('an appliance in another network name space does not start on a directory that is held', async () => {
  const directory = path('held');
  const daemon = await startDaemon({ directory });
  const { status, last } = await startAndEnd(directory, { within: contained });
  expect(last).toMatch(/^keystored: --data \S+ is held by another running keystored: perhaps in another container .*stop it first/);
  expect(status).toBe(1);
  await isOpen(daemon);
  expect(await daemon.stop()).toBe(0);
  expect((await verifyTrail(join(directory, 'audit'), new Map())).findings.filter(({ problem }) => !problem.includes('key'))).toEqual([]);
});

test('a kill leaves no lock, and what is in its file has no meaning', async () => {
  const directory = path('killed');
  const daemon = await startDaemon({ directory });
  await daemon.kill();
  writeFileSync(join(directory, 'lock'), Buffer.alloc(8_192, 0x5a));
  expect(await startAndEnd(directory, { within: contained })).toMatchObject({ status: 0 });
  const again = await startDaemon({ directory });
  await isOpen(again);
  expect(await again.stop()).toBe(0);
});

test.each([
  ['removed', (file: string) => rmSync(file)],
  ['moved away', (file: string) => renameSync(file, `${file}.away`)],
  ['replaced', (file: string) => (rmSync(file), writeFileSync(file, 'something else'))],
])('a lock file that is %s while the appliance runs is held again, and nobody else gets in', { timeout: 120_000 }, async (how, spoil) => {
  const directory = path(how.replace(' ', '-'));
  const daemon = await startDaemon({ directory, workers: 2 });
  spoil(join(directory, 'lock'));
  await expect
    .poll(() => daemon.output(), { timeout: 30_000 })
    .toMatch(/lock file of the data directory was (?:removed|replaced) .*held again/);
  expect(existsSync(join(directory, 'lock'))).toBe(true);
  const { status, last } = await startAndEnd(directory, { within: contained });
  expect([status, last]).toEqual([1, expect.stringContaining('is held by another running keystored')]);
  for (let n = 0; n < 4; n++)
    await expect
      .poll(() => daemon.exchange('POST', '/v1/config/keystore/transit-keys', { name: `key-${n}` }), { timeout: 30_000 })
      .toMatchObject({ status: 201 });
  expect((await daemon.exchange('GET', '/v1/state/system/health')).body.status).toBe('ok');
  expect(await daemon.stop()).toBe(0);
});

test('where another appliance was faster, the first changes nothing more, and ends', { timeout: 120_000 }, async () => {
  const directory = path('taken');
  const first = await startDaemon({ directory, workers: 2 });
  process.kill(first.pid, 'SIGSTOP');
  rmSync(join(directory, 'lock'));
  const second = await startDaemon({ directory, within: contained, rootToken: first.rootToken });
  for (let n = 0; n < 4; n++)
    expect(await first.exchange('POST', '/v1/config/keystore/transit-keys', { name: `lost-${n}` })).toMatchObject({
      status: 503,
      body: { code: expect.stringMatching(/^(?:storage|audit)-unavailable$/) },
    });
  process.kill(first.pid, 'SIGCONT');
  expect(await first.ended).toBe(1);
  expect(first.output()).toMatch(/another keystored has taken the directory: this one ends at once/);
  await second.kill();
  const third = await startDaemon({ directory });
  expect(((await third.request('GET', '/v1/config/keystore/transit-keys')) as { name: string }[]).map(({ name }) => name)).toEqual([]);
  expect(await third.stop()).toBe(0);
});
