// Hand-overs: opened once, by the token alone, bounded in time, size and number, and telling who opened them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  findHandOver,
  type HandOver,
  handOverSweepJob,
  makeHandOver,
  renewHandOver,
  requireRoom,
} from '../../../core/access/hand-overs.ts';
import { Secret } from '../../../core/base/secret.ts';
import { endOtherCredentials } from '../../../core/access/earlier-credentials.ts';
import type { Answer, Json } from '../../harness/client.ts';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
let app: CoreApp;
const base = '/v1/state/keystore/hand-over';

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core') });
});
afterAll(() => app.stop());

const verdict = ({ status, body }: Answer) => `${status} ${String(body?.code ?? 'done')}`;
const act = (action: string, body: Json, options: Sent = { token: null }) => app.send('POST', `${base}/${action}`, body, options);

async function make(document: Json = {}, options: Sent = {}): Promise<{ token: string; accessor: string; expires: string }> {
  const made = await act('create', { text: 'geheim-7f3a', ...document }, options);
  if (made.status !== 200) throw new Error(made.text);
  return made.body as { token: string; accessor: string; expires: string };
}

describe('a hand-over', () => {
  test('is opened once, without another token, and the second one is told when and from where', async () => {
    const { token, accessor } = await make({ purpose: 'password of db' });
    expect((await act('info', { token })).body).toMatchObject({ accessor, purpose: 'password of db', tenant: 'system' });
    expect((await act('open', { token }, { token: null, from: '127.0.0.2' })).body).toEqual({ text: 'geheim-7f3a' });
    const again = await act('open', { token });
    expect([verdict(again), again.body.detail]).toEqual(['409 hand-over-opened', expect.stringContaining('from 127.0.0.2')]);
    expect((await act('info', { token })).body).toMatchObject({ 'opened-from': '127.0.0.2', opened: expect.any(String) });
    expect(verdict(await act('renew', { token }))).toBe('409 hand-over-opened');
    const listed = (await app.send('GET', '/v1/state/keystore/hand-overs')).body as readonly Json[];
    expect(listed.find((one) => one['accessor'] === accessor)).toMatchObject({ user: 'root', 'opened-from': '127.0.0.2' });
    expect(app.auditText()).not.toContain('geheim-7f3a');
    expect(app.auditText()).not.toContain(token);
  });

  test('is opened by one of many at once', async () => {
    const { token } = await make();
    const answers = await Promise.all(Array.from({ length: 20 }, () => act('open', { token })));
    expect(answers.map(verdict).sort()).toEqual(['200 done', ...Array.from({ length: 19 }, () => '409 hand-over-opened')]);
  });

  test('ends by itself, and is removed', async () => {
    const { token } = await make({ ttl: '1m' });
    app.clock.advance(61);
    for (const action of ['open', 'info', 'renew']) expect(verdict(await act(action, { token }))).toBe('404 not-found');
    const { token: other } = await make({ ttl: '1m' });
    const before = app.store.tenantTable('hand-overs').count([]);
    await handOverSweepJob(app.store, app.clock).run(new AbortController().signal);
    app.store.refresh();
    // Those that were opened stay until their end.
    const counts = [app.store.tenantTable('hand-overs'), app.store.table('hand-over-hashes'), app.store.tenantTable('hand-over-texts')];
    expect(counts.map((table) => table.count([]))).toEqual([before - 1, before - 1, 1]);
    expect(verdict(await act('open', { token: other }))).toBe('200 done');
  });

  test('gets another token, and never lasts longer than a week', async () => {
    const first = await make({ ttl: '5d' });
    app.clock.advance(4 * 86_400);
    const second = (await act('renew', { token: first.token })).body as { token: string; accessor: string; expires: string };
    expect(second.accessor).toBe(first.accessor);
    expect(verdict(await act('open', { token: first.token }))).toBe('409 hand-over-replaced');
    expect(Temporal.Instant.from(second.expires).since(Temporal.Instant.from(first.expires)).total('hours')).toBe(48);
    expect((await act('open', { token: second.token })).body).toEqual({ text: 'geheim-7f3a' });
  });

  test('tells the holder of a former token who asked for another one, and who opened it then', async () => {
    const { token } = await make({ purpose: 'password of db' });
    const thief = { token: null, from: '127.0.0.2' };
    const stolen = (await act('renew', { token }, thief)).body as { token: string };
    const said = async (action: string) => {
      const { status, body } = await act(action, { token });
      return [status, body.code, body.detail];
    };
    for (const action of ['open', 'info', 'renew'])
      expect(await said(action)).toEqual([409, 'hand-over-replaced', expect.stringMatching(/at \S+Z from 127\.0\.0\.2\. If/)]);
    const other = (await act('renew', { token: stolen.token }, thief)).body as { token: string };
    expect(verdict(await act('open', { token: other.token }, thief))).toBe('200 done');
    expect(await said('open')).toEqual([409, 'hand-over-replaced', expect.stringMatching(/was opened at \S+Z from 127\.0\.0\.2\./)]);
  });

  test('has a hundred tokens at most, of which each stays known, and is removed with all of them', async () => {
    const first = await make({ ttl: '1m' });
    const asked = { now: app.clock.now(), address: '127.0.0.2' };
    const token = 'token 100';
    await app.store.write((transaction) => {
      let record = findHandOver((table, key) => transaction.get(table, key), app.store, asked.now, first.token) as HandOver;
      for (let made = 2; made <= 100; made++) record = renewHandOver(transaction, app.store, asked, record, new Secret(`token ${made}`));
    });
    expect(verdict(await act('renew', { token }))).toBe('409 hand-overs-full');
    expect(verdict(await act('open', { token: first.token }))).toBe('409 hand-over-replaced');
    expect((await act('open', { token })).body).toEqual({ text: 'geheim-7f3a' });
    const hashes = () => (app.store.refresh(), app.store.table('hand-over-hashes').count([]));
    const before = hashes();
    app.clock.advance(61);
    await handOverSweepJob(app.store, app.clock).run(new AbortController().signal);
    expect(before - hashes()).toBeGreaterThanOrEqual(100);
    expect(verdict(await act('open', { token: first.token }))).toBe('404 not-found');
  });

  test('is ended by its accessor, in its tenant alone', async () => {
    const { token, accessor } = await make();
    const other = await app.makeTenant('curious');
    expect(verdict(await act('disable', { accessor }, { token: other }))).toBe('404 not-found');
    expect((await app.send('GET', '/v1/state/keystore/hand-overs', undefined, { token: other })).body).toEqual([]);
    expect(verdict(await act('disable', { accessor }, {}))).toBe('204 done');
    expect(verdict(await act('open', { token }))).toBe('404 not-found');
  });

  test('is made only by those who may', async () => {
    const { body } = await app.send('POST', '/v1/state/keystore/token/create', { policies: ['rewrap-only'] });
    expect(verdict(await act('create', { text: 'x' }, { token: String(body.token) }))).toBe('403 policy-denied');
    expect(verdict(await act('create', { text: 'x' }))).toBe('401 invalid-token');
  });

  test.each([
    ['a text of 32,770 octets', { text: 'ä'.repeat(16_385) }],
    ['eight days', { ttl: '8d' }],
    ['no time', { ttl: '0s' }],
    ['a long purpose', { purpose: 'x'.repeat(257) }],
  ])('with %s is refused', async (_, document) => {
    expect(verdict(await act('create', { text: 'x', ...document }, {}))).toBe('400 invalid-value');
  });
});

test('a tenant has a thousand that wait, and others have theirs', async () => {
  const full = await app.makeTenant('full');
  const { body } = await app.send('GET', '/v1/state/tenants/full');
  const grant = { tenantId: String(body.uuid), ttlSeconds: 60, text: 'x' };
  await app.store.write((transaction) => {
    for (let made = 1; made < 1_000; made++) {
      const [token, user] = [new Secret(`token ${made}`), `maker ${made % 4}`];
      makeHandOver(transaction, app.store, app.clock.now(), token, { ...grant, user });
    }
  });
  expect(verdict(await act('create', { text: 'x' }, { token: full }))).toBe('200 done');
  expect(verdict(await act('create', { text: 'x' }, { token: full }))).toBe('409 hand-overs-full');
  expect(verdict(await act('create', { text: 'x' }, {}))).toBe('200 done');
  expect(verdict(await act('open', { token: 'token 1' }))).toBe('200 done');
  expect(verdict(await act('create', { text: 'x' }, { token: full }))).toBe('200 done');
});

test('a user with a quarter of the room keeps no other one out', async () => {
  const token = await app.makeTenant('shared');
  const { body } = await app.send('GET', '/v1/state/tenants/shared');
  const grant = { tenantId: String(body.uuid), ttlSeconds: 60, text: 'x', user: 'root' };
  await app.store.write((transaction) => {
    for (let made = 1; made < 250; made++)
      makeHandOver(transaction, app.store, app.clock.now(), new Secret(`share ${made}`), made % 2 ? grant : { ...grant, user: 'other' });
    for (let made = 250; made < 374; made++) makeHandOver(transaction, app.store, app.clock.now(), new Secret(`share ${made}`), grant);
  });
  expect(verdict(await act('create', { text: 'x' }, { token }))).toBe('200 done');
  expect(verdict(await act('create', { text: 'x' }, { token }))).toBe('409 hand-overs-full');
  // A child of the token has its user; another login has another one.
  const child = await app.send('POST', '/v1/state/keystore/token/create', {}, { token });
  expect(verdict(await act('create', { text: 'x' }, { token: String(child.body.token) }))).toBe('409 hand-overs-full');
  const roomFor = (user: string, origin: string) => () => requireRoom(app.store, { tenantId: grant.tenantId, user, origin });
  expect(roomFor('another', 'approle another')).not.toThrow();
  // Of one who is called so by another login, older records without an owner count, and others do not.
  expect(roomFor('other', 'approle other')).not.toThrow();
  await app.store.write((transaction) => {
    for (let made = 0; made < 250; made++)
      makeHandOver(transaction, app.store, app.clock.now(), new Secret(`owned ${made}`), {
        ...grant,
        user: 'alice',
        origin: 'approle alice',
      });
  });
  expect(roomFor('alice', 'approle alice')).toThrow(/hand-overs of yours/);
  expect(roomFor('alice', 'sign-in alice')).not.toThrow();
});

test('a token that another has made fills a quarter of what its user may have, with its own children, and not the rest', async () => {
  const token = await app.makeTenant('branches');
  const childOf = async (parent: string) =>
    String((await app.send('POST', '/v1/state/keystore/token/create', {}, { token: parent })).body.token);
  const child = await childOf(token);
  const { body } = await app.send('POST', '/v1/state/keystore/token/info', {}, { token: child });
  const grant = { tenantId: String((await app.send('GET', '/v1/state/tenants/branches')).body.uuid), ttlSeconds: 60, text: 'x' };
  await app.store.write((transaction) => {
    for (let made = 1; made < 62; made++)
      makeHandOver(transaction, app.store, app.clock.now(), new Secret(`branch ${made}`), {
        ...{ ...grant, user: 'root', branch: String(body.accessor) },
      });
    for (let made = 0; made < 180; made++)
      makeHandOver(transaction, app.store, app.clock.now(), new Secret(`trunk ${made}`), { ...grant, user: 'root' });
  });
  const create = async (by: string) => verdict(await act('create', { text: 'x' }, { token: by }));
  expect(await create(await childOf(child))).toBe('200 done');
  expect(await create(child)).toBe('409 hand-overs-full');
  expect(await create(await childOf(child))).toBe('409 hand-overs-full');
  expect([await create(await childOf(token)), await create(token)]).toEqual(['200 done', '200 done']);
});

test('a secret-id is handed over without its maker seeing it', async () => {
  const approles = '/v1/config/keystore/authentication/approles';
  const state = approles.replace('config', 'state');
  await app.send('POST', approles, { name: 'job', 'token-policies': ['user'] });
  const made = await app.send('POST', `${state}/job/hand-over-secret-id`, { 'num-uses': 1, 'open-within': '5m' });
  expect([made.status, made.body['secret-id'], made.body['uses-left']]).toEqual([200, undefined, 1]);
  const opened = (await act('open', { token: made.body.token })).body as { text: string };
  const secret = JSON.parse(opened.text);
  expect(secret['accessor']).toBe(made.body.accessor);
  const { body } = await app.send('GET', `${state}/job`);
  const credentials = { 'role-id': body['role-id'], 'secret-id': secret['secret-id'] };
  expect((await app.send('POST', '/v1/approle-login', credentials, { token: null })).status).toBe(200);
  const user = String((await app.send('POST', '/v1/state/keystore/token/create', { policies: ['user'] })).body.token);
  expect(verdict(await app.send('POST', `${state}/job/hand-over-secret-id`, {}, { token: user }))).toBe('403 policy-denied');
});

test('none survives the end of all earlier credentials, which follows a restore', async () => {
  const { token } = await make();
  const { body } = await app.send('POST', '/v1/state/keystore/token/info');
  const [{ uuid }] = [(await app.send('GET', '/v1/state/tenants/system')).body as { uuid: string }];
  await endOtherCredentials(app.store, { tenantId: uuid, accessor: String(body.accessor) }, app.clock.now());
  expect(verdict(await act('open', { token }))).toBe('404 not-found');
});
