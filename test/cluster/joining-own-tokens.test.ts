// npm test -- cluster: appliances with a token each that stand alone and join by a request. Each test goes on with what the one before has left.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memberFiles } from '../../appliance/cluster/membership/files.ts';
import { parseInvitation } from '../../appliance/cluster/membership/invitation.ts';
import { challengeOf, makeKeyRequest, requestFor } from '../../appliance/cluster/membership/key-request.ts';
import { ask } from '../harness/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { numbersIn } from '../harness/token/carrying.ts';
import { clusterState as state, isMember, OwnMembers, type Seen } from './own-members.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const of = (key: string, action: string): string => `/v1/state/keystore/transit-keys/${key}/${action}`;
const plaintext = 'aGVsbG8=';

let members: OwnMembers;
let ciphertext: string;
/** the invitation by which the third one comes */
let ofC: string;
const running = new Map<string, Daemon>();

const start = async (name: string): Promise<Daemon> => {
  const daemon = await members.start(name);
  running.set(name, daemon);
  return daemon;
};
const first = (): Daemon => running.get('a') as Daemon;
const invite = async (): Promise<string> => ((await first().request('POST', `${state}/invite`)) as { invitation: string }).invitation;
/** By its own root token, before it has those of the cluster. */
const join = async ({ url, caPem }: Daemon, name: string, invitation: string): ReturnType<typeof ask> =>
  ask(url, `${state}/join`, {
    ...{ method: 'POST', ca: caPem, body: { invitation }, token: readFileSync(path(`data-${name}`, 'root-token'), 'utf8').trim() },
  });
/** Of a cluster all have one CA, and the tokens of the first. */
const asMember = ({ url }: Daemon, method: string, place: string, body?: object): ReturnType<typeof ask> =>
  ask(url, place, { method, ca: first().caPem, token: first().rootToken, body });
const untilIn = (daemon: Daemon, count: number): Promise<unknown> =>
  vi.waitUntil(
    async () => {
      const answer = await asMember(daemon, 'GET', state).catch(() => undefined);
      return answer !== undefined && isMember(answer) && (answer.body as Seen).members.filter((one) => one.state === 'in').length === count;
    },
    { timeout: 120_000, interval: 500 },
  );
const numbers = async (name: string): Promise<number[]> => {
  const [token] = await members.tokensOf(name);
  return token === undefined ? [] : numbersIn(token);
};

beforeAll(async () => {
  members = await OwnMembers.withOwnTokens(path);
  await members.found(await start('a'));
  await first().request('POST', keys, { name: 'early' });
  ({ ciphertext } = (await first().request('POST', of('early', 'encrypt'), { plaintext })) as { ciphertext: string });
}, 120_000);

afterAll(async () => {
  for (const daemon of [...running.values()].toReversed()) await daemon.stop().catch(() => undefined);
});

test('one whose invitation is refused stays as it was, and its token has nothing of the cluster', async () => {
  const b = await start('b');
  const [prefix = '', content = ''] = (await invite()).split('.');
  const invitation = { ...(JSON.parse(Buffer.from(content, 'base64url').toString()) as object), secret: 'x'.repeat(43) };
  const forged = `${prefix}.${Buffer.from(JSON.stringify(invitation)).toString('base64url')}`;
  expect(await join(b, 'b', forged)).toMatchObject({ status: 409, body: { code: 'invitation-refused' } });
  const { membership, transport } = memberFiles(path('data-b'));
  expect([membership, transport].filter((file) => existsSync(file))).toEqual([]);
  expect(await numbers('b')).toEqual([1]);
});

test('one joins by a request, also when it is killed at once: its token has the keys of the cluster, and opens what there was', async () => {
  const b = running.get('b') as Daemon;
  expect(await join(b, 'b', await invite())).toMatchObject({ status: 200, body: { name: 'b', 'invited-by': first().url } });
  await b.kill();
  const again = await start('b');
  await untilIn(again, 2);
  expect((await asMember(again, 'POST', of('early', 'decrypt'), { ciphertext })).body).toMatchObject({ plaintext });
  expect(existsSync(memberFiles(path('data-b')).transport)).toBe(false);
});

test('killed while its token gets the keys, it is as it was before, and the same invitation lets it join', async () => {
  const c = await start('c');
  const invitation = (ofC = await invite());
  const joining = join(c, 'c', invitation).catch(() => undefined);
  await vi.waitUntil(() => existsSync(memberFiles(path('data-c')).transport), { timeout: 60_000, interval: 20 });
  await c.kill();
  await joining;
  const again = await start('c');
  await vi.waitUntil(async () => (await join(again, 'c', invitation).catch(() => undefined))?.status === 200, {
    timeout: 120_000,
    interval: 1_000,
  });
  await untilIn(again, 3);
  expect((await asMember(again, 'POST', of('early', 'decrypt'), { ciphertext })).body).toMatchObject({ plaintext });
  const number = Math.max(...(await numbers('a')));
  for (const name of ['b', 'c']) expect(await numbers(name)).toContain(number);
});

test('the own keys are carried to nobody but who was invited: not by a used invitation, nor for a key that the request was not signed for', async () => {
  const transportKey = (): string =>
    generateKeyPairSync('rsa', { modulusLength: 3072 }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const askForKeys = async (line: string, appliance: string, name: string, signedFor?: string): Promise<readonly [number, string]> => {
    const [secret, publicKey] = [parseInvitation(line)?.secret ?? '', transportKey()];
    const { key } = makeKeyRequest();
    const request = requestFor(key, challengeOf({ secret, appliance, transportKey: signedFor ?? publicKey }));
    const transport = { id: 'ab'.repeat(16), 'public-key': publicKey, hashes: ['sha1'], types: [], present: [] };
    const body = { secret, appliance, name, 'peer-request': Buffer.from(request).toString('base64'), transport };
    const answer = await ask(first().url, `${state}/admit-token`, { method: 'POST', ca: first().caPem, body });
    return [answer.status, (answer.body as { code: string }).code];
  };
  const { id } = JSON.parse(readFileSync(path('data-c', 'cluster.json'), 'utf8')) as { id: string };
  expect(await askForKeys(ofC, id, 'c')).toEqual([401, 'login-failed']);
  expect(await askForKeys(await invite(), id, 'c')).toEqual([409, 'operation-refused']);
  expect(await askForKeys(await invite(), randomUUID(), 'd', transportKey())).toEqual([401, 'login-failed']);
  const { invitations } = (await first().request('GET', `${state}/invitations`)) as { invitations: readonly { state: string }[] };
  expect(invitations.filter((one) => one.state === 'used')).toEqual([]);
  const number = Math.max(...(await numbers('a')));
  for (const name of ['b', 'c']) expect(Math.max(...(await numbers(name)))).toBe(number);
});
