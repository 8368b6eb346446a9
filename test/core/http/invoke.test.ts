// A request of another protocol takes the way of a request over HTTP: decided, counted, recorded and answered alike.
import { type Arbitrary, array, assert, asyncProperty, constantFrom, integer, oneof, option, record } from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Invoked } from '../../../core/http/context/direct-exchange.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { type CoreApp, startCoreApp } from '../../harness/core-app.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { things } from '../../harness/things.ts';

type Twin = { readonly app: CoreApp; readonly counted: Answered[]; readonly narrow: string };

const at = temporaryDirectory();
let overHttp: Twin;
let direct: Twin;

beforeAll(async () => {
  overHttp = await startTwin('http');
  direct = await startTwin('direct');
});
afterAll(async () => {
  await overHttp.app.stop();
  await direct.app.stop();
});

/** Two appliances with the same history: what one request changes is changed on both. */
async function startTwin(name: string): Promise<Twin> {
  const counted: Answered[] = [];
  const app = await startCoreApp({ directory: at(name), plugin: things, onAnswered: (answered) => void counted.push(answered) });
  await app.send('POST', '/v1/config/policy/policies', {
    name: 'narrow',
    'rest-api': {
      rules: [
        { path: '/v1/config/things/*', operations: { read: 'allow', update: 'allow' }, 'hide-fields': ['color'] },
        { path: '/v1/state/things/*/seal-up', operations: { execute: 'allow' }, 'allowed-values': { 'key-version': [1, 2] } },
        { path: '/v1/state/poke', operations: { execute: 'allow' } },
      ],
    },
  });
  const { body } = await app.send('POST', '/v1/state/keystore/token/create', { policies: ['narrow'], ttl: '1h' });
  expect(body.token).toMatch(/^[0-9a-f-]{36}$/);
  counted.length = 0;
  return { app, counted, narrow: body.token };
}

type Asked = {
  readonly method: string;
  readonly target: string;
  readonly token: 'root' | 'narrow' | 'wrong' | 'none';
  readonly body: string | undefined;
  readonly contentType: string | undefined;
  readonly ifMatch: string | undefined;
};

type Outcome = {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly requestId: string;
};

const headersOf = ({ contentType, ifMatch }: Asked): Record<string, string> => ({
  ...(contentType === undefined ? {} : { 'content-type': contentType }),
  ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  'user-agent': 'twin',
});
const tokenOf = ({ app, narrow }: Twin, { token }: Asked): string | null =>
  ({ root: app.rootToken, narrow, wrong: '00000000-0000-4000-8000-000000000000', none: null })[token];

async function askOverHttp(twin: Twin, asked: Asked): Promise<Outcome> {
  const answer = await twin.app.send(asked.method, asked.target, asked.body, { token: tokenOf(twin, asked), headers: headersOf(asked) });
  return { status: answer.status, text: answer.text, headers: answer.headers, requestId: String(answer.headers['request-id']) };
}

async function askDirectly(twin: Twin, asked: Asked): Promise<Outcome> {
  const token = tokenOf(twin, asked);
  const invoked = await twin.app.app.invoke({
    via: 'another',
    method: asked.method,
    target: asked.target,
    headers: {
      ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headersOf(asked),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(asked.body === undefined ? {} : { body: Buffer.from(asked.body) }),
    clientIp: '127.0.0.1',
  });
  return { status: invoked.status, text: await textOf(invoked), headers: invoked.headers ?? {}, requestId: invoked.requestId };
}

async function textOf({ body }: Invoked): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  return body instanceof Uint8Array ? Buffer.from(body).toString() : (await Array.fromAsync(body, String)).join('');
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Without what differs between two appliances. */
const plain = (text: string): string => text.replaceAll(uuid, 'uuid').replaceAll(/"serial":"[0-9a-f]{8}"/g, '"serial":"s"');

/** The records of a twin by the id of their request, without what differs between two appliances and between two moments. */
function recordsOf({ app }: Twin): ReadonlyMap<string, string> {
  const lines = app
    .auditText()
    .split('\n')
    .filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const {
        sequence: _s,
        previous: _p,
        hash: _h,
        'request-time-ms': _t,
        via: _v,
        ...record
      } = JSON.parse(line) as Record<string, unknown>;
      return [String(record['request-id']), plain(JSON.stringify(record))];
    }),
  );
}

/** The ids of the two requests. */
async function askBoth(asked: Asked): Promise<readonly [string, string]> {
  const one = await askOverHttp(overHttp, asked);
  const other = await askDirectly(direct, asked);
  expect([other.status, plain(other.text)], JSON.stringify(asked)).toEqual([one.status, plain(one.text)]);
  const count = ({ counted }: Twin) => counted.map(({ method, route, status }) => [method, route, status]);
  expect(count(direct).at(-1)).toEqual(count(overHttp).at(-1));
  expect(direct.counted.length).toBe(overHttp.counted.length);
  return [one.requestId, other.requestId];
}

const name = constantFrom('one', 'two', 'three', 'no-such', '%00', 'a%2fb', '..');
const target = oneof(
  name.map((it) => `/v1/config/things/${it}`),
  name.map((it) => `/v1/state/things/${it}/seal-up`),
  name.map((it) => `/v1/config/things/${it}/parts/p`),
  constantFrom(
    '/v1/config/things',
    '/v1/config/things?keys=true',
    '/v1/config/things?limit=1&limit=2',
    '/v1/state/poke',
    '/v1/state/stream?count=2',
  ),
  constantFrom('/v1/state/misbehave', '/v1/state/system/health', '/v1/nothing', '/', '/v1/config/things/one?validate=true', '*'),
);
const document = oneof(
  record({ name: constantFrom('two', 'three') }, { requiredKeys: ['name'] }),
  record(
    { color: constantFrom('red', 'blue', 'mauve'), tags: array(constantFrom('kept', 'broken', 'x'), { maxLength: 3 }) },
    { requiredKeys: [] },
  ),
  record({ payload: constantFrom('AP8=', '?', ''), 'key-version': integer({ min: 0, max: 4 }) }, { requiredKeys: ['payload'] }),
  record({ how: constantFrom('throw', 'reject', 'hsm-down', 'tampered', 'odd') }),
  record({ size: integer({ min: -1, max: 101 }) }),
);
const asked: Arbitrary<Asked> = record({
  method: constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'),
  target,
  token: constantFrom('root', 'root', 'narrow', 'narrow', 'wrong', 'none'),
  body: option(
    oneof(
      document.map((it) => JSON.stringify(it)),
      constantFrom('', '{', '[]', '{"a":1,"a":2}', `{"payload":"${'A'.repeat(80_000)}"}`),
    ),
    {
      nil: undefined,
    },
  ),
  contentType: constantFrom(undefined, undefined, undefined, 'text/plain', 'application/merge-patch+json'),
  ifMatch: constantFrom(undefined, undefined, undefined, '*', '"x"'),
});

test('thousands of random requests are decided, counted and recorded as over HTTP', { timeout: 120_000 }, async () => {
  const pairs: (readonly [string, string])[] = [];
  const both = asyncProperty(asked, async (it) => void pairs.push(await askBoth(it)));
  await assert(both, { numRuns: 3_000, endOnFailure: true });
  const [one, other] = [recordsOf(overHttp), recordsOf(direct)];
  for (const [id, otherId] of pairs) expect(other.get(otherId)).toBe(one.get(id));
  expect(pairs.filter(([id]) => one.has(id)).length).toBeGreaterThan(1_000);
});

describe('a call without a socket', () => {
  const call = (more: object) =>
    direct.app.app.invoke({
      ...{ via: 'another', method: 'POST', target: '/v1/state/things/one/seal-up', clientIp: '192.0.2.7' },
      headers: { authorization: `Bearer ${direct.app.rootToken}`, 'content-type': 'application/json' },
      ...more,
    });

  test('is recorded with its protocol, and with the address of its caller', async () => {
    await direct.app.send('PUT', '/v1/config/things/one', {});
    const { requestId } = await call({ body: Buffer.from('{"payload":"AP8="}') });
    const line = direct.app
      .auditText()
      .split('\n')
      .find((one) => one.includes(requestId));
    expect(JSON.parse(line ?? '')).toMatchObject({ via: 'another', 'client-ip': '192.0.2.7', method: 'POST', status: 200 });
  });

  test('has the limit of bodies', async () => {
    const { status } = await call({ body: Buffer.alloc(5 * 1024 * 1024, 0x20) });
    expect(status).toBe(413);
  });

  test('an answer that goes on is read in pieces, and ends when nobody reads it', async () => {
    const ended = new AbortController();
    const { body } = await call({ method: 'GET', target: '/v1/state/stream?count=1000000', signal: ended.signal });
    const seen: string[] = [];
    for await (const piece of body as AsyncIterable<string>) {
      seen.push(piece);
      if (seen.length === 2) ended.abort();
    }
    expect(seen.length).toBeLessThan(4);
  });

  test('one that nobody waits for rejects', async () => {
    await expect(call({ signal: AbortSignal.abort() })).rejects.toThrow('without an answer');
  });
});
