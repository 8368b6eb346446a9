// npm test -- cluster: what belongs to one of three whole appliances, what there is once for all, and a backup that becomes another cluster.
import { execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { auditKeyId, splitPublicKeys } from '../../core/audit/keys.ts';
import { verifyTrails } from '../../core/audit/verify.ts';
import { startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { securedIn } from './certificates.ts';
import { argsOf, endMember, type Member, pinOf, prepareCluster, type Shared, startMember } from './daemons.ts';
import { startEtcd } from './etcd.ts';
import { serviceUnderTest } from '../harness/service-program.ts';

const path = temporaryDirectory();
const [keys, state] = ['/v1/config/keystore/transit-keys', '/v1/state/system/cluster'];
const names = ['a', 'b', 'c'] as const;
let shared: Shared;
const members = new Map<string, Member>();
const member = (name: string): Member => members.get(name) as Member;
const audits = names.map((name) => path(`data-${name}`, 'audit'));

type Seen = { readonly id: string; readonly name: string; readonly 'leads-jobs'?: boolean };
const seenBy = async (name: string): Promise<readonly Seen[]> =>
  ((await member(name).request('GET', state)) as { members: Seen[] }).members;

/** SHA-256 of the certificate of a listener. */
async function certificateOf({ url }: Member): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 = '' } = socket.getPeerX509Certificate() ?? {};
  socket.destroy();
  return fingerprint256;
}

async function problemsOf(directories: readonly string[], published = audits): Promise<readonly string[]> {
  const pems = published.flatMap((directory) => splitPublicKeys(readFileSync(`${directory}/audit-keys.pem`, 'utf8')));
  const known = new Map(pems.map((pem) => [auditKeyId(createPublicKey(pem)), createPublicKey(pem)]));
  return (await verifyTrails(directories, known, [])).findings.map(({ where, problem }) => `${where}: ${problem}`);
}

/** Starts a member; again where etcd was too slow to answer, as the supervisor of an appliance does. */
async function start(name: string, from = shared): Promise<Member> {
  for (let left = 3; ; left--) {
    try {
      return await startMember(from, name);
    } catch (error) {
      if (left === 0 || !(error as Error).message.includes('does not answer')) throw error;
    }
  }
}

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  // It has begun its audit trail before there was a cluster.
  const alone = await startDaemon({ directory: path('data-a'), args: argsOf(path, 'alone', { tokens: [prepared.token] }) });
  await alone.request('POST', keys, { name: 'early' });
  await alone.stop();
  shared = { ...prepared, rootToken: alone.rootToken };
  for (const name of names) members.set(name, await start(name));
});

afterAll(async () => {
  for (const one of members.values()) await endMember(one).catch(() => undefined);
  await shared.etcd.stop();
});

test('each has a certificate of its own, which a start of another does not replace', async () => {
  const before = await Promise.all(names.map((name) => certificateOf(member(name))));
  expect(new Set(before).size).toBe(3);
  await endMember(member('b'));
  members.set('b', await start('b'));
  expect(await Promise.all(names.map((name) => certificateOf(member(name))))).toEqual(before);
});

test('kill -9 of the appliance that runs the jobs: another one does', async () => {
  const leaderSeenBy = async (name: string): Promise<string | undefined> =>
    (await seenBy(name)).find((one) => one['leads-jobs'] === true)?.name;
  const leader = await vi.waitUntil(() => leaderSeenBy('a'), { timeout: 60_000, interval: 100 });
  const others = names.filter((name) => name !== leader);
  await member(leader).kill();
  member(leader).network.close();
  const killedMs = performance.now();
  const next = await vi.waitUntil(
    async () => {
      const found = await leaderSeenBy(others[0] as string).catch(() => undefined);
      return found === leader ? undefined : found;
    },
    { timeout: 60_000, interval: 50 },
  );
  console.log(`another appliance ran the jobs ${Math.round(performance.now() - killedMs)} ms after the kill`);
  expect(others).toContain(next);
  members.set(leader, await start(leader));
});

test('the trails of all verify together, a seal included, and one that is missing is found', async () => {
  for (const name of names) await member(name).request('POST', keys, { name: `of-${name}` });
  expect((await member('c').exchange('POST', '/v1/state/keystore/system/seal')).status).toBe(204);
  await vi.waitUntil(
    async () =>
      (
        await member('c')
          .exchange('POST', '/v1/state/keystore/system/unseal', { pin: pinOf(shared.token) })
          .catch(() => undefined)
      )?.status === 204,
    { timeout: 60_000, interval: 500 },
  );
  const ids = new Map((await seenBy('a')).map(({ id, name }) => [name, id]));
  // A start signs what the others had signed last.
  for (const name of names) {
    await endMember(member(name));
    members.set(name, await start(name));
  }
  for (const name of names) await endMember(member(name));
  expect(await problemsOf(audits)).toEqual([]);
  expect(await problemsOf([audits[0] as string, audits[2] as string])).toEqual([
    expect.stringContaining(`appliance ${ids.get('b')}: signed heads name its chains ${ids.get('b')}-`),
  ]);
  for (const name of names) members.set(name, await start(name));
});

test('a backup of any member is one of all: restored, it stands alone, and begins another cluster that others join', async () => {
  const passphrase = 'long enough to be taken';
  const backup = await member('c').exchange('POST', '/v1/state/system/backup', { passphrase });
  expect(backup.status).toBe(200);
  const [file, secret] = [path('backup'), path('passphrase')];
  writeFileSync(file, backup.octets);
  writeFileSync(secret, passphrase);
  const args = argsOf(path, 'restored-alone', { tokens: [shared.token] });
  // Not synchronous: the ways to etcd are in this process.
  const program = await serviceUnderTest();
  const drill = (trails: readonly string[]): Promise<string> => {
    const words = [program, 'restore-drill', file, '--passphrase-file', secret, ...args, ...trails.flatMap((trail) => ['--audit', trail])];
    return new Promise((resolve) => execFile(process.execPath, words, (_, stdout, stderr) => resolve(stdout + stderr)));
  };
  expect(await drill(audits)).toContain('this backup restores');
  expect(await drill(audits.slice(1))).toMatch(/FOUND: appliance .*its trail is not here/);
  const restored = await startDaemon({
    ...{ directory: path('data-restored'), rootToken: shared.rootToken },
    args: [...args, '--restore', file, '--restore-passphrase-file', secret],
  });
  for (const name of names) expect(await restored.request('GET', `${keys}/of-${name}`)).toMatchObject({ name: `of-${name}` });
  await restored.request('POST', keys, { name: 'after' });
  const own = [path('data-restored', 'audit')];
  expect(await problemsOf(own, own)).toEqual([]);
  await restored.stop();
  const etcd = await startEtcd(1, { secure: securedIn(path) });
  const second: Shared = { ...shared, etcd };
  const [first, joined] = [await start('restored', second), await start('joined', second)];
  try {
    expect(await joined.request('GET', `${keys}/after`)).toMatchObject({ name: 'after' });
    const seen = ((await joined.request('GET', state)) as { members: Seen[] }).members;
    expect(seen.map(({ name }) => name).toSorted()).toEqual(['joined', 'restored']);
  } finally {
    for (const one of [joined, first]) await endMember(one);
    await etcd.stop();
  }
});
