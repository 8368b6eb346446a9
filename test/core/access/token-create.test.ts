// Tokens that tokens make: never more, never longer, never from elsewhere than their parent, and clocks that are set.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../harness/client.ts';
import { startCoreApp, type CoreApp, type Sent } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
let app: CoreApp;
const base = '/v1/state/keystore/token';

beforeAll(async () => {
  app = await startCoreApp({ directory: at('core'), plugin: things });
  await app.send('POST', '/v1/config/policy/policies', {
    name: 'maker',
    'rest-api': { rules: [{ path: `${base}/create`, operations: { execute: 'allow' } }] },
  });
});
afterAll(() => app.stop());

const code = async (method: string, path: string, body?: unknown, options?: Sent) => {
  const { status, body: answer } = await app.send(method, path, body, options);
  return `${status} ${String(answer?.code ?? 'done')}`;
};
const poke = (token: string, from?: string) => code('POST', '/v1/state/poke', {}, from === undefined ? { token } : { token, from });
const info = (token: string, from?: string) => code('POST', `${base}/info`, {}, from === undefined ? { token } : { token, from });
async function create(body: Json, token?: string): Promise<{ token: string; accessor: string } & Record<string, unknown>> {
  const answer = await app.send('POST', `${base}/create`, body, token === undefined ? {} : { token });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body as never;
}

test.each([
  ['a token', `${base}/create`, 'policies'],
  ['an approle', '/v1/config/keystore/authentication/approles', 'token-policies'],
  ['a tenant', '/v1/config/tenants', 'policies'],
  ['a policy check', '/v1/state/policy/check', 'policies'],
])('a refusal of unknown policies of %s names them, and no other', async (_of, path, field) => {
  const more = path.endsWith('check')
    ? { path: '/v1/config/tenants', operation: 'read' }
    : path.includes('/config/')
      ? { name: 'unknown' }
      : {};
  const one = await app.send('POST', path, { ...more, [field]: ['user', 'usr'] });
  expect([one.status, one.body?.code]).toEqual([400, 'invalid-value']);
  expect(one.body?.detail).toContain('it names "usr", which does not exist.');
  const many = await app.send('POST', path, { ...more, [field]: ['user', 'a', 'b', 'c', 'd', 'e', 'f'] });
  expect(many.body?.errors).toEqual([
    { 'error-message': 'names "a", "b", "c", "d", "e" and 1 more, which do not exist', 'error-info': field },
  ]);
});

describe('create', () => {
  test('answers the token once, with when it ends and when to renew it', async () => {
    const now = app.clock.now();
    const made = await create({ policies: ['user'], ttl: '90m', 'max-ttl': '2d' });
    expect(made).toEqual({
      token: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'expires-in': 5_400,
      'creation-time': now.toString({ fractionalSecondDigits: 6 }),
      expires: now.add({ minutes: 90 }).toString({ fractionalSecondDigits: 6 }),
      'renewal-time': now.add({ minutes: 60 }).toString({ fractionalSecondDigits: 6 }),
    });
    expect((await app.send('POST', `${base}/info`, {}, { token: made.token })).body).toMatchObject({
      policies: ['user'],
      user: 'root',
      parent: (await app.send('POST', `${base}/info`)).body.accessor,
      'latest-expires': now.add({ hours: 48 }).toString({ fractionalSecondDigits: 6 }),
    });
    expect(app.auditText()).toContain(made.accessor);
    expect(app.auditText()).not.toContain(made.token);
  });

  test('has a day and at most 32 unless told otherwise; a refresh goes on to the longest life and not beyond', async () => {
    expect((await create({}))['expires-in']).toBe(86_400);
    expect((await create({ 'max-ttl': '1h' }))['expires-in']).toBe(3_600);
    expect((await create({ ttl: '60d' }))['expires-in']).toBe(60 * 86_400);
    expect(await code('POST', `${base}/create`, { ttl: '2h', 'max-ttl': '1h' })).toBe('400 invalid-value');
    for (const ttl of ['0s', '', '1w', '-1h', 3_600]) expect(await code('POST', `${base}/create`, { ttl })).toBe('400 invalid-value');
    const { token } = await create({ ttl: '1h', 'max-ttl': '90m' });
    app.clock.advance(3_000);
    expect((await app.send('POST', `${base}/refresh`, {}, { token })).body['expires-in']).toBe(2_400);
  });

  test('takes only policies of the caller; without any, all of them', async () => {
    const maker = (await create({ policies: ['maker', 'rewrap-only'] })).token;
    // Whether there is a policy of a name is not told to who lacks it.
    for (const policies of [['root'], ['user'], ['maker', 'root'], ['Maker'], ['nothing']]) {
      expect(await code('POST', `${base}/create`, { policies }, { token: maker })).toBe('403 policy-denied');
    }
    const child = await create({}, maker);
    expect((await app.send('POST', `${base}/info`, {}, { token: child.token })).body.policies).toEqual(['maker', 'rewrap-only']);
    const weak = await create({ policies: [] }, maker);
    expect(await info(weak.token)).toBe('200 done');
    expect(await code('POST', `${base}/create`, {}, { token: weak.token })).toBe('403 policy-denied');
    expect((await create({ policies: ['default'] }, maker)).token).toBeDefined();
    expect(await code('POST', `${base}/create`, { policies: ['nothing'] })).toBe('400 invalid-value');
  });

  test('is refused by the built-in policies user, default and rewrap-only', async () => {
    for (const policy of ['user', 'default', 'rewrap-only']) {
      const { token } = await create({ policies: [policy] });
      expect(await code('POST', `${base}/create`, {}, { token })).toBe('403 policy-denied');
    }
  });
});

describe('a child', () => {
  test('ends at once with its parent, and with its parent’s time, however long its own is', async () => {
    const parent = await create({ policies: ['root'], ttl: '10s', 'max-ttl': '10s' });
    const child = await create({ policies: ['root'], ttl: '1h' }, parent.token);
    const grandchild = await create({ policies: ['root'], ttl: '1h' }, child.token);
    expect(await poke(grandchild.token)).toBe('204 done');
    app.clock.advance(10);
    expect(await poke(grandchild.token)).toBe('401 invalid-token');
    expect(await poke(child.token)).toBe('401 invalid-token');
    expect(await code('POST', `${base}/info`, { accessor: child.accessor })).toBe('404 not-found');

    const other = await create({ policies: ['root'] });
    const last = await create({ policies: ['root'] }, (await create({ policies: ['root'] }, other.token)).token);
    expect(await code('POST', `${base}/disable`, { accessor: other.accessor })).toBe('204 done');
    expect(await poke(last.token)).toBe('401 invalid-token');
  });

  test('descends from at most 8 others', async () => {
    let { token } = await create({ policies: ['root'] });
    // The root token is the first ancestor of the first.
    for (let generation = 2; generation <= 8; generation++) ({ token } = await create({}, token));
    expect(await poke(token)).toBe('204 done');
    expect(await code('POST', `${base}/create`, {}, { token })).toBe('409 token-lineage-too-long');
  });

  test('of a token that ends while it is made is not made', async () => {
    const parent = await create({ policies: ['root'] });
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => app.send('POST', `${base}/create`, {}, { token: parent.token })),
      app.send('POST', `${base}/disable`, { token: parent.token }, { token: parent.token }),
      ...Array.from({ length: 8 }, () => app.send('POST', `${base}/create`, {}, { token: parent.token })),
    ]);
    const children = answers.flatMap(({ body }) => (body?.token === undefined ? [] : [String(body.token)]));
    expect(await Promise.all(children.map((token) => poke(token)))).toEqual(children.map(() => '401 invalid-token'));
  });
});

describe('bound addresses', () => {
  test('are looked at in every request', async () => {
    const { token } = await create({ policies: ['root'], 'bound-cidrs': ['127.0.0.2', '10.0.0.0/8', '::1'] });
    expect(await poke(token, '127.0.0.2')).toBe('204 done');
    expect(await poke(token, '127.0.0.1')).toBe('401 invalid-token');
    expect(await poke(token, '127.0.0.3')).toBe('401 invalid-token');
    expect((await app.send('POST', `${base}/info`, {}, { token, from: '127.0.0.2' })).body['bound-cidrs']).toEqual([
      '127.0.0.2',
      '10.0.0.0/8',
      '::1',
    ]);
  });

  test('headers that claim another address change nothing', async () => {
    const { token } = await create({ policies: ['root'], 'bound-cidrs': ['127.0.0.2'] });
    for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'client-ip', 'x-client-ip', 'true-client-ip']) {
      const headers = { [header]: header === 'forwarded' ? 'for=127.0.0.2' : '127.0.0.2' };
      expect(await code('POST', '/v1/state/poke', {}, { token, headers })).toBe('401 invalid-token');
    }
  });

  test('of the parent bind the child as well, whatever it asks for', async () => {
    const parent = await create({ policies: ['root'], 'bound-cidrs': ['127.0.0.0/30'] });
    const answer = await app.send('POST', `${base}/create`, { 'bound-cidrs': ['127.0.0.0/8'] }, { token: parent.token });
    const child = String(answer.body.token);
    expect(await poke(child, '127.0.0.2')).toBe('204 done');
    expect(await poke(child, '127.0.0.9')).toBe('401 invalid-token');
  });

  test.each([[['10.1.2.3/8']], [['everywhere']], [['10.0.0.0/33']], ['10.0.0.0/8'], [[10]]])('%j is refused', async (cidrs) => {
    expect(await code('POST', `${base}/create`, { 'bound-cidrs': cidrs })).toBe('400 invalid-value');
  });
});

describe('a clock that is set', () => {
  test('back does not bring an ended token back to life', async () => {
    const { token } = await create({ policies: ['root'], ttl: '1h' });
    app.clock.advance(3_601);
    expect(await poke(token)).toBe('401 invalid-token');
    app.clock.step(-86_400);
    expect(await poke(token)).toBe('401 invalid-token');
    app.clock.step(86_400);
  });

  test('by a little, as clocks are set right, does no harm; root tokens do not look at it', async () => {
    const { token } = await create({ policies: ['root'], ttl: '1h' });
    app.clock.step(-299);
    expect(await poke(token)).toBe('204 done');
    app.clock.step(-2);
    expect(await poke(token)).toBe('401 invalid-token');
    expect(await code('POST', '/v1/state/poke', {})).toBe('204 done');
    app.clock.step(301);
    expect(await poke(token)).toBe('204 done');
  });

  test('back and then refreshed never lengthens a life beyond what was granted', async () => {
    const { token, expires } = await create({ policies: ['root'], ttl: '1h', 'max-ttl': '2h' });
    app.clock.step(-200);
    const refreshed = String((await app.send('POST', `${base}/refresh`, {}, { token })).body.expires);
    expect(Temporal.Instant.from(refreshed).until(String(expires)).total('seconds')).toBeCloseTo(200, 0);
    app.clock.step(200);
  });
});

test('the list is given in parts, without what has ended', async () => {
  const all = (await app.send('GET', '/v1/state/keystore/tokens')).body as { accessor: string }[];
  const some: string[] = [];
  for (let after: string | undefined; ; after = some.at(-1)) {
    const query = `limit=3${after === undefined ? '' : `&after=${after}`}`;
    const part = (await app.send('GET', `/v1/state/keystore/tokens?${query}`)).body as { accessor: string }[];
    if (part.length === 0) break;
    some.push(...part.map(({ accessor }) => accessor));
  }
  expect(some).toEqual(all.map(({ accessor }) => accessor));
  expect(await code('GET', '/v1/state/keystore/tokens?limit=0')).toBe('400 invalid-value');
});
