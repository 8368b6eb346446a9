// One record of every table is changed past keystored: lists, jobs and searches go on with the others, and what needs it says which it is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeKey } from '../../../core/store/keys.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { damageRecords } from '../../harness/damage.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeCsr, makeKeys } from '../../plugins/ca/pki.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
/** texts of the keys that were damaged, by table */
const damaged = new Map<string, string>();

const keys = 'keystore/transit-keys';
const cas = 'keystore/tls/ca';
const approles = 'keystore/authentication/approles';
const oidc = 'keystore/authentication/oidc';

async function done(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const answer = await appliance.request(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function fill(): Promise<void> {
  for (const name of ['a', 'b', 'z']) {
    await done('POST', `/v1/config/${keys}`, { name, 'allow-plaintext-backup': true, 'auto-rotate': { 'rotate-after': '30d' } });
    await done('POST', `/v1/state/${keys}/${name}/rotate`);
    await done('POST', `/v1/config/policy/policies`, { name, 'rest-api': { rules: [] } });
    await done('POST', `/v1/config/${approles}`, { name });
    await done('POST', `/v1/state/${approles}/${name}/generate-secret-id`, { ttl: '1h' });
    await done('POST', '/v1/config/tenants', { name });
    await done('POST', '/v1/state/keystore/token/create-root', { name });
    await done('POST', '/v1/state/keystore/token/create', { ttl: '1h' });
    await done('POST', `/v1/config/${cas}`, { name });
    const csr = formatPem('CERTIFICATE REQUEST', await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}` }));
    for (let one = 0; one < 2; one++) {
      await done('POST', `/v1/state/${cas}/a/sign-csr`, { csr });
      const certificates = (await done('GET', `/v1/state/${cas}/a/certificates`)) as unknown as { serial: string; status: string }[];
      const serial = certificates.find(({ status }) => status === 'valid')?.serial;
      if (one === 0) await done('POST', `/v1/state/${cas}/a/revoke`, { serial });
    }
    await done('POST', `/v1/config/${oidc}`, {
      name,
      'discovery-url': 'https://idp.example/.well-known/openid-configuration',
      'client-id': 'c',
      'client-secret': 'a secret that is long enough',
      'role-select': { 'role-claim': 'groups' },
      'allowed-redirect-uris': ['https://keystore.example/oidc-callback'],
    });
    await done('POST', `/v1/config/${oidc}/a/roles`, { name });
  }
}

/** What a caller needs for any request at all, or what is there once. */
const spared = /^(?:tenants|tenant-names|token-hashes|plugin-|core|migrations)/;

/** The last record of each table that has two and more, with an octet changed. */
async function damage(): Promise<void> {
  // Not the token of this test: no request would pass.
  const { accessor } = (await done('POST', '/v1/state/keystore/token/info', {})) as { accessor: string };
  await damageRecords(appliance, (texts) => {
    const byTable = Map.groupBy(texts, (text) => decodeKey(text).table);
    for (const [table, all] of byTable)
      if (all.length > 1 && !spared.test(table))
        damaged.set(table, all.findLast((text) => table !== 'tokens' || !decodeKey(text).key.includes(accessor)) as string);
    // A version of a key whose own record opens.
    const tenantId = String(decodeKey(damaged.get('transit/keys') ?? '').key[0]);
    const { id } = appliance.store.prefixed('transit').table<{ id: string }>('keys').get([tenantId, 'b']) as { id: string };
    damaged.set('transit/versions', byTable.get('transit/versions')?.findLast((text) => decodeKey(text).key[1] === id) as string);
    return damaged.values();
  });
}

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at('appliance') });
  await fill();
  await damage();
});
afterAll(() => appliance.close());

test('the tables of every part are among those that were damaged', () => {
  expect([...damaged.keys()]).toEqual(
    expect.arrayContaining([
      'approles',
      'policies',
      'tokens',
      'transit/keys',
      'transit/versions',
      'est/cas',
      'est/certificates',
      'est/revocations',
      'oidc/roles',
    ]),
  );
});

test('no list is ended by one, in either tree', async () => {
  const { paths } = (await done('GET', '/v1/openapi.json')) as { paths: Record<string, Record<string, unknown>> };
  const lists = Object.keys(paths).filter((path) => paths[path]?.['get'] !== undefined && /^\/v1\/(?:config|state)\/[^{]*$/.test(path));
  expect(lists.length).toBeGreaterThan(20);
  for (const path of [
    ...lists,
    `/v1/state/${cas}/a/certificates`,
    `/v1/state/${cas}/a`,
    `/v1/state/${approles}/a/secret-ids`,
    `/v1/config/${oidc}/a/roles`,
  ]) {
    const { status, body } = await appliance.request('GET', path);
    expect([path, status, status < 500 ? '' : body]).toEqual([path, expect.toSatisfy((one: number) => one < 500), '']);
  }
  const listed = (await done('GET', `/v1/config/${keys}`)) as unknown as { name: string; unreadable?: string }[];
  expect(listed.map(({ name }) => name)).toEqual(['a', 'b', 'z']);
  expect(listed.filter(({ unreadable }) => unreadable !== undefined)).toMatchObject([{ name: 'z' }]);
});

test('no job is ended by one: it goes on with the others', async () => {
  const faults: [string, string][] = [];
  appliance.clock.advance(40 * 86_400);
  for (const job of appliance.jobs)
    await job.run(new AbortController().signal).catch((error: unknown) => faults.push([job.name, (error as Error).message]));
  expect(faults).toEqual([]);
});

test('an action on one says which record it is and what to do, and so does a use of an entry that needs it', async () => {
  const name = decodeKey(damaged.get('transit/keys') ?? '').key.at(-1);
  for (const [action, body] of [
    ['encrypt', { plaintext: '' }],
    ['rotate', undefined],
  ] as const) {
    const { status, body: refusal } = await appliance.request('POST', `/v1/state/${keys}/${name}/${action}`, body);
    expect([action, status, refusal.code]).toEqual([action, 409, 'record-unreadable']);
    expect(refusal.detail).toMatch(new RegExp(`^The record transit/keys \\[.*"${name}"\\] does not open: .* delete it as root\\.$`));
  }
});

test('a key of which a version does not open says so, is no backup without it, and root deletes it', async () => {
  const id = decodeKey(damaged.get('transit/versions') ?? '').key[1];
  const listed = (await done('GET', `/v1/state/${keys}`)) as unknown as { name: string; unreadable?: string }[];
  expect(listed.find(({ name }) => name === 'b')?.unreadable).toContain(String(id));
  const path = `${keys}/b`;
  for (const [method, tree, action] of [
    ['GET', 'state', ''],
    ['POST', 'state', '/backup'],
    ['POST', 'state', '/rotate'],
  ] as const) {
    const { status, body } = await appliance.request(method, `/v1/${tree}/${path}${action}`, method === 'GET' ? undefined : {});
    expect([action, status, body.code]).toEqual([action, 409, 'record-unreadable']);
  }
  expect((await appliance.request('PATCH', `/v1/config/${path}`, { 'deletion-allowed': true })).body.code).toBe('record-unreadable');
  const { token } = await done('POST', '/v1/state/keystore/token/create', { policies: ['user'] });
  expect((await appliance.request('DELETE', `/v1/config/${path}`, undefined, { token: String(token) })).body.code).toBe(
    'deletion-not-allowed',
  );
  await done('DELETE', `/v1/config/${path}`);
  expect((await appliance.check()).map(({ where }) => where)).not.toContainEqual(expect.stringContaining(`${id}`));
});

test('a revocation is on the revocation list all the same', async () => {
  const serial = String(decodeKey(damaged.get('est/revocations') ?? '').key.at(-1));
  const { 'crl-url': url } = (await done('GET', `/v1/state/${cas}/a`)) as { 'crl-url': string };
  const { status, octets } = await appliance.request('GET', new URL(url).pathname, undefined, { token: undefined });
  expect(status).toBe(200);
  expect(octets.toString('hex')).toContain(serial.toLowerCase());
});

test('health says that there are some, naming tables and no keys', async () => {
  const { body } = await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined });
  const text = JSON.stringify(body);
  expect(text).toContain('records-unreadable');
  expect(text).toContain('a record of transit/keys does not open');
  expect(text).not.toMatch(/records-unreadable[^{]*(?:\[|"z")/);
});
