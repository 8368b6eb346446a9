// A worker that is started again and cannot open its token is started again, later each time, until it can.
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { children, end } from '../../harness/kills/victims.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.stop();
});

test('its token hosts are killed while it opens the token: it serves in the end, and health says so', async () => {
  const started = await startDaemon({ directory: path('data'), workers: 2 });
  daemon = started;
  const { pid } = started;
  // Every process that a new worker starts for its token ends before it can answer; the worker that goes on serving is left alone.
  const [victim = 0, kept] = children(pid);
  end(victim);
  while (!started.output().includes('cannot start again')) {
    for (const worker of children(pid)) if (worker !== kept) for (const host of children(worker)) end(host);
    await setTimeout(5);
  }
  const workersPart = async (): Promise<unknown> =>
    ((await started.request('GET', '/v1/state/system/health')) as { workers?: unknown }).workers;
  await expect.poll(workersPart, { timeout: 120_000 }).toMatchObject({ state: 'up' });
  expect(children(pid)).toHaveLength(2);
});
