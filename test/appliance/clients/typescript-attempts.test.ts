// The TypeScript client when servers refuse, hang and answer strangely: addresses, retries, time limits.
import { afterEach, describe, expect, test } from 'vitest';
import { Client, ConnectionError, Problem, TimeLimitError, type ClientOptions } from '../../../dist/clients/typescript/src/index.ts';
import { nodeTransport } from '../../../dist/clients/typescript/src/transport/node.ts';
import { freePort } from '../../harness/daemon.ts';
import { type FakeServer, json, problem, startFakeServer } from './fake-server.ts';

const servers: FakeServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function fake(...parameters: Parameters<typeof startFakeServer>): Promise<FakeServer> {
  const server = await startFakeServer(...parameters);
  servers.push(server);
  return server;
}

function clientOf(address: ClientOptions['address'], options: Partial<ClientOptions> = {}): Client {
  return new Client({ address, ...options });
}

const transports = { fetch: undefined, 'node:https': nodeTransport({ ca: '', connectTimeoutMs: 2_000 }) };

describe.each(Object.entries(transports))('through %s', (_, transport) => {
  const options = transport === undefined ? {} : { transport };

  test('an address that refuses and one that is sealed are passed over, and the one that answers is kept', async () => {
    const sealed = await fake(() => problem(503, 'sealed', { 'retry-after': '5' }));
    const well = await fake(() => json([]));
    const client = clientOf([`http://127.0.0.1:${await freePort()}`, sealed.url, well.url], options);
    await client.transitKeys.list();
    await client.transitKeys.list();
    expect({ sealed: sealed.asked.length, well: well.asked.length }).toEqual({ sealed: 1, well: 2 });
  });

  test('a connection that is cut: what may be repeated is, what may not is not', async () => {
    const server = await fake((index) => (index === 0 ? 'cut' : json([])));
    const client = clientOf(server.url, options);
    expect(await client.transitKeys.list()).toEqual([]);

    const cutting = await fake(() => 'cut');
    const error: unknown = await clientOf(cutting.url, options)
      .transitKeys.rotate('orders')
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    expect({ mayHaveRun: (error as ConnectionError).mayHaveRun, asked: cutting.asked.length }).toEqual({ mayHaveRun: true, asked: 1 });
  });

  test('the time limit ends a call that hangs, and says why it waited', async () => {
    const server = await fake(() => 'hang');
    const client = clientOf(server.url, { ...options, timeoutMs: 150 });
    await expect(client.transitKeys.list()).rejects.toBeInstanceOf(TimeLimitError);
    await expect(client.transitKeys.list({ timeoutMs: 50 })).rejects.toThrow('50 ms');
  });

  test('the caller ends a call with its own reason', async () => {
    const server = await fake(() => 'hang');
    const controller = new AbortController();
    const call = clientOf(server.url, options).transitKeys.list({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(clientOf(server.url, options).transitKeys.list({ signal: controller.signal })).rejects.toThrow('enough');
  });
});

test.each([
  ['429', 429, { 'retry-after': '1' }],
  ['503 with Retry-After', 503, { 'retry-after': '1' }],
])('%s: waits as long as asked, also for what changes something', async (_, status, headers) => {
  const server = await fake((index) => (index === 0 ? problem(status, 'busy', headers) : { status: 204 }));
  const started = performance.now();
  await clientOf(server.url).transitKeys.rotate('orders');
  expect(performance.now() - started).toBeGreaterThanOrEqual(1_000);
  expect(server.asked).toHaveLength(2);
});

test('503 without Retry-After is repeated only where that does no harm', async () => {
  const server = await fake(() => problem(503, 'odd'));
  await expect(clientOf(server.url).transitKeys.rotate('orders')).rejects.toMatchObject({ code: 'odd' });
  expect(server.asked).toHaveLength(1);
  await expect(clientOf(server.url, { retries: 2 }).transitKeys.list()).rejects.toMatchObject({ code: 'odd' });
  expect(server.asked).toHaveLength(4);
});

test('a Retry-After that is too long, or longer than the time limit, is not waited for', async () => {
  const server = await fake(() => problem(503, 'sealed', { 'retry-after': '3600' }));
  await expect(clientOf(server.url).transitKeys.list()).rejects.toMatchObject({ code: 'sealed', retryAfterSeconds: 3_600 });
  const patient = clientOf(server.url, { mostRetryAfterMs: Infinity, timeoutMs: 500 });
  await expect(patient.transitKeys.list()).rejects.toMatchObject({ code: 'sealed' });
  expect(server.asked).toHaveLength(2);
});

test('a refusal is not repeated', async () => {
  const server = await fake(() => problem(500, 'internal-error'));
  await expect(clientOf(server.url).transitKeys.list()).rejects.toMatchObject({ status: 500, requestId: 'r-1' });
  expect(server.asked).toHaveLength(1);
});

test.each([
  ['a page of a proxy', { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' }, 502],
  ['a page in place of a document', { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Sign in' }, 200],
  ['broken JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '[{' }, 200],
  ['a redirection', { status: 302, headers: { location: 'https://elsewhere.example/' }, body: '' }, 302],
])('%s is an unexpected answer', async (_, said, status) => {
  const server = await fake(() => said);
  const error: unknown = await clientOf(server.url, { retries: 0 })
    .transitKeys.list()
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Problem);
  expect(error).toMatchObject({ status, code: 'unexpected-answer' });
});

test('no address answers: the error names each with its reason', async () => {
  const port = await freePort();
  const client = clientOf([`http://127.0.0.1:${port}`, `http://localhost:${port}`], { retries: 1 });
  const error: unknown = await client.transitKeys.rotate('orders').catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ConnectionError);
  const { message, mayHaveRun, failures } = error as ConnectionError;
  expect(message).toContain(`127.0.0.1:${port}`);
  expect({ mayHaveRun, failures: failures.length }).toEqual({ mayHaveRun: false, failures: 2 });
});

test.each([
  ['since', [1, 1, 2, 2, 3, 3]],
  ['before', [3, 3, 2, 2, 1, 1]],
])('the links of a topic are followed by %s, in the order of time', async (direction, order) => {
  const server = await fake((index) => {
    const link = `</v1/state/topics/system:logs?who=ada&${direction}=t${index + 1}>; rel="next"`;
    const headers = { 'content-type': 'application/x-ndjson', ...(index < 2 ? { link } : {}) };
    return { status: 200, headers, body: `{"part":${index + 1}}\n`.repeat(2) };
  });
  const documents = await Array.fromAsync(clientOf(server.url).topics.show('system:logs'));
  expect(documents).toEqual(order.map((part) => ({ part })));
  expect(server.asked.map(({ path }) => path).slice(1)).toEqual(
    [1, 2].map((part) => `/v1/state/topics/system:logs?who=ada&${direction}=t${part}`),
  );
});

test('the pages of a list are read one after the other, by the Link header', async () => {
  const server = await fake((index, { path }) => {
    const headers = {
      'content-type': 'application/json',
      link: '<?after=b&limit=2>; rel="prev", </v1/state/keystore/transit-keys?after=b&limit=2>; rel="next"',
    };
    return index === 0 ? { status: 200, headers, body: '[{"name":"a"},{"name":"b"}]' } : json([{ name: path }]);
  });
  const names = (await Array.fromAsync(clientOf(server.url).transitKeys.listEach({ limit: 2 }))).map(({ name }) => name);
  expect(names).toEqual(['a', 'b', '/v1/state/keystore/transit-keys?after=b&limit=2']);
});

test('every request says which library sends it', async () => {
  const server = await fake(() => json([]));
  await clientOf(server.url, { userAgent: 'billing/2.1' }).transitKeys.list();
  expect(server.asked[0]?.headers['user-agent']).toMatch(/^billing\/2\.1 keystored-client-typescript\/\d+\.\d+\.\d+$/);
});
