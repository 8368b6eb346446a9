// The supervisor alone is killed, as by hand or for want of memory: its workers go with it, in the middle of writes too.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isFree, startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const policies = '/v1/config/policy/policies';

test.each([1, 2])('under load, round %i: nobody listens any more, and the next start finds what was acknowledged', async (round) => {
  const directory = path(`round-${round}`);
  const daemon = await startDaemon({ directory, workers: 2 });
  const acknowledged: string[] = [];
  const lanes = Array.from({ length: 8 }, (_, lane) => writeUntilCut(daemon, `lane-${lane}`, acknowledged));
  while (acknowledged.length < 40) await delay(10);
  process.kill(daemon.pid, 'SIGKILL');
  try {
    await expect.poll(() => isFree(Number(new URL(daemon.url).port)), { timeout: 60_000 }).toBe(true);
  } finally {
    killGroup(daemon.pid);
  }
  await Promise.all(lanes);
  const next = await startDaemon({ directory });
  const names = (await next.request('GET', `${policies}?keys=true`)) as string[];
  expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
  expect(await next.stop()).toBe(0);
});

async function writeUntilCut(daemon: Daemon, lane: string, acknowledged: string[]): Promise<void> {
  for (let turn = 0; ; turn++) {
    const name = `${lane}-${turn}`;
    try {
      await daemon.request('POST', policies, { name });
    } catch {
      return;
    }
    acknowledged.push(name);
  }
}

/** A worker that was left behind is no burden for the tests after this one. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them are gone.
  }
}
