// npm test -- cluster: an appliance with a token of its own is killed before steps of its joining, and the one that gives it the keys is killed
// while it does. Each time the same command lets it join. KILLS_JOINING says before how many steps, over the whole of a joining.
import { existsSync, rmSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memberFiles } from '../../appliance/cluster/membership/files.ts';
import { type Daemon, type DaemonOptions, startUnlessAbandoned } from '../harness/daemon.ts';
import { countingIn } from '../harness/kills/starts.ts';
import { findUnsound } from '../harness/kills/whole-check.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { OwnMembers, seenBy } from './own-members.ts';

const path = temporaryDirectory();
const kills = Number(process.env['KILLS_JOINING'] ?? 4);
const decrypt = '/v1/state/keystore/transit-keys/early/decrypt';
const plaintext = 'aGVsbG8=';
const abandonAfterMs = 180_000;

let members: OwnMembers;
let a: Daemon;
let b: Daemon;
let ciphertext: string;
/** of a whole joining */
let steps: number;

beforeAll(async () => {
  members = await OwnMembers.prepare(path, async () => []);
  a = await members.start('a');
  await members.found(a);
  b = await members.join('b', a);
  await a.request('POST', '/v1/config/keystore/transit-keys', { name: 'early' });
  ({ ciphertext } = (await a.request('POST', decrypt.replace('decrypt', 'encrypt'), { plaintext })) as { ciphertext: string });
}, 240_000);
afterAll(async () => {
  for (const daemon of [b, a]) if (daemon !== undefined) await daemon.stop().catch(() => undefined);
});

const startC = async (invitation: string, options: Partial<DaemonOptions> = {}): Promise<Daemon | undefined> =>
  startUnlessAbandoned({
    ...{ directory: path('data-c'), workers: 2, args: await members.argsOf('c', invitation), rootToken: a.rootToken, abandonAfterMs },
    ...options,
  });
/** The same command again, as who runs it does when it was refused because the other one was gone. */
const joinAtLast = async (invitation: string): Promise<Daemon> => {
  let refusal: unknown;
  for (let tries = 0; tries < 6; tries++) {
    const joined = await startC(invitation).catch((error: unknown) => void (refusal = error));
    if (joined !== undefined) return joined;
    await setTimeout(2_000);
  }
  throw refusal;
};
/** What it opens of what there was, how it ends, and what is unsound then; after that it is lost with its disk. */
const lose = async (c: Daemon): Promise<readonly unknown[]> => {
  const { plaintext: opened } = (await c.request('POST', decrypt, { ciphertext })) as { plaintext: string };
  const seen = [opened, await c.stop(), await findUnsound(path('data-c'))];
  rmSync(path('data-c'), { recursive: true });
  await vi.waitUntil(async () => (await seenBy(a)).members.every(({ name, state }) => name !== 'c' || state === 'out'), {
    timeout: 30_000,
    interval: 200,
  });
  return seen;
};
const good = [plaintext, 0, []];

test('an appliance that has lost its disk and its token takes its former place, with the keys carried to the new one', async () => {
  for (let time = 0; time < 2; time++) {
    const counted = path(`steps-${time}`);
    const c = await startC(await members.invitationBy(a, 'c'), { environment: countingIn(counted) });
    steps = statSync(counted).size;
    expect(await lose(c as Daemon)).toEqual(good);
  }
}, 300_000);

test(`killed before ${kills} steps of its joining, it joins by the same command`, async () => {
  for (let turn = 0; turn < kills; turn++) {
    const invitation = await members.invitationBy(a, 'c');
    const step = 1 + Math.floor(((turn + 0.5) * steps) / kills);
    const killed = await startC(invitation, { environment: { ...countingIn(path(`kill-${turn}`)), KILLS_AT_STEP: String(step) } });
    await killed?.kill();
    expect(await lose(await joinAtLast(invitation))).toEqual(good);
  }
}, 1_200_000);

test('the one that gives the keys is killed while it does: it comes back, nothing is left half, and the same command lets the new one join', async () => {
  for (const afterMs of [0, 1_500]) {
    const invitation = await members.invitationBy(a, 'c');
    const joining = startC(invitation).catch(() => undefined);
    await vi.waitUntil(() => existsSync(memberFiles(path('data-c')).transport), { timeout: 60_000, interval: 20 });
    await setTimeout(afterMs);
    await a.kill();
    // Where the invitation says.
    a = await members.start('a', { port: Number(new URL(a.url).port) });
    expect(await lose((await joining) ?? (await joinAtLast(invitation)))).toEqual(good);
  }
  expect(await Promise.all([a, b].map((daemon) => daemon.stop()))).toEqual([0, 0]);
  for (const name of ['a', 'b']) expect(await findUnsound(path(`data-${name}`), await members.argsOf(name))).toEqual([]);
  [a, b] = await Promise.all([members.start('a'), members.start('b')]);
  for (const daemon of [a, b]) expect(await daemon.request('POST', decrypt, { ciphertext })).toMatchObject({ plaintext });
}, 600_000);
