// Health of a daemon with two workers: a caller of one worker learns what is wrong with the other.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const health = '/v1/state/system/health';

test('a worker that hangs and a worker that ends are seen by every caller, and raise alarms', async () => {
  const directory = path('two');
  const daemon = await startDaemon({ directory, workers: 2 });
  const askOften = () => Promise.all(Array.from({ length: 12 }, () => daemon.exchange('GET', health)));
  const log = (): string =>
    readdirSync(join(directory, 'logs'))
      .map((name) => readFileSync(join(directory, 'logs', name), 'utf8'))
      .join('');
  for (const answer of await askOften()) expect(answer).toMatchObject({ status: 200, body: { status: 'ok', workers: { state: 'up' } } });

  const [first, second] = processesBelow(daemon.pid, '/worker.') as [number, number];
  process.kill(second, 'SIGSTOP');
  await expect
    .poll(
      async () => {
        const answers = await Promise.allSettled(
          [1, 2, 3].map(() => daemon.exchange('GET', health, undefined, '', { connection: 'close' })),
        );
        return answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.body.workers] : []));
      },
      { timeout: 90_000 },
    )
    .toContainEqual({ state: 'incomplete', reason: expect.stringMatching(/^worker [12] /) });
  // The watch looks every two seconds, in worker 1: the alarm is awaited while the other one still hangs.
  await expect.poll(log, { timeout: 60_000 }).toMatch(/alarm: workers: worker [12] /);
  process.kill(second, 'SIGCONT');

  process.kill(first, 'SIGKILL');
  await expect.poll(log, { timeout: 60_000 }).toMatch(/alarm: workers: worker [12] /);
  await expect.poll(async () => (await daemon.exchange('GET', health)).body.status, { timeout: 60_000 }).toBe('ok');
  expect(await daemon.stop()).toBe(0);
});
