// A data directory has one appliance at a time, also where two do not see each other but in its file system.
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { verifyTrail } from '../../../core/audit/verify.ts';
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
