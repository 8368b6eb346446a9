// npm test -- cluster: one order for all, one gone while the others go on, and no shared secret in clear, of three whole appliances.
import { createHash, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { provideStoreKey } from '../../appliance/data-directory/store-key.ts';
import { revealSecret } from '../../core/base/secret.ts';
import { layout } from '../../core/cluster/layout.ts';
import { openHsm } from '../../hsm/client/open.ts';
import type { Answer } from '../harness/client.ts';
import { children, end } from '../harness/kills/victims.ts';
import { processesBelow } from '../harness/processes.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { testHsmConfig } from '../harness/token/softhsm.ts';
import { makeDeviceCsr, makeKeys, x509 } from '../plugins/ca/pki.ts';
import { authoritiesIn } from './certificates.ts';
import { endMember, type Member, pinOf, prepareCluster, type Shared, startMember } from './daemons.ts';

const path = temporaryDirectory();
const [keys, tenants, cas] = ['/v1/config/keystore/transit-keys', '/v1/config/tenants', '/v1/config/keystore/tls/ca'];
const issuer = '/v1/state/keystore/tls/ca/issuer';
const approles = 'keystore/authentication/approles';
const encrypt = '/v1/state/keystore/transit-keys/used/encrypt';
let shared: Shared;
let members: Member[];
let tenantId: string;
let secretId: string;

/** The same asked of all at the same moment, so many times of each. */
async function askAll(times: number, ask: (member: Member) => Promise<Answer>): Promise<readonly Answer[]> {
  return Promise.all(Array.from({ length: times }, () => members.map(ask)).flat());
}
const countOf = (answers: readonly Answer[], status: number): number => answers.filter((one) => one.status === status).length;

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  const first = await startMember(prepared, 'a');
  shared = { ...prepared, rootToken: first.rootToken };
  members = [first, await startMember(shared, 'b'), await startMember(shared, 'c')];
  ({ uuid: tenantId } = (await first.request('GET', '/v1/state/tenants/system')) as { uuid: string });
  await first.request('POST', keys, { name: 'used' });
  await first.request('POST', cas, { name: 'issuer', ttl: '20y' });
});
afterAll(async () => {
  for (const member of members) await endMember(member).catch(() => undefined);
  await shared.etcd.stop();
});

test('three that make the root token of a tenant at the same moment make one', async () => {
  for (let round = 0; round < 5; round++) {
    const name = `plant-${round}`;
    await members[round % 3]?.request('POST', tenants, { name, policies: ['root'] });
    const made = await askAll(2, (member) => member.exchange('POST', '/v1/state/keystore/token/create-root', { name }));
    expect([countOf(made, 200), countOf(made, 409)]).toEqual([1, 5]);
  }
});

test('a secret-id of ten uses gives ten logins, at whichever appliances', async () => {
  const [first] = members as [Member];
  await first.request('POST', `/v1/config/${approles}`, { name: 'counted', 'secret-id-num-uses': 10, 'token-policies': ['user'] });
  const { 'role-id': roleId } = (await first.request('GET', `/v1/state/${approles}/counted`)) as Record<string, string>;
  ({ 'secret-id': secretId } = (await first.request('POST', `/v1/state/${approles}/counted/generate-secret-id`, {})) as {
    'secret-id': string;
  });
  const credentials = { 'role-id': roleId, 'secret-id': secretId };
  const logins = await askAll(8, (member) => member.exchange('POST', '/v1/approle-login', credentials, ''));
  expect([countOf(logins, 200), countOf(logins, 401) + countOf(logins, 429)]).toEqual([10, 14]);
});

test('of three rotations of the wrapping key that begin at the same moment, one does', async () => {
  const begun = await askAll(1, (member) => member.exchange('POST', '/v1/state/system/rotate-wrapping-key', {}));
  expect(begun.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409]);
});

test('no serial number is given twice, and no two revocation lists have one number', async () => {
  const csr = (await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test')).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${csr}\n-----END CERTIFICATE REQUEST-----\n`;
  const issued = await askAll(5, (member) => member.exchange('POST', `${issuer}/sign-csr`, { csr: pem, ttl: '30d' }));
  expect(countOf(issued, 200)).toBe(15);
  const serials = issued.map(({ body }) => new X509Certificate(body.certificate).serialNumber.toLowerCase());
  expect(new Set(serials).size).toBe(15);
  const lists = new Map<string, Set<string>>();
  let revoked = 0;
  await Promise.all(
    serials.map(async (serial, index) => {
      const member = members[index % 3] as Member;
      const { status } = await member.exchange('POST', `${issuer}/revoke`, { serial, reason: 'superseded' });
      if (status < 300) revoked++;
      for (const one of members) {
        const { octets: raw } = await one.exchange('GET', `/v1/ca/${tenantId}/issuer/crl`);
        const crl = new x509.X509Crl(Uint8Array.from(raw));
        const number = Buffer.from(crl.getExtension('2.5.29.20')?.value ?? new ArrayBuffer()).toString('hex');
        lists.set(number, (lists.get(number) ?? new Set()).add(createHash('sha256').update(raw).digest('hex')));
      }
    }),
  );
  expect(revoked).toBe(15);
  expect([...lists.values()].filter((contents) => contents.size > 1)).toEqual([]);
  expect(lists.size).toBeGreaterThan(1);
});

/** Changes and uses, one after the other at each of some appliances, until they are over: what was refused, and the longest time of each. */
function load(of: readonly Member[]) {
  const over = new AbortController();
  const refused: string[] = [];
  const longestMs = { change: 0, use: 0 };
  const running = of.flatMap((member) =>
    (['change', 'use'] as const).map(async (kind) => {
      for (let n = 0; !over.signal.aborted; n++) {
        const begunMs = performance.now();
        const [path, body] =
          kind === 'use' ? [encrypt, { plaintext: 'aGVsbG8=' }] : [keys, { name: `${member.name}-${Math.round(begunMs)}-${n}` }];
        const { status } = await member.exchange('POST', path, body).catch((error: Error) => ({ status: error.message }));
        if (status !== 200 && status !== 201) refused.push(`${member.name}: ${kind} ${status}`);
        longestMs[kind] = Math.max(longestMs[kind], performance.now() - begunMs);
        await setTimeout(5);
      }
    }),
  );
  return {
    async end() {
      over.abort();
      await Promise.all(running);
      return { refused, longestMs };
    },
  };
}

test('kill -9 of one, and of the token host of another, costs the others no request', async () => {
  const [a, b, c] = members as [Member, Member, Member];
  const others = load([a, b]);
  // Keys that are in use have encryptions in reserve; the first ones reserve them by changes, which wait for the one that is killed.
  await setTimeout(3_000);
  await c.kill();
  c.network.close();
  for (let n = 0; n < 3; n++) await a.request('POST', keys, { name: `after-kill-${n}` });
  members[2] = await startMember(shared, 'c');
  expect((await members[2].exchange('GET', `${keys}/after-kill-2`)).status).toBe(200);
  const seen = await others.end();
  expect(seen.refused).toEqual([]);

  const more = load([a, members[2]]);
  const [follower] = processesBelow(b.pid, 'follower');
  const hosts = children(b.pid)
    .filter((pid) => pid !== follower)
    .flatMap((worker) => children(worker));
  expect(hosts.map((host) => end(host))).toContain(true);
  await vi.waitUntil(async () => (await b.exchange('POST', encrypt, { plaintext: 'aGVsbG8=' })).status === 200, {
    timeout: 60_000,
    interval: 50,
  });
  const { refused, longestMs } = await more.end();
  expect(refused).toEqual([]);
  console.log(
    `one killed: longest change and use of the others ${JSON.stringify(seen.longestMs)} ms; its token hosts: ${JSON.stringify(longestMs)} ms`,
  );
});

test('the key of the store is in clear in no file of an appliance, and neither it nor a PIN or credential in etcd', async () => {
  const hsm = await openHsm(testHsmConfig(shared.token));
  const key = Buffer.from(revealSecret(await provideStoreKey(hsm, path('data-a'), path('no-store'))));
  await hsm.close();
  const formsOf = (secret: Buffer): readonly Buffer[] => [
    secret,
    ...(['hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(secret.toString(form))),
  ];
  const filesOf = (directory: string): readonly string[] =>
    readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap((one) =>
      one.isFile() ? [join(one.parentPath, one.name)] : [],
    );
  const found = ['a', 'b', 'c'].flatMap((name) =>
    filesOf(path(`data-${name}`)).filter((file) => formsOf(key).some((form) => readFileSync(file).includes(form))),
  );
  expect(found).toEqual([]);
  const client = authoritiesIn(path).clientWith('ours', 'appliance', shared.etcd.urls);
  const { kvs } = await client.range(layout.all);
  client.close();
  expect(kvs.length).toBeGreaterThan(100);
  const etcd = Buffer.concat(kvs.flatMap((one) => [one.key, one.value]));
  // What is in clear there is found: the names of records.
  expect(formsOf(Buffer.from(tenantId)).some((form) => etcd.includes(form))).toBe(true);
  const secrets = [key, ...[pinOf(shared.token).trim(), shared.rootToken, secretId].map((text) => Buffer.from(text))];
  expect(secrets.map((secret) => formsOf(secret).some((form) => etcd.includes(form)))).toEqual([false, false, false, false]);
});
