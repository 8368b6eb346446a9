// npm test -- cluster: the clock of one of three whole appliances is wrong. It goes by those of the others, and says so.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ShiftedClock } from '../harness/steady/shifted-clock.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { endMember, type Member, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const [health, tokens, keys] = ['/v1/state/system/health', '/v1/state/keystore/token/create', '/v1/config/keystore/transit-keys'];
let shared: Shared;
let members: Member[];
let clock: ShiftedClock;

type Made = { readonly token: string; readonly 'creation-time': string };
const clockOf = async (member: Member): Promise<unknown> => (await member.exchange('GET', health)).body['clock'];
const secondsAhead = ({ 'creation-time': made }: Made): number => (Date.parse(made) - Date.now()) / 1_000;

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  clock = new ShiftedClock(path('clock'));
  const first = await startMember(prepared, 'a');
  shared = { ...prepared, rootToken: first.rootToken };
  members = [first, await startMember(shared, 'b'), await startMember(shared, 'c', { environment: await clock.environment() })];
  for (const member of members) await vi.waitFor(async () => expect(await clockOf(member)).toEqual({ state: 'up' }), 20_000);
});
afterAll(async () => {
  for (const member of members) await endMember(member).catch(() => undefined);
  await shared.etcd.stop();
});

test.each([1_200, -1_200, 3 * 86_400])(
  '%s seconds: what it makes is of the right time and works at once at all; it recovers by itself',
  async (seconds) => {
    const [first, second, wrong] = members as [Member, Member, Member];
    clock.set(seconds);
    // A clock that is set forward ends the validity until the next heartbeat.
    const made = await vi.waitFor(async () => (await wrong.request('POST', tokens, { policies: ['root'], ttl: '1h' })) as Made, 5_000);
    expect(secondsAhead(made)).toBeCloseTo(0, -2);
    for (const member of members) expect((await member.exchange('GET', keys, undefined, made.token)).status).toBe(200);
    const outvoted = { state: 'outvoted', reason: expect.stringContaining('most other appliances') };
    await vi.waitFor(async () => expect(await clockOf(wrong)).toMatchObject(outvoted), 5_000);
    expect(await Promise.all([first, second].map(clockOf))).toEqual([{ state: 'up' }, { state: 'up' }]);
    clock.set(0);
    await vi.waitFor(async () => expect(await clockOf(wrong)).toEqual({ state: 'up' }), 5_000);
    await vi.waitFor(async () => expect((await wrong.exchange('GET', keys, undefined, made.token)).status).toBe(200), 5_000);
  },
);

test('with one other nobody can tell who is right', async () => {
  const [, second, wrong] = members as [Member, Member, Member];
  await endMember(second);
  clock.set(1_200);
  await vi.waitFor(async () => expect(await clockOf(wrong)).toEqual({ state: 'up' }), 30_000);
  const made = await vi.waitFor(async () => (await wrong.request('POST', tokens, { ttl: '1h' })) as Made, 5_000);
  expect(secondsAhead(made)).toBeCloseTo(1_200, -2);
});
