// npm test -- cluster: whom an invitation lets in, and whom not. Each test goes on with what the one before has left.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseInvitation } from '../../appliance/cluster/membership/invitation.ts';
import { type KeyRequest, makeKeyRequest } from '../../appliance/cluster/membership/key-request.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { ctlFor } from '../appliance/cli/run.ts';
import { ask } from '../harness/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { refusalOf } from './daemons.ts';
import { clusterState as state, OwnMembers, seenBy } from './own-members.ts';

const path = temporaryDirectory();
const encrypt = '/v1/state/keystore/transit-keys/early/encrypt';

let members: OwnMembers;
let a: Daemon;
let b: Daemon;

beforeAll(async () => {
  members = await OwnMembers.prepare(path);
  a = await members.start('a');
  await members.found(a);
  await a.request('POST', '/v1/config/keystore/transit-keys', { name: 'early' });
  b = await members.join('b', a);
}, 120_000);

afterAll(async () => {
  for (const daemon of [b, a]) if (daemon !== undefined) await daemon.stop().catch(() => undefined);
});

type Named = { readonly appliance: string; readonly name: string };
type Keys = { readonly peer: KeyRequest; readonly client: KeyRequest };
type Shown = { readonly id: string; readonly state: string; readonly 'used-by'?: { readonly id: string; readonly name: string } };

const secretIn = (line: string): string => parseInvitation(line)?.secret ?? '';
const idOf = (name: string): string => (JSON.parse(readFileSync(path(`data-${name}`, 'cluster.json'), 'utf8')) as { id: string }).id;
const certificateOf = (name: string): string => readFileSync(path(`data-${name}`, 'member/client.pem'), 'utf8');
const newKeys = (): Keys => ({ peer: makeKeyRequest(), client: makeKeyRequest() });
const base64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64');
/** What an appliance asks that joins. */
const askToBeAdmitted = async (secret: string, self: Named, { peer, client } = newKeys()): ReturnType<typeof ask> => {
  const body = { secret, ...self, address: '127.0.0.9', 'peer-request': base64(peer.request), 'client-request': base64(client.request) };
  return ask(a.url, `${state}/admit`, { method: 'POST', ca: a.caPem, body });
};
const admit = async (...asking: Parameters<typeof askToBeAdmitted>): Promise<readonly [number, string | undefined]> => {
  const { status, body } = await askToBeAdmitted(...asking);
  return [status, (body as { code?: string }).code];
};
const invite = async (more: object = {}): Promise<{ readonly id: string; readonly secret: string }> => {
  const { id, invitation } = (await a.request('POST', `${state}/invite`, more)) as { id: string; invitation: string };
  return { id, secret: secretIn(invitation) };
};
const someone = (name: string): Named => ({ appliance: randomUUID(), name });
const used = (name: string): string => secretIn(readFileSync(path(`invitation-${name}`), 'utf8'));
const listed = async (): Promise<readonly Shown[]> =>
  ((await b.request('GET', `${state}/invitations`)) as { invitations: Shown[] }).invitations;
const healthOf = async (daemon: Daemon): Promise<readonly [number, { state: string; reason?: string }]> => {
  const { status, body } = await daemon.exchange('GET', '/v1/state/system/health');
  return [status, (body as { cluster: { state: string; reason?: string } }).cluster];
};

test('who has the line of an invitation that was used, and the id of its appliance, is refused, and that appliance goes on', async () => {
  const before = certificateOf('b');
  expect(await admit(used('b'), { appliance: idOf('b'), name: 'b' })).toEqual([401, 'login-failed']);
  expect((await b.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status).toBe(200);
  expect((await b.exchange('POST', '/v1/config/keystore/transit-keys', { name: 'goes-on' })).status).toBe(201);
  expect(certificateOf('b')).toBe(before);
});

test('who was invited asks again with the keys of the first time; with another key nobody is the same', async () => {
  const [{ secret }, self, keys] = [await invite(), someone('x'), newKeys()];
  expect(await admit(secret, self, keys)).toEqual([200, undefined]);
  expect(await admit(secret, self, keys)).toEqual([200, undefined]);
  for (const other of [newKeys(), { ...keys, peer: makeKeyRequest() }, { ...keys, client: makeKeyRequest() }])
    expect(await admit(secret, self, other)).toEqual([401, 'login-failed']);
  expect(await admit(secret, someone('x'), keys)).toEqual([401, 'login-failed']);
});

test('nobody comes in under the id of an appliance that is in, whatever invitation they have', async () => {
  const { secret } = await invite();
  const before = certificateOf('b');
  expect(await admit(secret, { appliance: idOf('b'), name: 'b' })).toEqual([409, 'operation-refused']);
  expect(certificateOf('b')).toBe(before);
  expect((await b.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status).toBe(200);
  // It was not used up by that.
  expect(await admit(secret, someone('y'))).toEqual([200, undefined]);
});

test('invitations are listed without their secrets, by name or not, and one that is withdrawn lets nobody in, nor whom it has admitted', async () => {
  const [open, named] = [await invite(), await invite({ member: 'plant-d' })];
  expect(await admit(named.secret, someone('another'))).toEqual([409, 'operation-refused']);
  const [self, keys] = [someone('plant-d'), newKeys()];
  const { status, body } = await askToBeAdmitted(named.secret, self, keys);
  expect(status).toBe(200);
  const list = await listed();
  expect(JSON.stringify(list)).not.toContain(named.secret);
  expect(list.find(({ id }) => id === open.id)).toMatchObject({ state: 'open', by: 'root' });
  expect(list.find(({ id }) => id === named.id)).toMatchObject({ member: 'plant-d', state: 'used', 'used-by': { id: self.appliance } });
  expect(list.filter(({ 'used-by': by }) => by?.name === 'b').map((one) => one.state)).toEqual(['over']);

  const { client, endpoints } = body as { client: { certificate: string; authority: string }; endpoints: string[] };
  const tls = { ca: Buffer.from(client.authority), certificate: Buffer.from(client.certificate), key: Buffer.from(keys.client.key) };
  const reads = (): Promise<string> => {
    const etcd = new EtcdClient({ endpoints, tls, nowMs: () => performance.now() });
    const read = etcd.range({ key: Buffer.from('x') }, 3_000).then(
      () => 'read',
      () => 'refused',
    );
    return read.finally(() => etcd.close());
  };
  expect(await reads()).toBe('read');
  const ctl = ctlFor(b, b.caPem, path());
  expect(await ctl(['cluster', 'withdraw', named.id])).toMatchObject({ code: 0 });
  expect(await reads()).toBe('refused');
  expect(await admit(named.secret, self, keys)).toEqual([401, 'login-failed']);
  expect(await b.request('POST', `${state}/withdraw-invitation`, { id: open.id })).toEqual({ id: open.id, unconfirmed: [] });
  expect(await admit(open.secret, someone('z'))).toEqual([401, 'login-failed']);
  expect(await b.exchange('POST', `${state}/withdraw-invitation`, { id: open.id })).toMatchObject({ status: 404 });
  const over = (await listed()).find(({ state: one }) => one === 'over');
  expect(await b.exchange('POST', `${state}/withdraw-invitation`, { id: over?.id })).toMatchObject({ status: 409 });
  expect((await ctl(['cluster', 'invitations'])).stdout).toContain(over?.id);
});

test('one whose certificates were revoked says so in its own health, and in that of the others, and when it is started', async () => {
  const c = await members.join('c', a);
  process.kill(-c.pid, 'SIGSTOP');
  await vi.waitUntil(async () => (await seenBy(a)).members.some(({ name, state: one }) => name === 'c' && one === 'out'), {
    timeout: 30_000,
    interval: 200,
  });
  const { secret } = await invite();
  expect(await admit(secret, someone('c'))).toEqual([200, undefined]);
  for (const daemon of [a, b]) {
    expect(await healthOf(daemon)).toEqual([200, { state: 'incomplete', reason: expect.stringContaining('certificates of an appliance') }]);
    // With one of three frozen, an election can come in between.
    const revoked = async (): Promise<unknown> =>
      (await seenBy(daemon).catch(() => undefined))?.members.map(({ name, 'certificates-revoked': isRevoked }) => [name, isRevoked]);
    await expect.poll(revoked, { timeout: 20_000 }).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ]);
  }
  process.kill(-c.pid, 'SIGCONT');
  await expect
    .poll(() => healthOf(c).catch(() => undefined), { timeout: 60_000, interval: 500 })
    .toEqual([503, { state: 'shut-out', reason: expect.stringContaining('were revoked') }]);
  await c.kill();
  expect(await refusalOf(members.start('c'))).toContain('they were revoked');
}, 300_000);

test('an appliance that was removed never comes in again, by an old invitation or a new one', async () => {
  await a.request('POST', `${state}/remove-member`, { member: idOf('c'), 'even-if-alive': true });
  expect(await admit(used('c'), { appliance: idOf('c'), name: 'c' })).toEqual([401, 'login-failed']);
  const { secret } = await invite();
  expect(await admit(secret, { appliance: idOf('c'), name: 'other' })).toEqual([409, 'operation-refused']);
});
