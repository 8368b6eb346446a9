// Outbound calls to providers: R33, R34, and the errors of failed calls.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../core/base/time.ts';
import { openDestinations } from '../../../core/outbound/destinations.ts';
import { isLoopback, openOutbound, type OutboundOptions } from '../../../core/outbound/outbound.ts';
import { OutboundError } from '../../../core/outbound/outbound-error.ts';

const seen: IncomingMessage['headers'][] = [];
const server = createServer((request, response) => {
  seen.push(request.headers);
  answers[new URL(request.url ?? '', 'http://x').pathname]?.(response);
});
const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/fine': (response) => response.writeHead(200, { 'content-type': 'application/json', 'x-two': ['a', 'b'] }).end('{}'),
  '/moved': (response) => response.writeHead(302, { location: '/fine' }).end(),
  '/empty': (response) => response.writeHead(204).end(),
  '/silent': () => undefined,
  '/halting': (response) => response.writeHead(200).write('{'),
  '/large': (response) => response.end('x'.repeat(2_000)),
};
const anywhere = openDestinations({ allow: [], deny: [] }, { ports: [], publicUrl: 'https://keys.test' });
let origin = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const open = (options: Partial<OutboundOptions> = {}) =>
  openOutbound({
    trust: { useRootCaCerts: true, caCerts: undefined },
    allowHttpLoopback: true,
    destinations: anywhere,
    clock: systemClock,
    ...options,
  });

async function failureOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  return error instanceof OutboundError ? error.kind : String(error);
}

test('answers are complete, with every header line', async () => {
  const outbound = open();
  const response = await outbound.fetch(`${origin}/fine?secret=1`);
  expect([response.status, await response.json(), response.headers.get('x-two')]).toEqual([200, {}, 'a, b']);
  expect(outbound.calls).toEqual([{ method: 'GET', url: `${origin}/fine`, status: 200, ms: expect.any(Number) }]);
  expect(seen.at(-1)).toMatchObject({ 'accept-encoding': 'identity' });
  expect((await outbound.fetch(`${origin}/empty`)).status).toBe(204);
});

test('R33: a redirect is returned and not followed', async () => {
  expect((await open().fetch(`${origin}/moved`)).status).toBe(302);
});

describe('R34: limits', () => {
  test('of one call', async () => expect(await failureOf(open({ callSeconds: 0.1 }).fetch(`${origin}/silent`))).toBe('timeout'));
  test('of one call, whose end nobody else is blamed for', async () => {
    for (const path of ['/silent', '/halting']) {
      const error: unknown = await open({ callSeconds: 0.2 })
        .fetch(`${origin}${path}`)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: 'timeout', systemCode: undefined });
    }
  });
  test('of all calls together, from the start of the first', async () => {
    const outbound = open({ totalSeconds: 2, callSeconds: 1_000 });
    await setTimeout(2_100);
    expect((await outbound.fetch(`${origin}/fine`)).status).toBe(200);
    expect(await failureOf(outbound.fetch(`${origin}/silent`))).toBe('timeout');
    expect(await failureOf(outbound.fetch(`${origin}/fine`))).toBe('timeout');
  });
  test('of the enclosing Outbound', async () => {
    const outer = open({ totalSeconds: 1 });
    const inner = open({ totalSeconds: 1_000, callSeconds: 1_000, within: outer });
    expect(await failureOf(inner.fetch(`${origin}/silent`))).toBe('timeout');
  });
  test('of size', async () => {
    expect(await failureOf(open({ maxBytes: 1_999 }).fetch(`${origin}/large`))).toBe('too-large');
    expect((await open({ maxBytes: 2_000 }).fetch(`${origin}/large`)).status).toBe(200);
  });
});

test.each(['http://idp.example/', 'https://a:b@idp.example/', 'ftp://127.0.0.1/', 'file:///etc/passwd'])(
  '%s is not called',
  async (url) => {
    expect(await failureOf(open().fetch(url))).toBe('forbidden-url');
  },
);

test('loopback hosts are called over http only if that is allowed', async () => {
  expect(await failureOf(open({ allowHttpLoopback: false }).fetch(`${origin}/fine`))).toBe('forbidden-url');
});

test('a closed port is unreachable', async () => {
  expect(await failureOf(open().fetch('http://127.0.0.1:9/'))).toBe('unreachable');
});

test.each<[string, boolean]>([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.255.0.1', true],
  ['[::1]', true],
  ['127.0.0.1.example', false],
  ['128.0.0.1', false],
  ['localhost.example', false],
])('%s is a loopback host: %s', (host, is) => expect(isLoopback(host)).toBe(is));
