// Topics over the API: who sees which records, from when, how many, and for how long.
import { mkdirSync, appendFileSync } from 'node:fs';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { streamFilePath } from '../../../core/log/stream-files.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let appliance: TestAppliance;
/** a tenant with a root token */
let token: string;
let uuid: string;
const trail = '/v1/state/topics/system:audit-trail-log';
const logs = '/v1/state/topics/system:logs';
const keys = '/v1/config/keystore/transit-keys';

type Row = Readonly<Record<string, unknown>>;

/** How long an event may take to come about on a busy machine. */
const patienceMs = 60_000;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: at() });
  token = await makeTenant('acme');
  ({ uuid } = (await appliance.request('GET', '/v1/state/tenants/acme')).body);
  await appliance.request('POST', keys, { name: 'ours' }, { token });
  await appliance.request('POST', keys, { name: 'theirs' });
});
afterAll(() => appliance.close());

async function makeTenant(name: string): Promise<string> {
  await appliance.request('POST', '/v1/config/tenants', { name });
  return String((await appliance.request('POST', '/v1/state/keystore/token/create-root', { name })).body.token);
}

async function read(path: string, as: string | undefined = appliance.rootToken): Promise<Row[]> {
  const answer = await appliance.request('GET', path, undefined, { token: as });
  expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 200, 'application/x-ndjson']);
  return linesOf(String(answer.body));
}

const linesOf = (text: string): Row[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);

const verdict = async (path: string, as?: string) => {
  const { status, body } = await appliance.request('GET', path, undefined, { token: as ?? appliance.rootToken });
  return `${status} ${String(body?.code)}`;
};

describe('who sees what', () => {
  test('the system tenant sees all records of the trail as they are', async () => {
    const rows = await read(trail);
    expect(new Set(rows.map((row) => row['tenant']))).toEqual(new Set([undefined, 'system', 'acme']));
    expect(rows.map((row) => row['sequence'])).toEqual(rows.map((_, index) => index + 1));
    expect(rows[0]).toMatchObject({ kind: 'trail', event: 'started', chain: 'test', hash: expect.any(String) });
    expect(rows.find((row) => row['path'] === keys && row['tenant'] === 'acme')).toMatchObject({ 'tenant-id': uuid, user: 'root' });
  });

  test('another tenant sees its own, without their place in chains that are not its own', async () => {
    const rows = await read(trail, token);
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toMatchObject({ tenant: 'acme', 'tenant-id': uuid });
    for (const row of rows) for (const field of ['chain', 'sequence', 'previous', 'hash']) expect(row).not.toHaveProperty(field);
    expect(rows.map((row) => [row['method'], row['path']])).toContainEqual(['POST', keys]);
  });

  test('a tenant of the name of one that is gone does not see what that one did', async () => {
    const before = await makeTenant('phoenix');
    await read(trail, before);
    expect((await appliance.request('DELETE', '/v1/config/tenants/phoenix')).status).toBe(204);
    const after = await makeTenant('phoenix');
    // Its own reading is on record before it begins.
    expect(await read(trail, after)).toHaveLength(1);
    expect(await read(trail, after)).toHaveLength(2);
  });

  test('the logs are for the system tenant; for others neither they nor unknown topics exist', async () => {
    mkdirSync(at('logs'), { recursive: true });
    const line = { 'occurred-at': '2026-01-01T00:00:00.000000Z', level: 'warn', component: 'x', tenant: 'acme', message: 'm' };
    appendFileSync(streamFilePath(at('logs'), 'worker-1', 1), `${JSON.stringify(line)}\n`);
    expect(await read(logs)).toEqual([line]);
    expect(await verdict(logs, token)).toBe('404 not-found');
    for (const topic of ['system:nothing', 'system', 'system:logs%2f..', '..%2fstore']) {
      expect(await verdict(`/v1/state/topics/${topic}`)).toBe('404 not-found');
    }
    const names = async (as: string) => (await appliance.request('GET', '/v1/state/topics', undefined, { token: as })).body;
    expect(await names(appliance.rootToken)).toEqual([{ name: 'system:audit-trail-log' }, { name: 'system:logs' }]);
    expect(await names(token)).toEqual([{ name: 'system:audit-trail-log' }]);
  });

  test('background rotations are records of the key’s tenant', async () => {
    await appliance.request('POST', keys, { name: 'turning', 'auto-rotate': { 'rotate-after': '1h' } }, { token });
    appliance.clock.advance(3_600);
    await appliance.jobs.find(({ name }) => name === 'transit-auto-rotate')?.run(AbortSignal.timeout(10_000));
    const rotated = (await read(trail, token)).filter((row) => row['kind'] === 'rotation');
    expect(rotated).toEqual([
      expect.objectContaining({ tenant: 'acme', path: '/v1/state/keystore/transit-keys/turning/rotate', 'key-version': 2 }),
    ]);
  });

  test('fields that the policy hides are left out, and the policy decides whether one may read at all', async () => {
    const rules = [{ path: '/v1/state/topics/*', operations: { read: 'allow' }, 'hide-fields': ['client-ip', 'user-agent', 'user'] }];
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'auditor', 'rest-api': { rules } });
    const create = async (policies: string[]) =>
      String((await appliance.request('POST', '/v1/state/keystore/token/create', { policies })).body.token);
    const rows = await read(trail, await create(['auditor']));
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) for (const field of ['client-ip', 'user-agent', 'user']) expect(row).not.toHaveProperty(field);
    expect(rows[0]).toHaveProperty('sequence');
    expect(await verdict(trail, await create(['rewrap-only']))).toBe('403 policy-denied');
  });
});

describe('who, what, where, result and reads', () => {
  const pathsOf = async (query: string, as?: string) => (await read(`${trail}?${query}`, as)).map((row) => row['path']);

  test('choose records, in any case and together, before they are counted', async () => {
    await appliance.request('POST', keys, { name: 'sought' });
    await appliance.request('POST', `${keys.replace('config', 'state')}/sought/encrypt`, { plaintext: 'no base64!' });
    const encrypt = '/v1/state/keystore/transit-keys/sought/encrypt';
    expect(await pathsOf('what=ENCRYPT&where=sought')).toEqual([encrypt]);
    expect(await pathsOf('where=sought&result=refused')).toEqual([encrypt]);
    expect(await pathsOf('where=sought&result=done')).toEqual([]);
    expect(await pathsOf('what=invalid-base64&where=sought')).toEqual([encrypt]);
    expect(new Set((await read(`${trail}?who=Acme`)).map((row) => row['tenant']))).toEqual(new Set(['acme']));
    expect(await pathsOf('reads=false&limit=2')).toEqual([keys, encrypt]);
    const changes = await read(`${trail}?reads=false`);
    expect(changes.filter(({ method, status }) => method === 'GET' || status === undefined)).toEqual([]);
  });

  test('never find what is of another tenant, or hidden by policies', async () => {
    expect(await pathsOf('where=sought', token)).toEqual([]);
    const rules = [{ path: '/v1/state/topics/*', operations: { read: 'allow' }, 'hide-fields': ['user', 'path'] }];
    await appliance.request('POST', '/v1/config/policy/policies', { name: 'half-blind', 'rest-api': { rules } });
    const { body } = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['half-blind'] });
    expect(await read(`${trail}?where=sought`, body.token)).toEqual([]);
    expect(await read(`${trail}?what=encrypt`, body.token)).toEqual([]);
    expect((await read(`${trail}?result=refused`, body.token)).length).toBeGreaterThan(0);
  });

  test('are refused where they make no sense', async () => {
    for (const query of ['result=perhaps', 'reads=no', `who=${'x'.repeat(257)}`])
      expect(await verdict(`${trail}?${query}`)).toBe('400 invalid-value');
    expect(await verdict(`${logs}?who=ada`)).toBe('400 invalid-value');
    expect(await verdict(`${logs}?reads=true&limit=1`)).toBe('200 undefined');
  });
});

describe('since, limit, follow', () => {
  test('the newest so many, counted among those one may see', async () => {
    const all = await read(trail, token);
    for (let n = 0; n < 20; n++) await appliance.request('GET', keys);
    const newest = await read(`${trail}?limit=3`, token);
    const ids = (rows: readonly Row[]) => rows.map((row) => row['request-id']);
    expect(ids(newest).slice(0, 2)).toEqual(ids(all).slice(-2));
    expect(newest[2]).toMatchObject({ path: trail });
    expect(ids(await read(`${trail}?limit=1000`, token)).slice(0, all.length)).toEqual(ids(all));
  });

  test('from a time on, given as a timestamp or as a duration before now', async () => {
    appliance.clock.advance(10_000);
    const since = appliance.clock.now();
    appliance.clock.advance(100);
    await appliance.request('GET', keys, undefined, { token });
    const times = async (query: string) => (await read(`${trail}?${query}`, token)).map((row) => row['path']);
    expect(await times(`since=${since.toString()}`)).toEqual([keys, trail]);
    expect(await times('since=100s&limit=1')).toEqual([keys]);
    expect(await times(`since=${since.toString().replace('Z', '%2b00:00')}&limit=1`)).toEqual([keys]);
    expect(await times(`since=${since.toString().replace('Z', '+00:00')}&limit=1`)).toEqual([keys]);
    appliance.clock.advance(1_000);
    expect(await times('since=500s')).toEqual([trail]);
  });

  test.each(['since=yesterday', 'since=', 'limit=0', 'limit=-1', 'limit=x', 'follow=maybe'])('%s is refused', async (query) => {
    expect(await verdict(`${trail}?${query}`)).toBe('400 invalid-value');
  });

  test('HEAD ends at once, also when it would follow', async () => {
    expect((await appliance.request('HEAD', `${trail}?follow=true`)).status).toBe(200);
  });

  test('a followed topic goes on with what happens, and ends with the token', async () => {
    const made = (await appliance.request('POST', '/v1/state/keystore/token/create', {}, { token })).body;
    const stream = open(`${trail}?follow=true&limit=1`, String(made.token));
    await vi.waitFor(() => expect(stream.rows()).toHaveLength(1), patienceMs);
    await appliance.request('GET', keys, undefined, { token });
    await appliance.request('GET', keys);
    await vi.waitFor(() => expect(stream.rows().at(-1)).toMatchObject({ path: keys, tenant: 'acme' }), patienceMs);
    const before = stream.rows().length;
    await appliance.request('POST', '/v1/state/keystore/token/disable', { accessor: made.accessor }, { token });
    await stream.ended;
    expect(stream.rows()).toHaveLength(before);
  });

  test('a token that reads very many at a time waits; others do not', async () => {
    const streams = Array.from({ length: 10 }, () => open(`${trail}?follow=true&limit=1`, token));
    await vi.waitFor(() => expect(streams.every((stream) => stream.rows().length > 0)).toBe(true), patienceMs);
    expect(await verdict(trail, token)).toBe('429 rate-limited');
    expect(await read(`${trail}?limit=1`)).toHaveLength(1);
    for (const stream of streams) stream.close();
    const status = async () => (await appliance.request('GET', `${trail}?limit=1`, undefined, { token })).status;
    await vi.waitFor(async () => expect(await status()).toBe(200), patienceMs);
  });

  test('endStreams ends them all', async () => {
    const stream = open(`${trail}?follow=true`, token);
    await vi.waitFor(() => expect(stream.rows().length).toBeGreaterThan(0), patienceMs);
    appliance.app.endStreams();
    await stream.ended;
  });
});

/** A stream that is read as it comes. */
function open(path: string, as: string): { rows(): Row[]; close(): void; readonly ended: Promise<void> } {
  let text = '';
  const sent = request(`${appliance.url}${path}`, {
    headers: { authorization: `Bearer ${as}` },
    rejectUnauthorized: false,
    agent: false,
  });
  const ended = new Promise<void>((resolve) => {
    sent.on('response', (response) => {
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('close', resolve);
    });
  });
  sent.on('error', () => undefined);
  sent.end();
  return { ended, close: () => void sent.destroy(), rows: () => linesOf(text.slice(0, text.lastIndexOf('\n') + 1)) };
}
