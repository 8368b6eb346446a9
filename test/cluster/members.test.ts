// npm test -- cluster: appliances that run etcd themselves. Each test goes on with what the one before has left.
import { spawnSync } from 'node:child_process';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memberFiles } from '../../appliance/cluster/membership/files.ts';
import { auditKeyId, splitPublicKeys } from '../../core/audit/keys.ts';
import { verifyTrail } from '../harness/verify-trail.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import type { Daemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { refusalOf } from './daemons.ts';
import { clusterState as state, OwnMembers, seenBy } from './own-members.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

const path = temporaryDirectory();
const keys = '/v1/config/keystore/transit-keys';
const encrypt = (key: string): string => `/v1/state/keystore/transit-keys/${key}/encrypt`;
const decrypt = (key: string): string => `/v1/state/keystore/transit-keys/${key}/decrypt`;

const byText = (one: string, other: string): number => (one < other ? -1 : 1);

let members: OwnMembers;
let a: Daemon;
let b: Daemon;
let c: Daemon;

beforeAll(async () => {
  members = await OwnMembers.prepare(path);
  a = await members.start('a');
});

afterAll(async () => {
  for (const daemon of [c, b, a]) if (daemon !== undefined) await daemon.stop().catch(() => undefined);
});

test('with a section for its member, an appliance stands alone until init, and nothing that it had is lost by that', async () => {
  expect(await seenBy(a)).toMatchObject({ shape: 'alone' });
  expect(await a.exchange('POST', `${state}/invite`)).toMatchObject({ status: 409, body: { code: 'operation-refused' } });
  await a.request('POST', keys, { name: 'early' });
  const { ciphertext } = (await a.request('POST', encrypt('early'), { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
  expect(await members.found(a)).toEqual({ name: 'a' });
  expect(await seenBy(a)).toMatchObject({
    members: [{ name: 'a', state: 'in' }],
    etcd: [{ appliance: 'a', leader: true, learner: false }],
  });
  expect(await a.request('POST', decrypt('early'), { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
  expect(await a.exchange('POST', `${state}/init`)).toMatchObject({ status: 409, body: { code: 'operation-refused' } });
});

test('started with an invitation, others become members of both, one after another', async () => {
  b = await members.join('b', a);
  c = await members.join('c', b);
  for (const daemon of [a, b, c]) {
    const { members: seen, etcd } = await seenBy(daemon);
    expect(seen.map(({ name, state: one }) => [name, one])).toEqual(['a', 'b', 'c'].map((name) => [name, 'in']));
    expect(new Map(etcd.map(({ appliance, learner }) => [appliance, learner]))).toEqual(
      new Map(['a', 'b', 'c'].map((name) => [name, false])),
    );
  }
  await c.request('POST', keys, { name: 'late' });
  expect((await a.exchange('POST', encrypt('late'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
});

test('an invitation is for one appliance: another is refused, and stays out', async () => {
  expect(await refusalOf(members.start('d', { invitation: path('invitation-c') }))).toContain('The invitation is not accepted');
  const other = path('invitation-other');
  writeFileSync(other, 'keystored-invitation-1.e30');
  expect(await refusalOf(members.start('e', { invitation: other }))).toContain('is not an invitation');
  expect((await seenBy(a)).members).toHaveLength(3);
});

test('when one is killed, the other two go on, and it comes back by itself with its etcd', async () => {
  await a.kill();
  await vi.waitUntil(async () => (await b.exchange('POST', keys, { name: 'without-a' }).catch(() => undefined))?.status === 201, {
    timeout: 30_000,
    interval: 200,
  });
  a = await members.start('a');
  expect((await a.exchange('POST', encrypt('without-a'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  await expect.poll(async () => (await seenBy(c)).etcd.filter(({ problem }) => problem !== undefined), { timeout: 30_000 }).toEqual([]);
});

test('all stopped, as after a power failure, they come back when they are started', async () => {
  expect(await Promise.all([a, b, c].map((daemon) => daemon.stop()))).toEqual([0, 0, 0]);
  [a, b, c] = await Promise.all([members.start('a'), members.start('b'), members.start('c')]);
  expect((await c.exchange('POST', encrypt('late'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
});

test('a removed one has no way to the shared store any more when that is answered, not even over an open connection', async () => {
  const { key, certificate, authority } = memberFiles(path('data-c')).ofRole('client');
  const tls = { ca: readFileSync(authority), certificate: readFileSync(certificate), key: readFileSync(key) };
  const urls = (await seenBy(a)).etcd.flatMap(({ appliance, url }) => (appliance === 'c' ? [] : [url]));
  const clients = urls.map((url) => new EtcdClient({ endpoints: [url], tls, nowMs: () => performance.now() }));
  const reads = (): Promise<readonly string[]> =>
    Promise.all(
      clients.map((client) =>
        client.range({ key: Buffer.from('x') }, 3_000).then(
          () => 'read',
          () => 'refused',
        ),
      ),
    );
  expect(await reads()).toEqual(['read', 'read']);
  expect(await a.request('POST', `${state}/remove-member`, { member: 'c', 'even-if-alive': true })).toMatchObject({
    name: 'c',
    unconfirmed: [],
  });
  expect(await reads()).toEqual(['refused', 'refused']);
  for (const client of clients) client.close();
  await expect
    .poll(async () => (await seenBy(b)).etcd.map(({ appliance }) => appliance).toSorted(byText), { timeout: 30_000 })
    .toEqual(['a', 'b']);
  await a.request('POST', keys, { name: 'without-c' });
  expect((await b.exchange('POST', encrypt('without-c'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  expect((await c.exchange('POST', encrypt('late'), { plaintext: 'aGVsbG8=' })).status).toBe(503);
  // Its own etcd has ended, and no other talks to it.
  await c.stop();
  expect(await refusalOf(members.start('c'))).toContain('was permanently removed from its cluster');
});

test('the one survivor is made to stand alone, on record, and becomes the first again, to which another joins', async () => {
  // Only what a and b have is left; b is lost.
  await b.kill();
  await a.stop();
  const words = ['--config', path('a.yaml'), '--data', path('data-a')];
  const recover = (...more: string[]): { readonly status: number | null; readonly text: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [daemonProgram, 'recover-cluster', ...words, ...more], {
      encoding: 'utf8',
    });
    return { status, text: stdout + stderr };
  };
  expect(recover()).toMatchObject({ status: 1, text: expect.stringContaining('Nothing was changed') });
  expect(recover('--yes')).toMatchObject({ status: 0, text: expect.stringContaining('It stands alone now') });
  expect(recover('--yes')).toMatchObject({ status: 1, text: expect.stringContaining('not a replica of a cluster') });
  a = await members.start('a');
  expect(await seenBy(a)).toMatchObject({ shape: 'alone' });
  expect((await a.exchange('POST', encrypt('without-c'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  await members.found(a);
  b = await members.join('d', a);
  expect((await seenBy(b)).members.map(({ name }) => name)).toEqual(['a', 'd']);
  await b.request('POST', keys, { name: 'after' });
  expect((await a.exchange('POST', encrypt('after'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  const { stdout } = spawnSync('grep', ['-rh', 'cluster-recovered', path('data-a', 'audit')], { encoding: 'utf8' });
  expect(stdout).toContain('"revision":');
  await Promise.all([a.stop(), b.stop()]);
  // The trails of other appliances are elsewhere.
  for (const name of ['audit', formerTrail()]) {
    const { findings, records } = await verifyTrail(path('data-a', name), keysOf(path('data-a', name)));
    expect(findings.filter(({ where }) => !where.startsWith('appliance '))).toEqual([]);
    expect(records).toBeGreaterThan(0);
  }
});

const daemonProgram = await serviceUnderTest();
const formerTrail = (): string => readdirSync(path('data-a')).find((name) => name.startsWith('audit-')) ?? '';
const keysOf = (directory: string): ReadonlyMap<string, KeyObject> =>
  new Map(
    splitPublicKeys(readFileSync(join(directory, 'audit-keys.pem'), 'utf8')).map((pem) => [
      auditKeyId(createPublicKey(pem)),
      createPublicKey(pem),
    ]),
  );
