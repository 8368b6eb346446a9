// The embedded token is exchanged for that of another appliance while the daemon runs, and comes back: a copy that went to the wrong place.
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../harness/client.ts';
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
  daemon = await startDaemon({ directory: path('data'), workers: 2 });
  await daemon.request('POST', keys, { name: 'one' });
});
afterAll(() => daemon.stop());

const tokens = (): string => path('data', 'softhsm');
const objectIn = (directory: string): string =>
  join(directory, String(readdirSync(directory).find((name) => existsSync(join(directory, name, 'token.object')))), 'token.object');
const exchanges = {
  directory: {
    go() {
      renameSync(tokens(), path('own'));
      cpSync(path('foreign', 'softhsm'), tokens(), { recursive: true });
    },
    back() {
      rmSync(tokens(), { recursive: true });
      renameSync(path('own'), tokens());
    },
  },
  'token.object': {
    go() {
      renameSync(objectIn(tokens()), path('own.object'));
      const folder = readdirSync(tokens(), { withFileTypes: true }).find((entry) => entry.isDirectory());
      cpSync(objectIn(path('foreign', 'softhsm')), join(tokens(), String(folder?.name), 'token.object'));
    },
    back: () => renameSync(path('own.object'), objectIn(tokens())),
  },
};

const works = (): Promise<number> =>
  daemon.exchange('POST', encrypt, { plaintext }).then(
    ({ status }) => status,
    () => 0,
  );

test.each<[what: keyof typeof exchanges, when: string, ends: string | undefined, named: RegExp]>([
  ['directory', 'by itself', undefined, /another token|own keys are missing/],
  ['directory', 'after its host has ended', '/host.', /another token/],
  ['directory', 'after its worker has ended', '/worker.', /being started again/],
  ['token.object', 'after its host has ended', '/host.', /another token/],
  ['token.object', 'after its worker has ended', '/worker.', /being started again/],
])(
  'a %s of another appliance in its place gets no PIN, is named, and the right one works again when it is back, %s',
  async (what, _when, ends, named) => {
    // A host that nobody asked while the token was away learns of it here, with one refusal, and is replaced.
    await expect.poll(works, { timeout: 60_000 }).toBe(200);
    const said = (): string => daemon.output().slice(before);
    const before = daemon.output().length;
    exchanges[what].go();
    const isWorker = ends?.includes('worker') === true;
    // One worker of two: the other one says what there is.
    for (const pid of ends === undefined ? [] : processesBelow(daemon.pid, ends).slice(isWorker ? -1 : 0)) process.kill(pid, 'SIGKILL');
    const why = isWorker ? /cannot start again: .*another token is in its place and does not get/ : /^/;
    await expect.poll(said, { timeout: 60_000 }).toMatch(why);
    // Whatever else happens to be asked of the token meanwhile.
    const creation = (): Promise<number> =>
      daemon.exchange('POST', keys, { name: `other-${++made}` }).then(
        ({ status }) => status,
        () => 0,
      );
    await expect.poll(async () => isWorker || (await creation()) === 503, { timeout: 60_000 }).toBe(true);
    const reason = async (): Promise<string> => JSON.stringify((await daemon.exchange('GET', health)).body);
    await expect.poll(reason, { timeout: 60_000 }).toMatch(named);
    expect(said()).not.toMatch(/refused the PIN/);

    exchanges[what].back();
    await expect.poll(works, { timeout: 60_000 }).toBe(200);
    await expect.poll(creation, { timeout: 60_000 }).toBe(201);
    await expect.poll(async () => (await daemon.exchange('GET', health)).body, { timeout: 60_000 }).toMatchObject({ status: 'ok' });
    expect(said()).not.toMatch(/refused the PIN/);
  },
);

test('a token in a folder of another name is the same one', async () => {
  const before = daemon.output().length;
  const folder = dirname(objectIn(tokens()));
  renameSync(folder, join(tokens(), '00000000-1111-2222-3333-444444444444'));
  for (const pid of processesBelow(daemon.pid, '/host.')) process.kill(pid, 'SIGKILL');
  const creation = (): Promise<number> => daemon.exchange('POST', keys, { name: `other-${++made}` }).then(({ status }) => status);
  await expect.poll(creation, { timeout: 30_000 }).toBe(201);
  expect(daemon.output().slice(before)).not.toMatch(/another token|refused the PIN/);
});

test('an unseal gives the PIN to no other token, which costs no try, and succeeds when the right one is back', async () => {
  const pin = readFileSync(path('data', 'pin'), 'utf8');
  await daemon.request('POST', '/v1/state/keystore/system/seal');
  exchanges.directory.go();
  const unseal = () => ask(daemon.url, '/v1/state/keystore/system/unseal', { method: 'POST', body: { pin }, ca: daemon.caPem });
  for (let times = 0; times < 4; times++) {
    const { status, body } = await unseal();
    expect([status, body.code, String(body.detail)]).toEqual([409, 'data-damaged', expect.stringMatching(/another token is in its place/)]);
  }
  exchanges.directory.back();
  expect((await unseal()).status).toBe(204);
});
