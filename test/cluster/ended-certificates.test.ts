// npm test -- cluster: an appliance, or all of them, were off until their certificates for etcd had ended. They were issued by a clock that was so
// far behind that they end within minutes of the real time, which etcd goes by.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { endOfCertificates } from '../../appliance/cluster/membership/files.ts';
import type { Daemon } from '../harness/daemon.ts';
import { ShiftedClock } from '../harness/steady/shifted-clock.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { refusalOf } from './daemons.ts';
import { makeNextVersion } from './next-version.ts';
import { OwnMembers, seenBy } from './own-members.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

const path = temporaryDirectory();
const daemonProgram = await serviceUnderTest();
/** For a clock by which certificates are issued that end so soon. */
const secondsUntilEnd = (seconds: number): number => seconds - 90 * 86_400;
const [keys, encrypt] = ['/v1/config/keystore/transit-keys', '/v1/state/keystore/transit-keys/k/encrypt'];
const running = new Set<Daemon>();

afterEach(async () => {
  for (const daemon of running) await daemon.stop().catch(() => undefined);
  running.clear();
});

type Cluster = {
  readonly members: OwnMembers;
  readonly clock: ShiftedClock;
  readonly start: (name: string, by?: Daemon) => Promise<Daemon>;
  /** The first two, with a key. */
  readonly first: Daemon;
  readonly second: Daemon;
};

/** Appliances with one clock, of a version that was released long before, whose certificates end in so many seconds. */
async function prepare(directory: string, seconds: number): Promise<Cluster> {
  const below = (...names: string[]): string => path(directory, ...names);
  const members = await OwnMembers.prepare(below, undefined, () => ({ environment }));
  const clock = new ShiftedClock(below('clock'));
  const environment = await clock.environment();
  const program = makeNextVersion(below('version'));
  const start = async (name: string, by?: Daemon): Promise<Daemon> => {
    const daemon = await (by === undefined ? members.start(name, { program }) : members.join(name, by, { program }));
    running.add(daemon);
    return daemon;
  };
  clock.set(secondsUntilEnd(seconds));
  const first = await start('a');
  await members.found(first);
  await first.request('POST', keys, { name: 'k' });
  return { members, clock, start, first, second: await start('b', first) };
}

async function end(daemon: Daemon): Promise<void> {
  running.delete(daemon);
  await daemon.stop();
}

const endOf = (directory: string, name: string): number => endOfCertificates(path(directory, `data-${name}`));
const untilEnded = (directory: string, name: string): Promise<void> => setTimeout(Math.max(0, endOf(directory, name) - Date.now()) + 1_000);
const use = async (daemon: Daemon): Promise<number> => (await daemon.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status;

test('one was off too long: it stays out and says why; with an empty data directory and an invitation it is in again', async () => {
  const { clock, start, first: a, second: b } = await prepare('one', 240);
  await end(await start('c', a));
  clock.set(0);
  for (const daemon of [a, b]) await end(daemon);
  const [first, second] = await Promise.all([start('a'), start('b')]);
  // A third of their life is left to those that are renewed.
  for (const name of ['a', 'b']) await expect.poll(() => endOf('one', name), { timeout: 60_000 }).toBeGreaterThan(Date.now() + 86_400_000);
  await untilEnded('one', 'c');
  const refusal = await refusalOf(start('c'));
  expect(refusal).toMatch(/^keystored: cluster: .*certificates .* ended on/m);
  expect(await Promise.all([first, second].map(use))).toEqual([200, 200]);
  rmSync(path('one', 'data-c'), { recursive: true });
  const third = await start('c', second);
  expect(await use(third)).toBe(200);
  await expect
    .poll(async () => (await seenBy(first)).members.map(({ name, state }) => `${name} ${state}`), { timeout: 60_000 })
    .toEqual(['a in', 'b in', 'c in']);
});

test('all were off too long: none comes in, and each says why; one is made the new first with everything', async () => {
  const { members, clock, start, first: a, second: b } = await prepare('all', 120);
  for (const daemon of [b, a]) await end(daemon);
  clock.set(0);
  for (const name of ['a', 'b']) await untilEnded('all', name);
  const refusals = await Promise.all(['a', 'b'].map((name) => refusalOf(start(name))));
  for (const refusal of refusals) expect(refusal).toMatch(/^keystored: cluster: .*certificates .* ended on/m);
  const words = ['recover-cluster', '--config', path('all', 'a.yaml'), '--data', path('all', 'data-a'), '--yes'];
  expect(spawnSync(process.execPath, [daemonProgram, ...words]).status).toBe(0);
  const first = await start('a');
  expect(await use(first)).toBe(200);
  await members.found(first);
  rmSync(path('all', 'data-b'), { recursive: true });
  expect(await use(await start('b', first))).toBe(200);
});
