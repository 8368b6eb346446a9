// An appliance that is asked to found a cluster as soon as its first worker answers.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { type Answer, ask } from '../harness/client.ts';
import { type Daemon, freePort } from '../harness/daemon.ts';
import { processesBelow } from '../harness/processes.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { clusterState, OwnMembers } from './own-members.ts';

const path = temporaryDirectory();
let daemon: Daemon | undefined;
afterAll(async () => {
  await daemon?.stop();
});

/** Stops the process of a worker that has just been started. */
async function holdWorker(number: number): Promise<number> {
  for (;;) {
    const found = processesBelow(process.pid, '/worker.').find((pid) =>
      readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`KEYSTORED_WORKER=${number}`),
    );
    if (found !== undefined) {
      process.kill(found, 'SIGSTOP');
      return found;
    }
    await setTimeout(5);
  }
}

test('while its other workers start, that is refused with a word and changes nothing; when they serve, it becomes one', async () => {
  const members = await OwnMembers.prepare(path);
  const first = await members.start('a');
  await first.stop();
  const { caPem: ca, rootToken: token } = first;
  const port = await freePort();
  const starting = members.start('a', { port, workers: 2 });
  starting.catch(() => undefined);
  const held = await holdWorker(2);
  // The first worker answers, whatever becomes of the others.
  const init = async (): Promise<Answer> => {
    for (;;) {
      const answer = await ask(`https://127.0.0.1:${port}`, `${clusterState}/init`, { method: 'POST', ca, token }).catch(() => undefined);
      if (answer !== undefined) return answer;
      await setTimeout(20);
    }
  };
  const answer = await init();
  process.kill(held, 'SIGCONT');
  expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('still starting') } });
  daemon = await starting;
  await members.found(daemon);
  expect(daemon.output()).not.toContain('ended while starting');
});
