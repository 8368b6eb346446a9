// Behind proxies: the address of a client is the one that a trusted proxy names, and nobody else is believed.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import type { Log } from '../../../core/base/context.ts';
import type { Proxies } from '../../../core/config/proxies.ts';
import { clientAddressOf } from '../../../core/http/listener/client-address.ts';
import { listenHttps, type Listener } from '../../../core/http/listener/listeners.ts';
import { ask, readAll } from '../../harness/client.ts';
import { silentLog } from '../../harness/log.ts';
import { proxyHeader } from '../../harness/proxy.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const identity = selfSignedIdentity(temporaryDirectory()('.'));
const open: Listener[] = [];
const said: string[] = [];
afterEach(async () => {
  said.length = 0;
  await Promise.all(open.splice(0).map((listener) => listener.close(0)));
});

const answerAddress = (request: IncomingMessage, response: ServerResponse): void => void response.end(clientAddressOf(request));

async function listen(proxies: Partial<Proxies>): Promise<Listener> {
  const log: Log = { ...silentLog, warn: (message: string, fields = {}) => void said.push(`${message} ${JSON.stringify(fields)}`) };
  const all: Proxies = { proxyProtocol: [], forwarded: [], forwardedHeader: 'x-forwarded-for', ...proxies };
  const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity, handler: answerAddress, proxies: all, log });
  open.push(listener);
  return listener;
}
/** What is answered to a request on a connection that begins so, in these pieces; what the connection ended with without one. */
async function answerBehind({ port }: Listener, ...pieces: readonly Buffer[]): Promise<string> {
  const tcp = connectTcp(port, '127.0.0.1');
  await once(tcp, 'connect');
  for (const piece of pieces.slice(0, -1)) {
    tcp.setNoDelay(true).write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The last piece goes out with the first octets of the handshake.
  tcp.cork();
  tcp.write(pieces.at(-1) ?? Buffer.alloc(0));
  const tls = connectTls({ socket: tcp, ca: identity.cert, servername: 'localhost' });
  setImmediate(() => tcp.uncork());
  tls.on('error', () => undefined);
  tls.once('secureConnect', () => tls.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'));
  return (await readAll(tls)).split('\r\n\r\n')[1] ?? 'closed';
}

describe('the PROXY protocol', () => {
  test.each([
    ['TCP over IPv4', '192.0.2.7'],
    ['TCP over IPv6', '2001:db8::7'],
    ['an IPv4 address as one of IPv6', '::ffff:192.0.2.7'],
  ])('of a trusted proxy names the client: %s', async (_, client) => {
    const listener = await listen({ proxyProtocol: ['127.0.0.1'] });
    expect(await answerBehind(listener, proxyHeader(client))).toBe(client.replace('::ffff:', ''));
  });

  test('may come in pieces, and with fields behind the addresses', async () => {
    const listener = await listen({ proxyProtocol: ['127.0.0.0/8'] });
    const header = proxyHeader('192.0.2.7', { more: Buffer.alloc(40_000, 4) });
    expect(await answerBehind(listener, ...[...header.subarray(0, 40)].map((octet) => Buffer.of(octet)), header.subarray(40))).toBe(
      '192.0.2.7',
    );
    expect(await answerBehind(listener, header, Buffer.alloc(0))).toBe('192.0.2.7');
  });

  test('of a connection that the proxy makes for itself names nobody', async () => {
    const listener = await listen({ proxyProtocol: ['127.0.0.1'] });
    expect(await answerBehind(listener, proxyHeader('192.0.2.7', { command: 0 }))).toBe('127.0.0.1');
  });

  test('is refused from anybody else', async () => {
    for (const proxies of [{}, { proxyProtocol: ['192.0.2.0/24'] }, { forwarded: ['127.0.0.1'] }]) {
      const listener = await listen(proxies);
      expect(await answerBehind(listener, proxyHeader('192.0.2.7')), JSON.stringify(proxies)).toBe('closed');
      expect(await answerBehind(listener, Buffer.alloc(0))).toBe('127.0.0.1');
    }
  });

  test.each([
    ['nothing before the handshake', Buffer.alloc(0)],
    ['version 1', Buffer.from('PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n')],
    ['another version', proxyHeader('192.0.2.7', { version: 3 })],
    ['an unknown command', proxyHeader('192.0.2.7', { command: 2 })],
    ['no family', proxyHeader('192.0.2.7', { family: 0 })],
    ['UDP', proxyHeader('192.0.2.7', { family: 0x12 })],
    ['a Unix socket', proxyHeader('192.0.2.7', { family: 0x31 })],
    ['IPv6 in the octets of IPv4', proxyHeader('192.0.2.7', { family: 0x21 })],
  ])('a trusted proxy is refused with %s, and the log says why', async (_, header) => {
    const listener = await listen({ proxyProtocol: ['127.0.0.1'] });
    expect(await answerBehind(listener, header)).toBe('closed');
    expect(said).toEqual([expect.stringContaining('"proxy":"127.0.0.1"')]);
    expect(await answerBehind(listener, header)).toBe('closed');
    expect(said).toHaveLength(1);
  });

  test('a listener closes although a proxy has sent nothing yet', async () => {
    const listener = await listen({ proxyProtocol: ['127.0.0.1'] });
    const tcp = connectTcp(listener.port, '127.0.0.1');
    await once(tcp, 'connect');
    const ended = readAll(tcp);
    await answerBehind(listener, proxyHeader('192.0.2.7'));
    await listener.close(0);
    expect(await ended).toBe('');
  });
});

describe('a header of a request', () => {
  const addressFor = async (proxies: Partial<Proxies>, headers: Record<string, string | readonly string[]>): Promise<string> => {
    const listener = await listen(proxies);
    return (await ask(listener.url, '/', { ca: identity.cert, headers })).text;
  };

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    // What the client claims is before what the proxy has seen.
    ['203.0.113.9, 192.0.2.7', '192.0.2.7'],
    ['203.0.113.9, 192.0.2.7, 10.1.0.5', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    // Whatever is before a word that is no address may be anybody's.
    ['192.0.2.7, unknown', '127.0.0.1'],
    ['192.0.2.7, unknown, 10.1.0.5', '10.1.0.5'],
    ['10.1.0.6, 10.1.0.5', '10.1.0.6'],
    ['', '127.0.0.1'],
  ])('of a proxy that ends TLS names the client: X-Forwarded-For: %s', async (value, client) => {
    expect(await addressFor({ forwarded: ['127.0.0.1', '10.1.0.0/16'] }, { 'x-forwarded-for': value })).toBe(client);
  });

  test.each([
    ['for=192.0.2.7', '192.0.2.7'],
    ['for=203.0.113.9, For="192.0.2.7:80";proto=https;by=10.1.0.5', '192.0.2.7'],
    ['proto=https; for="[2001:db8::7]:4711"', '2001:db8::7'],
    ['for=192.0.2.7, for=_hidden', '127.0.0.1'],
    ['for=192.0.2.7, proto=https', '127.0.0.1'],
  ])('Forwarded (RFC 7239) as well: %s', async (value, client) => {
    expect(await addressFor({ forwarded: ['127.0.0.1'], forwardedHeader: 'forwarded' }, { forwarded: value })).toBe(client);
  });

  test('in several lines is one', async () => {
    expect(await addressFor({ forwarded: ['127.0.0.1'] }, { 'x-forwarded-for': ['203.0.113.9', '192.0.2.7'] })).toBe('192.0.2.7');
  });

  test('is not looked at from anybody else, nor is the other one', async () => {
    const both = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7' };
    expect(await addressFor({}, both)).toBe('127.0.0.1');
    expect(await addressFor({ forwarded: ['192.0.2.0/24'] }, both)).toBe('127.0.0.1');
    expect(await addressFor({ forwarded: ['127.0.0.1'] }, { forwarded: 'for=192.0.2.7' })).toBe('127.0.0.1');
    expect(await addressFor({ forwarded: ['127.0.0.1'], forwardedHeader: 'forwarded' }, { 'x-forwarded-for': '192.0.2.7' })).toBe(
      '127.0.0.1',
    );
  });

  test('is not looked at behind a proxy that passes TLS on: its client has sent it', async () => {
    const listener = await listen({ proxyProtocol: ['127.0.0.1'], forwarded: ['127.0.0.1'] });
    const tcp = connectTcp(listener.port, '127.0.0.1');
    tcp.write(proxyHeader('192.0.2.7'));
    const tls = connectTls({ socket: tcp, ca: identity.cert, servername: 'localhost' });
    tls.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 203.0.113.9\r\nconnection: close\r\n\r\n');
    expect(await readAll(tls)).toMatch(/192\.0\.2\.7$/);
  });
});
