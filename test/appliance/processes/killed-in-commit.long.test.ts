// A worker is killed when its change is committed and the others do not know yet: they answer from it before another worker is in its place.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { preloaded } from '../../harness/preloaded.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const policies = '/v1/config/policy/policies';

test('what a killed worker had committed is seen by the others without the help of the one that takes its place', async () => {
  const LD_PRELOAD = await preloaded(join(import.meta.dirname, '../../core/store/killed-in-commit.c'));
  const KEYSTORED_KILL_ONCE = path('kill-once');
  const daemon = await startDaemon({ directory: path('data'), workers: 2, environment: { LD_PRELOAD, KEYSTORED_KILL_ONCE } });
  const workers = (): number[] => processesBelow(daemon.pid, '/worker.');
  const before = workers();
  expect(before).toHaveLength(2);
  writeFileSync(KEYSTORED_KILL_ONCE, '');
  const cut = await changeUntilCut(daemon);
  // Stopped before it has opened the store: it cannot be what shows the change.
  let next: number | undefined;
  while (next === undefined) {
    next = workers().find((pid) => !before.includes(pid));
    await setTimeout(5);
  }
  process.kill(next, 'SIGSTOP');
  await expect.poll(async () => (await daemon.exchange('GET', `${policies}/${cut}`)).status, { timeout: 20_000 }).toBe(200);
  process.kill(next, 'SIGCONT');
  expect(await daemon.stop()).toBe(0);
});

/** The name of the change that was cut off. The kernel chooses which worker gets a connection. */
async function changeUntilCut(daemon: Daemon): Promise<string> {
  for (let count = 0; ; count++) {
    const name = `change-${count}`;
    try {
      await daemon.exchange('POST', policies, { name });
    } catch {
      return name;
    }
  }
}
