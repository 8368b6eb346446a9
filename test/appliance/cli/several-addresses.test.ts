// keystorectl with the addresses of several appliances: it goes on with the next one where that does no harm, and nowhere else.
import { mkdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { ctlFor, type Ctl } from './run.ts';
import { startWholeAppliance } from './whole-appliance.ts';

const path = temporaryDirectory();
const keys = 'transit-keys';
let appliance: TestAppliance;
let ctl: Ctl;
/** an appliance that is asked first, and does not serve */
let first: Server;
let firstUrl: string;
/** methods of what it was asked */
const asked: string[] = [];
let answer: (response: ServerResponse) => void;

const refuse =
  (headers: Readonly<Record<string, string>>) =>
  (response: ServerResponse): void => {
    response.writeHead(503, { 'content-type': 'application/problem+json', ...headers });
    response.end(JSON.stringify({ title: 'Unavailable', status: 503, code: 'cluster-unavailable' }));
  };
const nothingDone = refuse({ 'retry-after': '1' });
const maybeDone = refuse({});
const hangUp = (response: ServerResponse): void => void response.socket?.destroy();

beforeAll(async () => {
  for (const name of ['appliance', 'home', 'other']) mkdirSync(path(name));
  appliance = await startWholeAppliance(path('appliance'));
  const identity = ['key', 'cert'].map((part) => [part, readFileSync(path('appliance', `tls-${part}.pem`), 'utf8')] as const);
  first = createServer(Object.fromEntries(identity), (request, response) => {
    asked.push(request.method ?? '');
    request.resume().on('end', () => answer(response));
  });
  firstUrl = await urlOf(first);
  const url = `${firstUrl},${appliance.url}`;
  ctl = ctlFor({ url, rootToken: appliance.rootToken }, readFileSync(path('appliance', 'tls-cert.pem'), 'utf8'), path('home'));
});
beforeEach(() => {
  asked.length = 0;
});
afterAll(async () => {
  first.close();
  await appliance.close();
});

async function urlOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const exists = async (name: string): Promise<boolean> =>
  (await appliance.request('GET', `/v1/config/keystore/${keys}/${name}`)).status === 200;

test('where nobody listens, everything goes on with the next', async () => {
  const closed = createServer();
  const url = await urlOf(closed);
  closed.close();
  const environment = { KEYSTORED_URL: `${url}, ${appliance.url}` };
  expect(await ctl(['create', keys, 'nobody-listens'], { environment })).toMatchObject({ code: 0, stderr: '' });
  expect(await exists('nobody-listens')).toBe(true);
});

describe('an appliance that says that nothing was done', () => {
  test.each(['create', 'delete'])('%s goes on with the next', async (verb) => {
    answer = nothingDone;
    if (verb === 'delete') await ctl(['merge', keys, 'refused-first', '--deletion-allowed']);
    expect(await ctl([verb, keys, 'refused-first'])).toMatchObject({ code: 0, stderr: '' });
    expect(asked).toContain(verb === 'create' ? 'POST' : 'DELETE');
    expect(await exists('refused-first')).toBe(verb === 'create');
  });
});

describe.each([
  ['refuses and may have done it', () => maybeDone],
  ['ends the connection', () => hangUp],
])('an appliance that %s', (_, way) => {
  test('what changes something is not sent again', async () => {
    answer = way();
    expect((await ctl(['create', keys, 'sent-once'])).code).toBe(6);
    expect(asked.filter((method) => method === 'POST')).toHaveLength(1);
    expect(await exists('sent-once')).toBe(false);
  });

  test('what may be repeated is', async () => {
    await appliance.request('POST', `/v1/config/keystore/${keys}`, { name: 'repeated' });
    answer = way();
    expect(await ctl.json('show', keys, 'repeated')).toMatchObject({ name: 'repeated' });
    expect(asked).toContain('GET');
    expect(await ctl.json('do', keys, 'repeated', 'encrypt', '--plaintext', 'aGVsbG8=')).toHaveProperty('ciphertext');
    expect(asked).toContain('POST');
  });
});

test('when none serves, the last one says why', async () => {
  answer = nothingDone;
  const closed = createServer();
  const url = await urlOf(closed);
  closed.close();
  const run = await ctl(['show', keys, 'none'], { environment: { KEYSTORED_URL: `${firstUrl},${url}` } });
  expect(run).toMatchObject({ code: 6, stderr: expect.stringContaining(`${url} does not answer`) });
});

test('one that cannot be trusted ends it: the others may be the wrong ones, too', async () => {
  const { key, cert } = selfSignedIdentity(path('other'));
  const other = createServer({ key, cert });
  const url = await urlOf(other);
  try {
    const run = await ctl(['show', keys, 'none'], { environment: { KEYSTORED_URL: `${url},${appliance.url}` } });
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining(`the certificate of ${url} is not trusted`) });
  } finally {
    other.close();
  }
});

test('a context keeps them all', async () => {
  await ctl(['context', 'set', 'plant', '--url', 'a.example:4646, https://b.example:4646']);
  expect(await ctl.json('context', 'show', 'plant')).toMatchObject({ url: 'https://a.example:4646,https://b.example:4646' });
  expect(await ctl(['context', 'set', 'plant', '--url', 'https://a.example,,'])).toMatchObject({ code: 1 });
});
