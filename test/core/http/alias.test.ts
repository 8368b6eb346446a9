// A route of a foreign API stands for an endpoint: translated, and otherwise the same request.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fail } from '../../../core/base/errors.ts';
import type { Alias } from '../../../core/http/alias.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { buildRoutes } from '../../../core/http/routes.ts';
import { type CoreApp, startCoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

const at = temporaryDirectory();
const counted: Answered[] = [];
let app: CoreApp;
let narrow: string;

const foreign = (more: Pick<Alias, 'method' | 'path' | 'of'> & Partial<Alias>): Alias => ({
  via: 'foreign',
  credentials: ({ 'x-foreign-token': token }) => (typeof token === 'string' ? `Bearer ${token}` : undefined),
  target: ({ params }) => ({ params: { name: params['thing'] ?? '' } }),
  answer: ({ status, document }) => ({ status, mediaType: 'application/json', body: JSON.stringify({ data: document ?? null }) }),
  refusal: ({ status, message }) => ({ status, mediaType: 'application/json', body: JSON.stringify({ errors: [message] }) }),
  ...more,
});
const aliases = [
  foreign({
    method: 'PUT',
    path: '/v1/foreign/seal/{thing}',
    of: 'POST /v1/state/things/{name}/seal-up',
    input: ({ text, version }) => ({ payload: text ?? null, ...(version === undefined ? {} : { 'key-version': Number(version) }) }),
    target({ params: { thing = '' } }) {
      if (thing === 'reserved') throw fail('invalid-value', { detail: 'This name is reserved.' });
      return { params: { name: thing } };
    },
  }),
  foreign({ method: 'GET', path: '/v1/foreign/things/{thing}', of: 'GET /v1/config/things/{name}' }),
  foreign({
    method: 'GET',
    path: '/v1/foreign/things',
    of: 'GET /v1/config/things',
    target: () => ({ params: {}, query: { keys: 'true' } }),
  }),
];

beforeAll(async () => {
  app = await startCoreApp({
    directory: at('alias'),
    plugin: (parts) => ({ ...things(parts), aliases }),
    onAnswered: (answered) => void counted.push(answered),
  });
  await app.send('POST', '/v1/config/things', { name: 'one' });
  await app.send('POST', '/v1/config/policy/policies', {
    name: 'narrow',
    'rest-api': {
      rules: [
        { path: '/v1/state/things/one/seal-up', operations: { execute: 'allow' }, 'allowed-values': { 'key-version': [1] } },
        { path: '/v1/config/things/*', operations: { read: 'allow' }, 'hide-fields': ['color'] },
      ],
    },
  });
  narrow = (await app.send('POST', '/v1/state/keystore/token/create', { policies: ['narrow'], ttl: '1h' })).body.token;
  expect(narrow).toMatch(/^[0-9a-f-]{36}$/);
});
afterAll(() => app.stop());

const ask = (method: string, path: string, body?: unknown, token: string | null = app.rootToken) =>
  app.send(method, `/v1/foreign/${path}`, body, { token: null, headers: token === null ? {} : { 'x-foreign-token': token } });
const lastRecord = (): Record<string, unknown> => JSON.parse(app.auditText().trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;

test('is answered in the foreign form, and recorded and counted as the endpoint', async () => {
  const answer = await ask('PUT', 'seal/one', { text: 'AP8=', version: '2' });
  expect([answer.status, answer.body]).toEqual([
    200,
    { data: { payload: 'AP8=', 'key-version': 2, 'sealed-at': '2026-01-01T00:00:00.000000Z' } },
  ]);
  expect(lastRecord()).toMatchObject({
    ...{ via: 'foreign', method: 'POST', path: '/v1/state/things/one/seal-up', user: 'root', 'key-version': 2 },
    'request-id': answer.headers['request-id'],
    'request-parameters': { payload: { bytes: 2 } },
  });
  expect(counted.at(-1)).toMatchObject({ method: 'POST', route: '/v1/state/things/{name}/seal-up', status: 200 });
});

test.each([
  ['a wrong token', 'seal/one', { text: 'AP8=' }, 'wrong', 401],
  ['no token', 'seal/one', { text: 'AP8=' }, null, 401],
  ['a value that the policies do not allow', 'seal/one', { text: 'AP8=', version: 2 }, 'narrow', 403],
  ['an entry that the policies do not allow', 'seal/two', { text: 'AP8=' }, 'narrow', 403],
  ['an unknown entry', 'seal/two', { text: 'AP8=' }, 'root', 404],
  ['a value that is none', 'seal/one', { text: '?' }, 'root', 400],
  ['a value that is missing', 'seal/one', {}, 'root', 400],
  ['no JSON', 'seal/one', '{', 'root', 400],
  ['a name that the translation refuses', 'seal/reserved', { text: 'AP8=' }, 'root', 400],
  ['a large body', 'seal/one', { text: 'A'.repeat(5_000_000) }, 'root', 413],
])('%s is refused in the foreign form, as at the endpoint', async (_, path, body, who, status) => {
  const token = who === 'root' ? app.rootToken : who === 'narrow' ? narrow : who;
  const answer = await ask('PUT', path, body, token);
  expect([answer.status, Object.keys(answer.body)]).toEqual([status, ['errors']]);
});

test('our own token header means nothing there, and no precondition does', async () => {
  const { status } = await app.send('PUT', '/v1/foreign/seal/one', { text: 'AP8=' });
  expect(status).toBe(401);
  const { status: read } = await app.send('GET', '/v1/foreign/things/one', undefined, {
    headers: { 'x-foreign-token': app.rootToken, 'if-match': '"other"', 'if-none-match': '*' },
  });
  expect(read).toBe(200);
});

test('a body needs no media type, and none is read where the endpoint takes none', async () => {
  const sent = await app.send('PUT', '/v1/foreign/seal/one', '{"text":"AP8="}', {
    headers: { 'x-foreign-token': app.rootToken, 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(sent.status).toBe(200);
  expect((await ask('GET', 'things/one', { any: 'thing' })).status).toBe(200);
});

test('hidden fields stay hidden, and a list takes its query from the translation', async () => {
  const { body } = await ask('GET', 'things/one', undefined, narrow);
  expect(body.data).toMatchObject({ name: 'one' });
  expect(body.data).not.toHaveProperty('color');
  expect((await ask('GET', 'things')).body).toEqual({ data: ['one'] });
});

test('a name of the foreign path is one segment of the path', async () => {
  for (const name of ['a%2fb', '%2e%2e', '..%2fone']) expect((await ask('PUT', `seal/${name}`, { text: 'AP8=' })).status).toBe(404);
});

test('a large text is not taken out of a foreign document', async () => {
  const payload = Buffer.alloc(400_000, 7).toString('base64');
  const { body } = await ask('PUT', 'seal/one', { text: payload });
  expect(body.data.payload).toBe(payload);
});

test('one that stands for no endpoint stops the start', () => {
  expect(() => buildRoutes([], [foreign({ method: 'GET', path: '/x', of: 'GET /v1/nothing' })])).toThrow('which is not an endpoint');
});
