// The embedded token is exchanged for that of another appliance while the daemon runs, and comes back: a copy that went to the wrong place.
import { cpSync, renameSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const encrypt = '/v1/state/keystore/transit-keys/one/encrypt';
const health = '/v1/state/system/health';
const plaintext = 'aGVsbG8=';
let daemon: Daemon;
let made = 0;

beforeAll(async () => {
  await (await startDaemon({ directory: path('foreign'), firstStart: true })).stop();
  daemon = await startDaemon({ directory: path('data') });
  await daemon.request('POST', keys, { name: 'one' });
});
afterAll(() => daemon.stop());

test.each<[what: string, endsHost: boolean, named: RegExp]>([
  ['by itself', false, /another token|own keys are missing/],
  ['after its host has ended', true, /another token/],
])(
  'a token of another appliance in its place gets no PIN, is named, and the right one works again when it is back, %s',
  async (_, endsHost, named) => {
    const tokens = path('data', 'softhsm');
    expect((await daemon.exchange('POST', encrypt, { plaintext })).status).toBe(200);
    const said = daemon.output().length;
    renameSync(tokens, path('own'));
    cpSync(path('foreign', 'softhsm'), tokens, { recursive: true });
    if (endsHost) for (const pid of processesBelow(daemon.pid, 'hsm/host/host.ts')) process.kill(pid, 'SIGKILL');
    // Whatever else happens to be asked of the token meanwhile.
    const creation = (): Promise<number> => daemon.exchange('POST', keys, { name: `other-${++made}` }).then(({ status }) => status);
    await expect.poll(creation, { timeout: 60_000 }).toBe(503);
    const reason = async (): Promise<string> => JSON.stringify((await daemon.exchange('GET', health)).body);
    await expect.poll(reason, { timeout: 60_000 }).toMatch(named);
    expect(daemon.output().slice(said)).not.toMatch(/refused the PIN/);

    rmSync(tokens, { recursive: true });
    renameSync(path('own'), tokens);
    await expect.poll(async () => (await daemon.exchange('POST', encrypt, { plaintext })).status, { timeout: 60_000 }).toBe(200);
    await expect.poll(creation, { timeout: 60_000 }).toBe(201);
    await expect.poll(async () => (await daemon.exchange('GET', health)).body, { timeout: 60_000 }).toMatchObject({ status: 'ok' });
  },
);
