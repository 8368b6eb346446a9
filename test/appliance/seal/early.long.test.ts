// Changes that replace all workers, asked of the first one that serves while the others still start.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { ask } from '../../harness/client.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const health = '/v1/state/system/health';
const sealPath = '/v1/state/keystore/system/seal';
const unsealPath = '/v1/state/keystore/system/unseal';

let daemon: Daemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** Starts again what was provisioned, and asks the first worker as soon as it answers health with `status`. */
async function startAndAsk(directory: string, status: number, change: (url: string, ca: string) => Promise<unknown>): Promise<string> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const ca = readFileSync(join(directory, 'tls/ca.pem'), 'utf8');
  const starting = startDaemon({ directory, workers: 4, port, firstStart: false });
  const over = starting.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([over, setTimeout(5, false)]))) {
    const answer = await ask(url, health, { ca }).catch(() => undefined);
    if (answer?.status === status) break;
  }
  const changed = await change(url, ca);
  daemon = await starting;
  return `${String(changed)}\n${daemon.output()}`;
}

test('sealed while other workers start, it waits for the PIN, and unsealed it serves; the start ends with neither', async () => {
  const directory = path('sealed');
  await (await startDaemon({ directory })).stop();
  const rootToken = readFileSync(join(directory, 'root-token'), 'utf8').trim();
  const output = await startAndAsk(directory, 200, async (url, ca) => {
    const sealed = await ask(url, sealPath, { method: 'POST', token: rootToken, ca });
    return sealed.status;
  });
  expect(output).toMatch(/^204\n/);
  expect(output).not.toContain('ended while starting');
  const served = daemon as Daemon;
  await expect.poll(async () => (await served.exchange('GET', health)).body, { timeout: 30_000 }).toMatchObject({ status: 'sealed' });
  const pin = readFileSync(join(directory, 'pin'), 'utf8');
  const unsealed = await served.exchange('POST', unsealPath, { pin });
  expect(unsealed.status).toBe(204);
  await expect.poll(async () => (await served.exchange('GET', sealPath)).status, { timeout: 30_000 }).toBe(405);
});

test('unsealed right after a seal, of two that ask one is told that the other is under way, and the workers of before end', async () => {
  const directory = path('at-once');
  const served = (daemon = await startDaemon({ directory, workers: 2 }));
  const pin = readFileSync(join(directory, 'pin'), 'utf8');
  const before = processesBelow(served.pid, '/worker.');
  expect((await served.exchange('POST', sealPath)).status).toBe(204);
  const answers = await Promise.all([1, 2].map(() => served.exchange('POST', unsealPath, { pin })));
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([204, 409]);
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining('under way'),
  });
  await expect.poll(() => processesBelow(served.pid, '/worker.').filter((one) => before.includes(one)), { timeout: 30_000 }).toEqual([]);
});
