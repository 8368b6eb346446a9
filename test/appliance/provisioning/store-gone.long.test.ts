// Store or store key go while the appliance runs: health says so, nothing is acknowledged that a restart would not have, and the key is written again.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { childrenOf } from '../../harness/token/canaries.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const health = '/v1/state/system/health';
const healthOf = (daemon: Daemon) => daemon.exchange('GET', health, undefined, '');
const make = (daemon: Daemon, name: string) => daemon.exchange('POST', keys, { name });

test.each([
  {
    how: 'the directory is gone',
    go: (data: string, away: string) => renameSync(join(data, 'store'), away),
    back: (data: string, away: string) => renameSync(away, join(data, 'store')),
    says: 'data.mdb of the store was removed',
  },
  {
    how: 'its file is gone',
    go: (data: string, away: string) => renameSync(join(data, 'store/data.mdb'), away),
    back: (data: string, away: string) => renameSync(away, join(data, 'store/data.mdb')),
    says: 'data.mdb of the store was removed',
  },
  {
    how: 'a copy is in its place',
    go(data: string, away: string) {
      renameSync(join(data, 'store/data.mdb'), away);
      copyFileSync(away, join(data, 'store/data.mdb'));
    },
    back: (data: string, away: string) => renameSync(away, join(data, 'store/data.mdb')),
    says: 'data.mdb of the store was replaced',
  },
  {
    how: 'the file of its locks is gone',
    go: (data: string, away: string) => renameSync(join(data, 'store/lock.mdb'), away),
    back: (data: string, away: string) => renameSync(away, join(data, 'store/lock.mdb')),
    says: 'lock.mdb of the store was removed',
  },
])(
  'while $how, changes are refused and health says damaged; when it is back, all works again',
  { timeout: 180_000 },
  async ({ how, ...one }) => {
    const data = path(how.replaceAll(' ', '-'));
    const daemon = await startDaemon({ directory: data, workers: 2 });
    await daemon.request('POST', keys, { name: 'before' });
    one.go(data, path(`${how.replaceAll(' ', '-')}-away`));
    for (let count = 0; count < 6; count++)
      expect(await make(daemon, `lost-${count}`)).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } });
    await expect
      .poll(() => healthOf(daemon), { timeout: 60_000 })
      .toMatchObject({ status: 503, body: { status: 'down', store: { state: 'damaged', reason: expect.stringContaining(one.says) } } });
    expect((await daemon.exchange('GET', keys)).status).toBe(200);
    one.back(data, path(`${how.replaceAll(' ', '-')}-away`));
    await expect.poll(async () => (await healthOf(daemon)).body.status, { timeout: 60_000 }).toBe('ok');
    expect((await make(daemon, 'after')).status).toBe(201);
    await daemon.kill();
    const again = await startDaemon({ directory: data });
    expect(((await again.request('GET', keys)) as { name: string }[]).map(({ name }) => name)).toEqual(['after', 'before']);
    expect(await again.stop()).toBe(0);
  },
);

test('a worker that takes the place of another does not make the locks of the store a second time', { timeout: 180_000 }, async () => {
  const data = path('second-locks');
  const daemon = await startDaemon({ directory: data, workers: 2 });
  await daemon.request('POST', keys, { name: 'before' });
  const [lock, away] = [join(data, 'store/lock.mdb'), path('second-locks-away')];
  renameSync(lock, away);
  const [worker] = childrenOf(daemon.pid).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker'));
  process.kill(worker as number, 'SIGKILL');
  await expect
    .poll(() => daemon.output(), { timeout: 60_000 })
    .toMatch(/cannot start again: \S+lock\.mdb was removed or replaced while other processes of the appliance use it: put it back/);
  expect(existsSync(lock)).toBe(false);
  renameSync(away, lock);
  await expect.poll(async () => (await healthOf(daemon)).body.status, { timeout: 60_000 }).toBe('ok');
  for (let n = 0; n < 6; n++) expect((await make(daemon, `after-${n}`)).status).toBe(201);
  expect(await daemon.stop()).toBe(0);
});

test.each([1, 2])(
  'an earlier store copied over that of %i workers is damage, and its credentials are not good again',
  { timeout: 180_000 },
  async (workers) => {
    const data = path(`earlier-${workers}`);
    const daemon = await startDaemon({ directory: data, workers });
    await daemon.request('POST', keys, { name: 'before' });
    const file = join(data, 'store/data.mdb');
    // Written over in place: a file that is emptied first ends the processes.
    const [earlier, overwrite] = [readFileSync(file), (octets: Buffer) => writeFileSync(file, octets, { flag: 'r+' })];
    await daemon.request('POST', keys, { name: 'after' });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    // Jobs commit, too: nothing comes between the copy that is kept and the one that is written.
    process.kill(-daemon.pid, 'SIGSTOP');
    const newest = readFileSync(file);
    overwrite(earlier);
    process.kill(-daemon.pid, 'SIGCONT');
    await expect
      .poll(() => healthOf(daemon), { timeout: 60_000 })
      .toMatchObject({
        status: 503,
        body: { status: 'down', store: { state: 'damaged', reason: expect.stringContaining('an earlier copy of itself') } },
      });
    for (let n = 0; n < 4; n++) {
      expect(await make(daemon, `lost-${n}`)).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } });
      expect(await daemon.exchange('GET', keys)).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } });
    }
    await daemon.kill();
    const said = await startDaemon({ directory: data });
    expect((await healthOf(said)).body).toMatchObject({ status: 'degraded', 'store-behind': { state: 'unanswered' } });
    await said.kill();
    writeFileSync(file, newest);
    const whole = await startDaemon({ directory: data });
    expect(((await whole.request('GET', keys)) as { name: string }[]).map(({ name }) => name)).toEqual(['after', 'before']);
    expect(await whole.stop()).toBe(0);
  },
);

test('a worker that finds an earlier store in the place of one that has ended does not serve it', { timeout: 180_000 }, async () => {
  const data = path('earlier-respawn');
  const daemon = await startDaemon({ directory: data });
  await daemon.request('POST', keys, { name: 'before' });
  const file = join(data, 'store/data.mdb');
  const earlier = readFileSync(file);
  for (let n = 0; n < 3; n++) await daemon.request('POST', keys, { name: `after-${n}` });
  const newest = readFileSync(file);
  writeFileSync(file, earlier);
  for (const pid of childrenOf(daemon.pid)) process.kill(pid, 'SIGKILL');
  await expect.poll(() => daemon.output(), { timeout: 60_000 }).toMatch(/cannot start again: \S+ is an earlier copy of the store/);
  writeFileSync(file, newest);
  await expect.poll(async () => (await healthOf(daemon)).body.status, { timeout: 60_000 }).toBe('ok');
  expect(((await daemon.request('GET', keys)) as unknown[]).length).toBe(4);
  expect(await daemon.stop()).toBe(0);
});

test.each([
  ['removed', (file: string) => rmSync(file)],
  ['emptied', (file: string) => truncateSync(file)],
  ['overwritten', (file: string) => writeFileSync(file, Buffer.alloc(500, 7))],
  [
    'replaced by that of another store',
    (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace(/"mac": "../, '"mac": "AB')),
  ],
])('a store key that was %s is written again from memory', { timeout: 120_000 }, async (how, spoil) => {
  const data = path(`key-${how.replaceAll(' ', '-')}`);
  const daemon = await startDaemon({ directory: data, workers: 2 });
  const file = join(data, 'store-key.json');
  const before = readFileSync(file, 'utf8');
  spoil(file);
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8'), { timeout: 60_000 }).toBe(before);
  expect((await make(daemon, 'kept')).status).toBe(201);
  await daemon.kill();
  const again = await startDaemon({ directory: data });
  await again.request('GET', `${keys}/kept`);
  expect(await again.stop()).toBe(0);
});

test('a store key that cannot be written again is damage', { timeout: 120_000 }, async () => {
  const data = path('unwritable');
  const daemon = await startDaemon({ directory: data });
  const file = join(data, 'store-key.json');
  const before = readFileSync(file);
  rmSync(file);
  mkdirSync(file);
  writeFileSync(join(file, 'in-the-way'), '');
  await expect
    .poll(() => healthOf(daemon), { timeout: 60_000 })
    .toMatchObject({
      status: 503,
      body: { store: { state: 'damaged', reason: expect.stringMatching(/^the file of the store key .*cannot be written again/) } },
    });
  expect(await make(daemon, 'lost')).toMatchObject({ status: 503, body: { code: 'storage-unavailable' } });
  rmSync(file, { recursive: true });
  writeFileSync(file, before, { mode: 0o600 });
  await expect.poll(async () => (await healthOf(daemon)).body.status, { timeout: 60_000 }).toBe('ok');
  expect(await daemon.stop()).toBe(0);
});
