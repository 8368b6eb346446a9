// npm test -- cluster: appliances that stand alone and join by a request. Each test goes on with what the one before has left.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ask } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { argsOf } from './daemons.ts';
import { etcdProgram } from '../../appliance/packaging/etcd/program.ts';
import { freePorts } from './etcd.ts';
import { isMember } from './own-members.ts';

const path = temporaryDirectory();
const [keys, state] = ['/v1/config/keystore/transit-keys', '/v1/state/system/cluster'];
const ports = new Map<string, readonly number[]>();
let token: TokenConfig;
let a: Daemon;
let b: Daemon;
let other: Daemon;

const start = async (name: string, tokens: readonly TokenConfig[], rootToken?: string): Promise<Daemon> => {
  if (!ports.has(name)) ports.set(name, await freePorts(2));
  const [clientPort, peerPort] = ports.get(name) ?? [];
  const member = { address: '127.0.0.1', 'client-port': clientPort, 'peer-port': peerPort, program: etcdProgram() };
  const args = argsOf(path, name, { tokens, cluster: { name, member } });
  return startDaemon({ directory: path(`data-${name}`), workers: 2, args, ...(rootToken === undefined ? {} : { rootToken }) });
};
const invite = async (): Promise<string> => ((await a.request('POST', `${state}/invite`)) as { invitation: string }).invitation;
const codeOf = async (by: Daemon, invitation: string): Promise<readonly unknown[]> => {
  const { status, body } = await by.exchange('POST', `${state}/join`, { invitation });
  return [status, (body as { readonly code?: string }).code];
};
const changed = (invitation: string, change: object): string => {
  const [prefix = '', content = ''] = invitation.split('.');
  const whole = JSON.parse(Buffer.from(content, 'base64url').toString()) as object;
  return `${prefix}.${Buffer.from(JSON.stringify({ ...whole, ...change })).toString('base64url')}`;
};
/** Of a cluster all have one CA, and the tokens of the first. */
const exchange = ({ url }: Daemon, place: string): ReturnType<typeof ask> => ask(url, place, { ca: a.caPem, token: a.rootToken });
const membersSeenBy = async (daemon: Daemon): Promise<readonly string[]> => {
  const answer = await exchange(daemon, state).catch(() => undefined);
  if (answer === undefined || !isMember(answer)) return [];
  return (answer.body as { readonly members: readonly { name: string; state: string }[] }).members.flatMap((one) =>
    one.state === 'in' ? [one.name] : [],
  );
};

beforeAll(async () => {
  mkdirSync(path(), { recursive: true });
  token = await makeEmptySoftToken(path('hsm'));
  a = await start('a', [token]);
  await a.request('POST', keys, { name: 'early' });
  await a.request('POST', `${state}/init`);
  await vi.waitUntil(async () => (await membersSeenBy(a)).length === 1, { timeout: 60_000, interval: 100 });
  b = await start('b', [token]);
});

afterAll(async () => {
  for (const daemon of [other, b, a]) if (daemon !== undefined) await daemon.stop().catch(() => undefined);
});

test('what is wrong with an invitation is said by code, and nothing is lost by asking', async () => {
  const invitation = await invite();
  expect(await codeOf(b, 'keystored-invitation-1.e30')).toEqual([400, 'invalid-value']);
  expect(await codeOf(b, changed(invitation, { secret: 'x'.repeat(43) }))).toEqual([409, 'invitation-refused']);
  expect(await codeOf(b, changed(invitation, { authority: 'ab'.repeat(32) }))).toEqual([503, 'inviter-unreachable']);
  expect(await codeOf(b, changed(invitation, { url: 'https://127.0.0.1:9' }))).toEqual([503, 'inviter-unreachable']);
  expect(await codeOf(a, invitation)).toEqual([409, 'operation-refused']);
  expect((await b.exchange('POST', `${state}/join`, { invitation }, 'x'.repeat(40))).status).toBe(401);
  expect(existsSync(path('data-b/member/membership.json'))).toBe(false);
});

test('an HSM that does not open the keys of the cluster is found out before the appliance gives up what it has', async () => {
  other = await start('other', [await makeEmptySoftToken(path('second-hsm'))]);
  expect(await codeOf(other, await invite())).toEqual([409, 'cluster-keys-refused']);
  await other.request('POST', keys, { name: 'own' });
  expect(await codeOf(other, await invite())).toEqual([409, 'not-new']);
});

test('one that has nothing yet joins by a request, also when it is killed at once, and has the tokens and keys of the cluster then', async () => {
  expect(await b.request('POST', `${state}/join`, { invitation: await invite() })).toEqual({ name: 'b', 'invited-by': a.url });
  await b.kill();
  b = await start('b', [token], a.rootToken);
  expect(await membersSeenBy(b)).toEqual(['a', 'b']);
  expect((await exchange(b, `${keys}/early`)).status).toBe(200);
  const names = readdirSync(path('data-b'));
  expect(names).not.toContain('root-token');
  expect(names.filter((name) => name.startsWith('audit-before-'))).toHaveLength(1);
});

test('left alone after the answer, it comes in by itself; of two that ask at once one is told to ask again', async () => {
  await other.stop();
  other = await start('c', [token]);
  const invitation = await invite();
  const answers = await Promise.all([codeOf(other, invitation), codeOf(other, invitation)]);
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200, 409]));
  await vi.waitUntil(async () => (await membersSeenBy(other)).length === 3, { timeout: 120_000, interval: 500 });
  expect((await exchange(other, `${keys}/early`)).status).toBe(200);
});
