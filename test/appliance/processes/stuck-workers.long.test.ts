// Workers that hang: each is replaced, and never all of them at once.
import { afterAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let daemon: Daemon;
afterAll(() => daemon.stop());

test('of two workers that hang at once the second is replaced when the successor of the first serves', { timeout: 240_000 }, async () => {
  daemon = await startDaemon({ directory: path('data'), workers: 2 });
  const hanging = processesBelow(daemon.pid, '/worker.');
  expect(hanging).toHaveLength(2);
  for (const pid of hanging) process.kill(pid, 'SIGSTOP');
  const told = (): string[] =>
    [...daemon.output().matchAll(/completes no handshakes: it is (replaced when|replaced).* worker=(\d)/g)].map(
      ([, how, worker]) => `${worker} ${how === 'replaced' ? 'replaced' : 'kept'}`,
    );
  await expect.poll(told, { timeout: 180_000, interval: 500 }).toHaveLength(3);
  const [first, second] = told()[0] === '1 replaced' ? ['1', '2'] : ['2', '1'];
  expect(told()).toEqual([`${first} replaced`, `${second} kept`, `${second} replaced`]);
  await expect.poll(async () => (await daemon.exchange('GET', '/v1/config/tenants')).status, { timeout: 60_000 }).toBe(200);
});
