// npm test -- cluster: appliances with a token each, whose own keys are carried to those that join. Each test goes on with what the one before has left.
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { numbersIn } from '../harness/token/carrying.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { argsOf } from './daemons.ts';
import { etcdProgram, freePorts } from './etcd.ts';
import { isMember } from './own-members.ts';

const path = temporaryDirectory();
const [keys, state] = ['/v1/config/keystore/transit-keys', '/v1/state/system/cluster'];
const of = (key: string, action: string): string => `/v1/state/keystore/transit-keys/${key}/${action}`;
const plaintext = 'aGVsbG8=';

type Wrapping = { readonly number: number; readonly state: string };

const tokens = new Map<string, TokenConfig>();
const sections = new Map<string, object>();
const ciphertexts: string[] = [];
let rootToken: string;
let a: Daemon;
let b: Daemon;
let c: Daemon;

const start = async (name: string, invitation?: string): Promise<Daemon> => {
  if (!tokens.has(name)) tokens.set(name, await makeEmptySoftToken(path('tokens'), name));
  const [clientPort, peerPort] = await freePorts(2);
  const section = sections.get(name) ?? {
    ...{ address: '127.0.0.1', 'client-port': clientPort, 'peer-port': peerPort, program: etcdProgram() },
    ...(invitation === undefined ? {} : { 'invitation-file': invitation }),
  };
  sections.set(name, section);
  const cluster = { name, member: section };
  const token = { ...(tokens.get(name) as TokenConfig), group: 'default' };
  const args = argsOf(path, name, { tokens: [], hsm: { tokens: [token], 'job-timeout': '5s' }, cluster });
  return startDaemon({ directory: path(`data-${name}`), workers: 2, args, ...(rootToken === undefined ? {} : { rootToken }) });
};
const invited = async (by: Daemon, name: string): Promise<string> => {
  const { invitation } = (await by.request('POST', `${state}/invite`)) as { invitation: string };
  writeFileSync(path(`invitation-${name}`), `${invitation}\n`);
  return path(`invitation-${name}`);
};
const wrappingKey = async (daemon: Daemon): Promise<Wrapping> => {
  const { tokens: shown } = (await daemon.request('GET', '/v1/state/system/hsm')) as { tokens: { 'wrapping-key': Wrapping }[] };
  return shown[0]?.['wrapping-key'] as Wrapping;
};
const numbers = (...names: string[]): Promise<number[][]> => Promise.all(names.map((name) => numbersIn(tokens.get(name) as TokenConfig)));
const makeAndUse = async (key: string, by: Daemon): Promise<void> => {
  await by.request('POST', keys, { name: key });
  const { ciphertext } = (await by.request('POST', of(key, 'encrypt'), { plaintext })) as { ciphertext: string };
  ciphertexts.push(ciphertext);
};
/** Every key on every one of them. */
const opensAll = async (...daemons: Daemon[]): Promise<void> => {
  for (const daemon of daemons)
    for (const [at, ciphertext] of ciphertexts.entries())
      expect(await daemon.request('POST', of(`key-${at}`, 'decrypt'), { ciphertext })).toMatchObject({ plaintext });
};
const rotated = (number: number, ...daemons: Daemon[]): Promise<unknown> =>
  Promise.all(
    daemons.map((daemon) => expect.poll(() => wrappingKey(daemon), { timeout: 90_000 }).toMatchObject({ number, state: 'in-use' })),
  );

beforeAll(async () => {
  mkdirSync(path(), { recursive: true });
  a = await start('a');
  ({ rootToken } = a);
  await makeAndUse('key-0', a);
  await a.request('POST', `${state}/init`);
  await vi.waitUntil(
    async () => {
      return isMember(await a.exchange('GET', state).catch(() => undefined));
    },
    { timeout: 60_000, interval: 100 },
  );
}, 120_000);

afterAll(async () => {
  for (const daemon of [c, b, a]) if (daemon !== undefined) await daemon.stop().catch(() => undefined);
});

test('two that join get the own keys into their tokens, and what one made the others open', async () => {
  b = await start('b', await invited(a, 'b'));
  await opensAll(b);
  await makeAndUse('key-1', b);
  c = await start('c', await invited(b, 'c'));
  await makeAndUse('key-2', c);
  await opensAll(a, b, c);
  await expect
    .poll(() => a.exchange('GET', of('key-2', 'distribution')), { timeout: 30_000 })
    .toMatchObject({
      status: 200,
      body: { complete: true },
    });
  await rotated(3, a, b, c);
  await expect.poll(() => numbers('a', 'b', 'c'), { timeout: 90_000 }).toEqual([[3], [3], [3]]);
});

test('a rotation carries the next keys to every token, and is refused by name while one is away', async () => {
  expect(await b.request('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({ number: 4 });
  await makeAndUse('key-3', c);
  await rotated(4, a, b, c);
  await opensAll(a, b, c);
  await c.stop();
  expect(await a.exchange('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({
    status: 409,
    body: { code: 'operation-refused', errors: [{ 'error-message': expect.stringContaining('"c" is away') }] },
  });
  c = await start('c');
  await opensAll(c);
});

test('killed in the middle of a carrying, it comes back with the keys that are in use, and the next rotation reaches all', async () => {
  const rotation = a.exchange('POST', '/v1/state/system/rotate-wrapping-key', {}).catch(() => undefined);
  await c.kill();
  await rotation;
  c = await start('c');
  await opensAll(a, b, c);
  const before = (await wrappingKey(a)).number;
  await expect
    .poll(async () => (await b.exchange('POST', '/v1/state/system/rotate-wrapping-key', {})).status, { timeout: 120_000, interval: 1_000 })
    .toBe(200);
  const { number } = await wrappingKey(b);
  expect(number).toBeGreaterThanOrEqual(before);
  await rotated(number, a, b, c);
  await opensAll(a, b, c);
});

test('the wrapping key is rotated after one was removed, whose token does not get it, and starts of the others open everything', async () => {
  const { number } = await wrappingKey(a);
  await c.kill();
  const remove = () => a.request('POST', `${state}/remove-member`, { member: 'c', 'even-if-alive': true });
  expect(await remove()).toMatchObject({ name: 'c', 'wrapping-key': 'rotating' });
  expect(await remove()).toMatchObject({ name: 'c', 'wrapping-key': expect.stringMatching(/^rotat(ing|ed)$/) });
  await expect.poll(async () => (await wrappingKey(b)).number, { timeout: 30_000 }).toBeGreaterThan(number);
  await makeAndUse('key-4', b);
  const next = (await wrappingKey(b)).number;
  await rotated(next, a, b);
  await expect.poll(() => numbers('a', 'b'), { timeout: 90_000 }).toEqual([[next], [next]]);
  expect(await remove()).toMatchObject({ 'wrapping-key': 'rotated' });
  expect((await wrappingKey(b)).number).toBe(next);
  expect(await numbers('c')).not.toContainEqual(expect.arrayContaining([next]));
  expect(await Promise.all([a, b].map((daemon) => daemon.stop()))).toEqual([0, 0]);
  [a, b] = await Promise.all([start('a'), start('b')]);
  await opensAll(a, b);
});
