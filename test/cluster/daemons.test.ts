// npm test -- cluster: three whole appliances as one. Each test goes on with what the one before has left.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { validMs } from '../../core/cluster/validity.ts';
import { ctlFor, type Run } from '../appliance/cli/run.ts';
import { startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';
import { makeEmptySoftToken, makeSoftToken } from '../harness/token/softhsm.ts';
import { argsOf, endMember, type Member, pinOf, prepareCluster, refusalOf, sectionOf, type Shared, startMember } from './daemons.ts';
import { layout } from '../../core/cluster/layout.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { type Operation, put } from '../../core/etcd/messages.ts';
import { startOldEtcd } from './old-etcd.ts';
import { relaysTo } from './relay.ts';

const path = temporaryDirectory();
const [keys, tenants, state] = ['/v1/config/keystore/transit-keys', '/v1/config/tenants', '/v1/state/system/cluster'];
const encrypt = (key: string): string => `/v1/state/keystore/transit-keys/${key}/encrypt`;
const decrypt = (key: string): string => `/v1/state/keystore/transit-keys/${key}/decrypt`;
const own = '/v1/state/keystore/crypto-functions/random-bytes';

let shared: Shared;
let a: Member;
let b: Member;
let c: Member;
/** made before there was a cluster */
let early: string;
/** of the one that loses its disk */
let formerId: string;

type Seen = { readonly id: string; readonly name: string; readonly state: string; readonly self: boolean; readonly 'leads-jobs'?: boolean };
const membersSeenBy = async (member: Member): Promise<readonly Seen[]> =>
  ((await member.request('GET', state)) as { members: Seen[] }).members;
const stateOf = async (member: Member, name: string): Promise<string | undefined> =>
  (await membersSeenBy(member)).find((one) => one.name === name)?.state;
const leadersSeenBy = async (member: Member): Promise<readonly string[]> =>
  (await membersSeenBy(member)).filter((one) => one['leads-jobs'] === true).map(({ name }) => name);
const distributionOf = async (member: Member, key: string) =>
  (await member.request('GET', `/v1/state/keystore/transit-keys/${key}/distribution`)) as {
    readonly complete: boolean;
    readonly appliances: readonly Readonly<Record<string, unknown>>[];
  };
const linesOf = (name: string): readonly string[] => {
  const audit = path(`data-${name}`, 'audit');
  const files = readdirSync(audit).filter((file) => file.endsWith('.jsonl'));
  return files.flatMap((file) => readFileSync(`${audit}/${file}`, 'utf8').split('\n'));
};
const answers = async (member: Member): Promise<boolean> => (await member.exchange('POST', own, {}).catch(() => undefined))?.status === 200;

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  // An appliance that stood alone until now.
  const alone = await startDaemon({ directory: path('data-a'), args: argsOf(path, 'alone', { tokens: [prepared.token] }) });
  await alone.request('POST', keys, { name: 'early' });
  ({ ciphertext: early } = (await alone.request('POST', encrypt('early'), { plaintext: 'aGVsbG8=' })) as { ciphertext: string });
  await alone.request('POST', tenants, { name: 'plant' });
  expect(await alone.stop()).toBe(0);
  shared = { ...prepared, rootToken: alone.rootToken };
  a = await startMember(shared, 'a');
});

afterAll(async () => {
  for (const member of [c, b, a]) if (member !== undefined) await endMember(member).catch(() => undefined);
  await shared.etcd.stop();
});

test('the first one founds: nothing that it had is lost', async () => {
  expect(await a.request('POST', decrypt('early'), { ciphertext: early })).toMatchObject({ plaintext: 'aGVsbG8=' });
  expect(await a.request('GET', `${tenants}/plant`)).toMatchObject({ name: 'plant' });
  expect(await membersSeenBy(a)).toMatchObject([{ name: 'a', state: 'in', self: true }]);
});

test('others join with the same HSM: they have what the first had, and no root token of their own', async () => {
  [b, c] = [await startMember(shared, 'b'), await startMember(shared, 'c')];
  for (const member of [b, c]) {
    expect(await member.request('POST', decrypt('early'), { ciphertext: early })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect(member.output()).not.toContain('root token');
  }
  for (const member of [a, b, c]) {
    const seen = await membersSeenBy(member);
    expect(seen.map(({ name, state: one, self }) => [name, one, self])).toEqual(
      ['a', 'b', 'c'].map((name) => [name, 'in', name === member.name]),
    );
  }
  const differing = expect.stringContaining(`different public-urls: a has ${a.url}; b has ${b.url}; c has ${c.url}. `);
  expect(await b.request('GET', state)).toMatchObject({ warnings: expect.arrayContaining([differing]) });
  await expect.poll(() => leadersSeenBy(c), { timeout: 30_000 }).toHaveLength(1);
  expect(await leadersSeenBy(a)).toEqual(await leadersSeenBy(c));
});

test('a key that one made is used by another as soon as that is answered, twenty times over', async () => {
  const members = [a, b, c];
  for (let n = 0; n < 20; n++) {
    const [maker, user] = [members[n % 3] as Member, members[(n + 1) % 3] as Member];
    await maker.request('POST', keys, { name: `key-${n}` });
    const { ciphertext } = (await user.request('POST', encrypt(`key-${n}`), { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
    expect(await maker.request('POST', decrypt(`key-${n}`), { ciphertext })).toMatchObject({ plaintext: 'aGVsbG8=' });
  }
});

test('each says which token has opened a key', async () => {
  const { complete, appliances } = await distributionOf(c, 'early');
  const { 'token-serial': serial } = appliances[0] ?? {};
  expect(serial).toMatch(/^[0-9a-f]{16}$/);
  const holding = ['a', 'b', 'c'].map((name) => expect.objectContaining({ name, state: 'holds', token: 'main', 'token-serial': serial }));
  expect({ complete, appliances }).toEqual({ complete: true, appliances: holding });
});

test('one URL for all: every appliance issues under it, wherever it was set, and shows it to devices first', async () => {
  const [cas, states] = ['/v1/config/keystore/tls/ca', '/v1/state/keystore/tls/ca'];
  await a.request('POST', cas, { name: 'devices', subject: 'CN=Devices', est: { enabled: true } });
  const shown = async (member: Member) =>
    (await member.request('GET', `${states}/devices`)) as {
      readonly 'crl-url': string;
      readonly 'ocsp-url': string;
      readonly est: { readonly 'https-url': readonly string[] };
    };
  expect((await shown(c))['crl-url']).toMatch(`${c.url}/v1/ca/`);
  await b.request('POST', `${state}/set-public-url`, { 'public-url': 'https://keys.example:8443' });
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: 'CN=pump.plant.example' });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  for (const member of [a, b, c]) {
    const { est, ...urls } = await shown(member);
    expect(urls['crl-url']).toMatch(/^https:\/\/keys\.example:8443\/v1\/ca\/.*\/devices\/crl\/1$/);
    expect(urls['ocsp-url']).toMatch(/^https:\/\/keys\.example:8443\/v1\/ca\/.*\/devices\/ocsp$/);
    expect(est['https-url'][0]).toMatch(/^https:\/\/keys\.example:\d+\/\.well-known\/est\//);
    const { certificate } = (await member.request('POST', `${states}/devices/sign-csr`, { csr })) as { certificate: string };
    const { infoAccess, raw } = new X509Certificate(certificate);
    expect(infoAccess).toContain(urls['ocsp-url']);
    expect(raw.includes(urls['crl-url'])).toBe(true);
    const { 'public-url': all, warnings = [] } = (await member.request('GET', state)) as Record<string, unknown>;
    expect(all).toBe('https://keys.example:8443');
    expect(warnings).toEqual([expect.stringContaining('do not have the name keys.example')]);
  }
  await c.request('POST', `${state}/clear-public-url`, {});
  expect((await shown(a))['crl-url']).toMatch(`${a.url}/v1/ca/`);
});

test('a name that several make at the same moment is made once', async () => {
  const made = await Promise.all([a, b, c].map((member) => member.exchange('POST', keys, { name: 'same' })));
  expect(made.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409, 409]);
});

test('a token that one disabled is refused by the others at once after the answer', async () => {
  for (let round = 0; round < 20; round++) {
    const { token, accessor } = (await a.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })) as Record<
      string,
      string
    >;
    for (const member of [b, c]) expect((await member.exchange('POST', own, {}, token)).status).toBe(200);
    await b.request('POST', '/v1/state/keystore/token/disable', { accessor });
    const after = await Promise.all([a, c, b].map((member) => member.exchange('POST', own, {}, token)));
    expect(after.map(({ status }) => status)).toEqual([401, 401, 401]);
  }
});

const findingOf = async (member: Member): Promise<unknown> =>
  ((await member.exchange('GET', '/v1/state/system/health')).body as Record<string, unknown>)['foreign-writes'];
const answerFinding = async (member: Member): Promise<number> =>
  (await member.exchange('POST', '/v1/state/system/findings/foreign-writes/answer', {})).status;

/** A token that was disabled and is put back by who has a key for etcd; `also`: what else is written with it. */
async function putBackToken(also: (client: EtcdClient) => Promise<Operation[]>): Promise<string> {
  const tls = {
    ca: readFileSync(path('ours.pem')),
    certificate: readFileSync(path('appliance.pem')),
    key: readFileSync(path('appliance-key.pem')),
  };
  const client = new EtcdClient({ endpoints: shared.etcd.urls, nowMs: () => performance.now(), tls });
  try {
    const { token, accessor } = (await a.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })) as Record<
      string,
      string
    >;
    const { kvs } = await client.range(layout.records);
    const kept = kvs.filter(({ key }) => key.includes('/tokens\0') && key.includes(String(accessor)));
    expect(kept).toHaveLength(1);
    await a.request('POST', '/v1/state/keystore/token/disable', { accessor });
    expect((await b.exchange('POST', own, {}, token)).status).toBe(401);
    const success = [...kept.map(({ key, value }) => put(key, value)), ...(await also(client))];
    await client.txn({ compare: [], success, failure: [] });
    return String(accessor);
  } finally {
    client.close();
  }
}

test('a record put back by who has a key for etcd is on record in each: in health until it is answered, and in the trail', async () => {
  const accessor = await putBackToken(async () => []);
  for (const member of [a, b, c]) {
    await expect
      .poll(() => findingOf(member), { timeout: 20_000 })
      .toMatchObject({
        state: 'unanswered',
        reason: expect.stringContaining('a record of the shared store was changed by no appliance, at revision'),
      });
    // Health tells it as soon as the finding is stored, a moment before the record is on the disk.
    const trail = () => linesOf(member.name).filter((line) => line.includes('"code":"foreign-writes"'));
    await expect.poll(trail).toEqual([expect.stringContaining(accessor)]);
    expect(await answerFinding(member)).toBe(200);
  }
  await a.request('POST', '/v1/state/keystore/token/disable', { accessor });
});

test('one put back together with the mark of an appliance is found by that one, which goes on changing things', async () => {
  const { id } = (await membersSeenBy(b)).find(({ name }) => name === 'b') as Seen;
  const accessor = await putBackToken(async (client) => {
    const { kvs } = await client.range(layout.lanes(id));
    expect(kvs.length).toBeGreaterThan(0);
    return kvs.map(({ key, value }) => put(key, value));
  });
  // The trail first: for a moment health may still tell the finding that was answered before.
  await expect
    .poll(() => linesOf('b').filter((line) => line.includes('"code":"foreign-writes"') && line.includes(accessor)), { timeout: 20_000 })
    .toHaveLength(1);
  await expect.poll(() => findingOf(b), { timeout: 20_000 }).toMatchObject({ state: 'unanswered' });
  expect(await answerFinding(b)).toBe(200);
  // Every process of it has a lane of its own.
  for (let n = 0; n < 8; n++) await b.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] });
  await b.request('POST', '/v1/state/keystore/token/disable', { accessor });
  for (const member of [a, c]) expect(await findingOf(member)).toBeUndefined();
});

test('cut off from etcd, one refuses everything within its validity, says why, and what was revoked meanwhile stays revoked', async () => {
  const { token, accessor } = (await a.request('POST', '/v1/state/keystore/token/create', { policies: ['user'] })) as Record<
    string,
    string
  >;
  const used: { readonly atMs: number; readonly status: number }[] = [];
  const load = new AbortController();
  const using = (async () => {
    while (!load.signal.aborted) {
      const { status } = await c.exchange('POST', own, {}, token);
      used.push({ atMs: performance.now(), status });
    }
  })();
  c.network.cut();
  const cutMs = performance.now();
  // Acknowledged when c can accept it no more.
  await a.request('POST', '/v1/state/keystore/token/disable', { accessor });
  const revokedMs = performance.now();
  expect(revokedMs - cutMs).toBeGreaterThan(validMs / 3);
  const refused = await c.exchange('POST', keys, { name: 'refused' });
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '2' }, body: { code: 'cluster-unavailable' } });
  expect(await c.exchange('GET', '/v1/state/system/health')).toMatchObject({
    status: 503,
    body: { status: 'down', cluster: { state: 'cut-off' } },
  });
  // Root sees why, and what it reaches.
  const view = await c.exchange('GET', state);
  expect(view).toMatchObject({ status: 200, body: { 'cut-off': true } });
  const { etcd, members, warnings } = view.body as {
    readonly etcd: readonly { readonly url: string; readonly problem?: string }[];
    readonly members: readonly Seen[];
    readonly warnings: readonly string[];
  };
  expect(members.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(etcd.map(({ url, problem }) => [url, problem])).toEqual(c.network.urls.map((url) => [url, 'it does not answer']));
  expect(warnings[0]).toContain('It reaches no member of etcd');
  expect((await c.exchange('GET', state, undefined, token)).status).toBe(503);
  // Each worker of a hears it by itself.
  const health = async (): Promise<unknown> => (await a.exchange('GET', '/v1/state/system/health')).body;
  await expect.poll(health).toMatchObject({ status: 'degraded', cluster: { state: 'incomplete' } });
  expect(await stateOf(a, 'c')).toBe('out');
  await a.request('POST', keys, { name: 'while-cut' });
  c.network.heal();
  await vi.waitUntil(() => answers(c), { timeout: 60_000, interval: 100 });
  load.abort();
  await using;
  const accepted = used.filter(({ atMs, status }) => status === 200 && atMs > revokedMs);
  expect(accepted).toEqual([]);
  expect(used.some(({ status }) => status === 503)).toBe(true);
  expect((await c.exchange('POST', own, {}, token)).status).toBe(401);
  expect((await c.exchange('POST', encrypt('while-cut'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  expect((await c.exchange('POST', keys, { name: 'refused' })).status).toBe(201);
});

test('one is killed: the others go on, and it comes back with what was changed meanwhile', async () => {
  await b.kill();
  b.network.close();
  // The first change waits until the killed one can answer no more.
  await a.request('POST', keys, { name: 'while-dead' });
  for (let n = 0; n < 5; n++) await c.request('POST', keys, { name: `while-dead-${n}` });
  expect(await stateOf(c, 'b')).toBe('out');
  const { complete, appliances } = await distributionOf(c, 'while-dead');
  expect([complete, ...appliances.map((one) => one['state'])]).toEqual([false, 'holds', 'away', 'holds']);
  b = await startMember(shared, 'b');
  expect((await b.exchange('POST', encrypt('while-dead-4'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  expect(await stateOf(a, 'b')).toBe('in');
});

test('a seal takes the keys of one appliance; unsealed, it has what the others did meanwhile', async () => {
  expect((await c.exchange('POST', '/v1/state/keystore/system/seal')).status).toBe(204);
  expect((await c.exchange('GET', '/v1/state/system/health')).body).toMatchObject({ status: 'sealed' });
  await a.request('POST', keys, { name: 'while-sealed' });
  const refusals: string[] = [];
  const unsealing = vi.waitUntil(
    async () => {
      const answer = await c.exchange('POST', '/v1/state/keystore/system/unseal', { pin: pinOf(shared.token) }).catch(() => undefined);
      if (answer?.status !== 204) refusals.push(`${answer?.status} ${answer?.body.code}`);
      return answer?.status === 204;
    },
    { timeout: 60_000, interval: 500 },
  );
  await unsealing.catch((error: Error) => {
    throw new Error(`${error.message} ${refusals.join()}\n${c.output()}`);
  });
  await vi.waitUntil(() => answers(c), { timeout: 60_000, interval: 100 });
  expect((await c.exchange('POST', encrypt('while-sealed'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
});

test('the wrapping key is rotated under all of them: everything opens, also after starts, and the old one is gone', async () => {
  type Rotation = { readonly number: number; readonly state: string };
  const rotationSeenBy = async (member: Member): Promise<Rotation> => {
    const { tokens } = (await member.request('GET', '/v1/state/system/hsm')) as { tokens: { 'wrapping-key': Rotation }[] };
    return (tokens[0] as (typeof tokens)[number])['wrapping-key'];
  };
  expect(await b.request('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({ number: 2, state: 'rewrapping' });
  expect((await a.exchange('POST', '/v1/state/system/rotate-wrapping-key', {})).status).toBe(409);
  for (const member of [a, b, c]) expect((await member.exchange('POST', decrypt('early'), { ciphertext: early })).status).toBe(200);
  for (const member of [a, b, c]) {
    await expect.poll(() => rotationSeenBy(member), { timeout: 180_000, interval: 500 }).toMatchObject({ number: 2, state: 'in-use' });
  }
  await c.kill();
  c.network.close();
  c = await startMember(shared, 'c');
  for (const member of [a, b, c]) {
    expect(await member.request('POST', decrypt('early'), { ciphertext: early })).toMatchObject({ plaintext: 'aGVsbG8=' });
    expect((await member.exchange('POST', keys, { name: `rotated-${member.name}` })).status).toBe(201);
  }
});

test('an appliance with another HSM is refused, and that HSM stays as it was', async () => {
  const wrong = 'does not open the keys of the cluster';
  const empty = await makeEmptySoftToken(path('empty-hsm'));
  // Refused again, because nothing was made in it.
  for (let attempt = 0; attempt < 2; attempt++)
    expect(await refusalOf(startMember({ ...shared, token: empty }, 'wrong'))).toContain('it was not prepared for this service');
  const other = await makeSoftToken(path('other-hsm'));
  expect(await refusalOf(startMember({ ...shared, token: other }, 'wrong'))).toContain(wrong);
  expect(await refusalOf(startMember({ ...shared, token: { ...shared.token, name: 'another' } }, 'wrong'))).toContain('the token main');
  expect((await membersSeenBy(a)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  // With the right one it joins after all.
  const right = await startMember(shared, 'wrong');
  expect((await right.exchange('POST', decrypt('early'), { ciphertext: early })).status).toBe(200);
  await endMember(right);
});

test('an etcd that is too old is refused by its version', async () => {
  const files = { certificate: path('server.pem'), key: path('server-key.pem'), ca: path('ours.pem') };
  const old = await startOldEtcd('3.5.16', files);
  try {
    const args = argsOf(path, 'old', { tokens: [shared.token], cluster: sectionOf(path, 'old', [old.url]) });
    const refusal = await refusalOf(startDaemon({ directory: path('data-old'), args }));
    expect(refusal).toContain(`etcd at ${old.url}: etcd 3.5.16 is too old`);
  } finally {
    old.stop();
  }
});

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  [
    'a certificate that cannot be read',
    { 'certificate-file': '/nowhere.pem' },
    'cluster/certificate-file /nowhere.pem cannot be read (ENOENT)',
  ],
  ['a key that is none', { 'key-file': '/etc/hostname' }, 'cluster/key-file /etc/hostname is not a PEM file'],
  ['the name of another', { name: 'a' }, 'another appliance of the cluster is named a'],
])('a start is refused with %s', async (_, change, reason) => {
  const cluster = { ...sectionOf(path, 'd', shared.etcd.urls), ...change };
  const args = argsOf(path, 'd', { tokens: [shared.token], cluster });
  expect(await refusalOf(startDaemon({ directory: path('data-d'), args }))).toContain(reason);
});

test('the embedded token is refused with an etcd that others run: only an invitation proves whose token gets the keys', async () => {
  const args = argsOf(path, 'embedded', { tokens: [], cluster: sectionOf(path, 'embedded', shared.etcd.urls) });
  expect(await refusalOf(startDaemon({ directory: path('data-embedded'), args }))).toContain(
    'give cluster/member in place of cluster/endpoints',
  );
});

test('an appliance that has records of its own does not lose them by joining', async () => {
  const token = [shared.token];
  const other = await startDaemon({ directory: path('data-own'), args: argsOf(path, 'own-alone', { tokens: token }) });
  await other.stop();
  const args = argsOf(path, 'own', { tokens: token, cluster: sectionOf(path, 'own', shared.etcd.urls) });
  expect(await refusalOf(startDaemon({ directory: path('data-own'), args }))).toContain('records of its own');
});

test('a member does not start alone, where it would change what the others never see; a restored backup of it does', async () => {
  const passphrase = 'long enough to be taken';
  const backup = await b.exchange('POST', '/v1/state/system/backup', { passphrase });
  expect(backup.status).toBe(200);
  await endMember(b);
  const args = argsOf(path, 'left', { tokens: [shared.token] });
  expect(await refusalOf(startDaemon({ directory: path('data-b'), args }))).toContain('is the replica of a cluster');
  const [file, secret] = [path('backup'), path('passphrase')];
  writeFileSync(file, backup.octets);
  writeFileSync(secret, passphrase);
  const restored = await startDaemon({
    ...{ directory: path('data-restored'), rootToken: shared.rootToken },
    args: [...args, '--restore', file, '--restore-passphrase-file', secret],
  });
  expect((await restored.exchange('POST', encrypt('while-dead'), { plaintext: 'aGVsbG8=' })).status).toBe(200);
  expect((await restored.exchange('POST', keys, { name: 'alone-again' })).status).toBe(201);
  expect(await restored.request('GET', state)).toMatchObject({ shape: 'alone' });
  await restored.stop();
  b = await startMember(shared, 'b');
});

test('an appliance that lost its disk comes in again under its name', async () => {
  formerId = (await membersSeenBy(a)).find(({ name }) => name === 'b')?.id ?? '';
  await b.kill();
  b.network.close();
  rmSync(path('data-b'), { recursive: true });
  b = await startMember(shared, 'b');
  expect((await b.exchange('POST', decrypt('early'), { ciphertext: early })).status).toBe(200);
  expect((await membersSeenBy(a)).map(({ name, state: one }) => [name, one]).filter(([name]) => name === 'b')).toEqual([['b', 'in']]);
});

test('one that is allowed to go on uses keys from the last state when it is cut off, refuses everything else, and says so', async () => {
  const network = await relaysTo(shared.etcd.urls);
  const cluster = { ...sectionOf(path, 'factory', network.urls), 'isolated-uses-for': '1h' };
  const args = argsOf(path, 'factory', { tokens: [shared.token], cluster });
  const factory = await startDaemon({ directory: path('data-factory'), workers: 2, rootToken: shared.rootToken, args });
  // Every worker has used the key, and so has a reserve of it.
  const use = () => factory.exchange('POST', encrypt('early'), { plaintext: 'aGVsbG8=' });
  for (let n = 0; n < 40; n++) expect((await use()).status).toBe(200);
  const { token, accessor } = (await a.request('POST', '/v1/state/keystore/token/create', {})) as Record<string, string>;
  network.cut();
  const health = async () => (await factory.exchange('GET', '/v1/state/system/health')).body;
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 'degraded', cluster: { state: 'isolated' } });
  for (let n = 0; n < 20; n++) {
    expect((await use()).status).toBe(200);
    expect((await factory.exchange('POST', decrypt('early'), { ciphertext: early }, token)).status).toBe(200);
  }
  expect(await factory.exchange('POST', keys, { name: 'refused-there' })).toMatchObject({
    status: 503,
    body: { code: 'cluster-unavailable' },
  });
  expect((await factory.exchange('GET', `${keys}/early`)).status).toBe(503);
  // What the others revoke meanwhile it cannot know: that is what the administrator has allowed.
  await a.request('POST', '/v1/state/keystore/token/disable', { accessor });
  expect((await factory.exchange('POST', decrypt('early'), { ciphertext: early }, token)).status).toBe(200);
  network.heal();
  await vi.waitUntil(async () => (await factory.exchange('GET', `${keys}/early`)).status === 200, { timeout: 60_000, interval: 200 });
  expect((await factory.exchange('POST', decrypt('early'), { ciphertext: early }, token)).status).toBe(401);
  expect(await factory.stop()).toBe(0);
  network.close();
  expect(
    linesOf('factory').filter((line) => line.includes('"status":200') && line.includes('"isolated":true')).length,
  ).toBeGreaterThanOrEqual(40);
});

test('one that is lost for ever is removed, on record: nobody misses it or its trail, and neither it nor its name comes back', async () => {
  mkdirSync(path('home'), { recursive: true });
  const ctl = ctlFor(a, a.caPem, path('home'));
  const remove = (member: string): Promise<Run> => ctl(['cluster', 'remove', member, '--yes']);
  expect(await remove('c')).toMatchObject({ code: 5, stderr: expect.stringContaining('sent a heartbeat') });
  expect(await remove('a')).toMatchObject({ code: 5, stderr: expect.stringContaining('none removes itself') });
  expect(await remove('nobody')).toMatchObject({ code: 4 });
  await b.kill();
  b.network.close();
  await vi.waitUntil(async () => (await remove('b')).code === 0, { timeout: 60_000, interval: 500 });
  // Two that have left, and the former identity of the one that lost its disk.
  for (const gone of ['factory', 'wrong', formerId]) expect(await remove(gone)).toMatchObject({ code: 0 });
  const status = (await ctl.json('cluster', 'status')) as { members: Seen[]; removed: { id: string; name: string }[] };
  expect(status.members.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(status.removed.map(({ name }) => name).toSorted()).toEqual(['b', 'factory', 'wrong', formerId].toSorted());
  await expect
    .poll(async () => (await c.exchange('GET', '/v1/state/system/health')).body, { timeout: 30_000 })
    .toMatchObject({ status: 'ok', cluster: { state: 'up' } });
  await expect.poll(() => leadersSeenBy(c), { timeout: 30_000 }).toHaveLength(1);
  expect(await refusalOf(startMember(shared, 'b'))).toContain('was permanently removed from its cluster');
  rmSync(path('data-b'), { recursive: true });
  expect(await refusalOf(startMember(shared, 'b'))).toContain('is the name of an appliance that was permanently removed');
  // The last signatures of both cover the records of the removal.
  for (const member of [c, a]) await endMember(member);
  const trails = [path('data-a', 'audit'), path('data-c', 'audit')];
  const verified = await ctl(['audit', 'verify', ...trails]);
  const { findings, lost } = JSON.parse(verified.stdout) as { findings: object[]; lost: { appliance: string }[] };
  expect(findings).toEqual([]);
  expect(lost.map(({ appliance }) => appliance).toSorted()).toEqual(status.removed.map(({ id }) => id).toSorted());
  expect(verified.code).toBe(0);
});
