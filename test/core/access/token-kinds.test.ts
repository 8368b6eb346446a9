// Tokens with a number of uses, tokens that are refreshed without end, and tokens that go on without the one that made them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenExpiryJob } from '../../../core/access/tokens/expiry.ts';
import type { Json } from '../../harness/client.ts';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
const base = '/v1/state/keystore/token';
const approles = '/keystore/authentication/approles';

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
});
afterAll(() => app.stop());

const code = async (method: string, path: string, body?: unknown, options?: Sent) => {
  const { status, body: answer } = await app.send(method, path, body, options);
  return `${status} ${String(answer?.code ?? 'done')}`;
};
const poke = (token: string) => code('POST', '/v1/state/poke', {}, { token });
const info = async (accessor: string) => (await app.send('POST', `${base}/info`, { accessor })).body;
async function create(body: Json, token?: string): Promise<{ token: string; accessor: string } & Record<string, unknown>> {
  const answer = await app.send('POST', `${base}/create`, body, token === undefined ? {} : { token });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body as never;
}
/** An approle with the policy root, and a token of a login of it. */
async function logIn(name: string): Promise<string> {
  await app.send('POST', `/v1/config${approles}`, { name, 'token-policies': ['root'] });
  const { 'role-id': roleId } = (await app.send('GET', `/v1/state${approles}/${name}`)).body;
  const { 'secret-id': secretId } = (await app.send('POST', `/v1/state${approles}/${name}/generate-secret-id`, {})).body;
  return String((await app.send('POST', '/v1/approle-login', { 'role-id': roleId, 'secret-id': secretId })).body.token);
}

describe('a number of uses', () => {
  test('is taken by each request that is served, and the next one is refused', async () => {
    const { token, accessor } = await create({ uses: 2 });
    expect(await poke(token)).toBe('204 done');
    expect(await info(accessor)).toMatchObject({ 'uses-left': 1 });
    expect(await code('POST', `${base}/info`, {}, { token })).toBe('200 done');
    expect(await poke(token)).toBe('401 invalid-token');
    expect(await code('POST', `${base}/refresh`, {}, { token })).toBe('401 invalid-token');
  });

  test('is taken once for each of many at once, never more often', async () => {
    const { token } = await create({ uses: 7 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => poke(token)));
    expect(answers.filter((answer) => answer === '204 done')).toHaveLength(7);
    expect(answers.filter((answer) => answer === '401 invalid-token')).toHaveLength(33);
  });

  test('is not taken by what the checks refuse', async () => {
    const { token, accessor } = await create({ policies: ['default'], uses: 1 });
    expect(await code('GET', '/v1/config/tenants', undefined, { token })).toBe('403 policy-denied');
    expect(await code('POST', `${base}/info`, { nonsense: true }, { token })).toMatch(/^400 /);
    expect(await info(accessor)).toMatchObject({ 'uses-left': 1 });
  });

  test('cannot be turned into more: no token, secret-id, approle, root token or session by it', async () => {
    await app.send('POST', `/v1/config${approles}`, { name: 'counted', 'token-policies': [] });
    await app.send('POST', '/v1/config/tenants', { name: 'counted' });
    const { token } = await create({ uses: 100 });
    for (const [path, body] of [
      [`${base}/create`, {}],
      [`${base}/create`, { orphan: true }],
      [`/v1/state${approles}/counted/generate-secret-id`, {}],
      [`/v1/state${approles}/counted/hand-over-secret-id`, {}],
      [`/v1/config${approles}`, { name: 'another' }],
      [`${base}/create-root`, { name: 'counted' }],
    ] as const)
      expect([path, await code('POST', path, body, { token })]).toEqual([path, '403 policy-denied']);
  });

  test('that is used up is removed by the hourly job, and by nobody else before', async () => {
    const { token, accessor } = await create({ uses: 1 });
    expect(await poke(token)).toBe('204 done');
    expect(await info(accessor)).toMatchObject({ 'uses-left': 0 });
    await tokenExpiryJob(app.store, app.clock).run(new AbortController().signal);
    expect(await code('POST', `${base}/info`, { accessor })).toBe('404 not-found');
  });

  test.each([0, -1, 1.5, 1_000_001, '3'])('%j is none', async (uses) => {
    expect(await code('POST', `${base}/create`, { uses })).toMatch(/^400 /);
  });
});

describe('a period', () => {
  test('is given again by every refresh, past every longest life, and ends without one', async () => {
    const { token, accessor } = await create({ period: '24h' });
    expect(await info(accessor)).toMatchObject({ period: '1d' });
    expect((await info(accessor))['latest-expires']).toBeUndefined();
    for (let day = 0; day < 60; day++) {
      app.clock.advance(80_000);
      expect(await code('POST', `${base}/refresh`, {}, { token })).toBe('200 done');
    }
    expect(await poke(token)).toBe('204 done');
    app.clock.advance(86_401);
    expect(await poke(token)).toBe('401 invalid-token');
  });

  test('stands alone, and does not outlive its parent', async () => {
    for (const more of [{ ttl: '1h' }, { 'max-ttl': '1h' }])
      expect(await code('POST', `${base}/create`, { period: '1h', ...more })).toBe('400 invalid-value');
    const parent = await create({ policies: ['root'], ttl: '1h', 'max-ttl': '1h' });
    const { token } = await create({ period: '24h' }, parent.token);
    app.clock.advance(3_601);
    expect(await poke(token)).toBe('401 invalid-token');
  });

  test('passes no policy that limits how long tokens live', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'short',
      'rest-api': { rules: [{ path: `${base}/create`, operations: { execute: 'allow' }, 'allowed-values': { 'max-ttl': ['1h'] } }] },
    });
    const { token } = await create({ policies: ['short'] });
    expect(await code('POST', `${base}/create`, { period: '1h' }, { token })).toBe('403 policy-denied');
    expect(await code('POST', `${base}/create`, { 'max-ttl': '1h' }, { token })).toBe('200 done');
  });
});

describe('an orphan', () => {
  test('goes on without the token that made it, as whose it was, and counts as the same person', async () => {
    const parent = await create({ policies: ['root'] }, await logIn('makers'));
    const orphan = await create({ policies: ['root'], orphan: true, period: '24h' }, parent.token);
    const before = await info(orphan.accessor);
    expect(before).toMatchObject({ 'user-kind': 'approle', 'user-source': 'makers' });
    expect(before['parent']).toBeUndefined();
    expect(before['identity']).toEqual((await info(parent.accessor))['identity']);
    expect(await code('POST', `${base}/disable`, { accessor: parent.accessor })).toBe('204 done');
    expect(await poke(orphan.token)).toBe('204 done');
    expect(await info(orphan.accessor)).toEqual(before);
  });

  test('ends with the approle by which its maker logged in', async () => {
    const orphan = await create({ policies: ['root'], orphan: true }, await logIn('leaving'));
    expect(await poke(orphan.token)).toBe('204 done');
    expect(await code('DELETE', `/v1/config${approles}/leaving`)).toBe('204 done');
    expect(await poke(orphan.token)).toBe('401 invalid-token');
  });

  test('of a root token is no root token', async () => {
    const orphan = await create({ policies: ['root'], orphan: true });
    expect(await info(orphan.accessor)).toMatchObject({ 'user-kind': 'root-token', expires: expect.any(String) as unknown });
  });

  test('is made by root alone, and not by a token that is bound to addresses', async () => {
    await app.send('POST', '/v1/config/policy/policies', {
      name: 'all-but-name',
      'rest-api': { rules: [{ path: '/**', operations: { execute: 'allow', create: 'allow', read: 'allow' } }] },
    });
    const { token } = await create({ policies: ['all-but-name'] });
    expect(await code('POST', `${base}/create`, { orphan: true }, { token })).toBe('403 policy-denied');
    const bound = await create({ policies: ['root'], 'bound-cidrs': ['127.0.0.1'] });
    expect(await code('POST', `${base}/create`, { orphan: true }, { token: bound.token, from: '127.0.0.1' })).toBe('403 policy-denied');
  });

  test('has no ancestors that count for its own children', async () => {
    let { token } = await create({ policies: ['root'] });
    for (let generation = 2; generation <= 8; generation++) ({ token } = await create({}, token));
    expect(await code('POST', `${base}/create`, {}, { token })).toBe('409 token-lineage-too-long');
    const orphan = await create({ orphan: true }, token);
    expect(await poke((await create({}, orphan.token)).token)).toBe('204 done');
  });
});
