// Where providers may be: the address of the connection decides, whatever the name.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../core/base/time.ts';
import { configSchema } from '../../../plugins/oidc/config.ts';
import { openDestinations, type OwnListeners, ownListenersOf, type Rules } from '../../../core/outbound/destinations.ts';
import { openOutbound } from '../../../core/outbound/outbound.ts';
import { OutboundError } from '../../../core/outbound/outbound-error.ts';

let server: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

const own: OwnListeners = { ports: [4646, 4665], publicUrl: 'https://keys.test:4646' };
const nothing: Rules = { allow: [], deny: [] };

/** A status, or the kind of the OutboundError. */
async function ask(url: string, rules: Partial<Rules> = {}, ours = own): Promise<number | string> {
  const trust = { useRootCaCerts: true, caCerts: undefined };
  const destinations = openDestinations({ ...nothing, ...rules }, ours);
  try {
    return (await openOutbound({ trust, destinations, allowHttpLoopback: true, clock: systemClock }).fetch(url)).status;
  } catch (error) {
    if (error instanceof OutboundError) return error.kind;
    throw error;
  }
}

/** The address to connect to for a name that resolves to this address: the resolver returns addresses unchanged. */
function connectedTo(address: string, rules: Partial<Rules> = {}, ours = own, url = 'https://rebinding.test/'): Promise<string> {
  const { lookup } = openDestinations({ ...nothing, ...rules }, ours).wayTo(new URL(url));
  return new Promise((resolve) => {
    lookup(address, { all: true }, (error, found) => resolve(error === null ? JSON.stringify(found) : (error as OutboundError).kind));
  });
}

test.each([
  'https://169.254.169.254/latest/meta-data',
  'https://0251.0376.0251.0376/',
  'https://2852039166/',
  'https://[fe80::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:a9fe:a9fe::]/',
  'https://[::a9fe:a9fe]/',
  'https://[fd00:ec2::254]/',
  'https://100.100.100.200/',
  'https://0.0.0.0/',
  'https://[::]/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://keys.test:4646/',
  'https://127.0.0.1:4646/',
  'https://127.1.2.3:4665/',
  'https://[::1]:4665/',
])('%s is not called', async (url) => {
  expect(await ask(url)).toBe('forbidden-address');
});

test.each(['169.254.169.254', 'fe80::1', '::ffff:169.254.1.1', '64:ff9b::a9fe:a9fe', '0.0.0.0', '::'])(
  'a name that resolves to %s leads nowhere',
  async (address) => {
    expect(await connectedTo(address)).toBe('forbidden-address');
  },
);

test('a name that resolves to a listener of this appliance is refused, for each of its addresses', async () => {
  const held = Object.values(networkInterfaces()).flatMap((one) => (one ?? []).map(({ address }) => address));
  for (const address of ['127.0.0.1', '::1', ...held])
    expect(await connectedTo(address, {}, own, 'https://x.test:4646/')).toBe('forbidden-address');
});

test('private networks and loopback are allowed, because providers are there', async () => {
  expect(await ask(`http://127.0.0.1:${port}/`)).toBe(200);
  expect(await ask(`http://localhost:${port}/`)).toBe(200);
  for (const address of ['10.1.2.3', '192.168.1.1', '172.16.0.1', 'fd12::1', '127.0.0.1', '::1'])
    expect(await connectedTo(address)).toContain(address);
});

test('deny refuses addresses, ranges and names, and wins over allow', async () => {
  const before = connections;
  for (const deny of [
    ['127.0.0.0/8', '::1'],
    ['localhost', '127.0.0.1'],
  ]) {
    expect(await ask(`http://127.0.0.1:${port}/`, { deny })).toBe('forbidden-address');
    expect(await ask(`http://localhost:${port}/`, { deny, allow: ['localhost'] })).toBe('forbidden-address');
  }
  expect(connections).toBe(before);
  for (const name of ['idp.corp.test', 'a.b.corp.test', 'IDP.corp.test', 'idp.corp.test.'])
    expect(await ask(`https://${name}/`, { deny: ['*.corp.test'] })).toBe('forbidden-address');
  expect(await connectedTo('10.0.0.1', { deny: ['*.corp.test'] }, own, 'https://corp.test/')).toContain('10.0.0.1');
});

test('with entries in allow nothing else is called; a range can allow what is otherwise forbidden, a name cannot', async () => {
  expect(await ask(`http://127.0.0.1:${port}/`, { allow: ['10.0.0.0/8'] })).toBe('forbidden-address');
  expect(await ask(`http://127.0.0.1:${port}/`, { allow: ['127.0.0.1'] })).toBe(200);
  expect(await ask(`http://localhost:${port}/`, { allow: ['localhost'] })).toBe(200);
  const way = (address: string, allow: readonly string[]) => connectedTo(address, { allow }, own, 'https://idp.corp.test/');
  expect(await way('10.0.0.1', ['*.corp.test'])).toContain('10.0.0.1');
  expect(await way('10.0.0.1', ['other.test'])).toBe('forbidden-address');
  expect(await way('169.254.3.4', ['169.254.3.0/24'])).toContain('169.254.3.4');
  expect(await way('169.254.3.4', ['idp.corp.test'])).toBe('forbidden-address');
});

test('the configuration accepts only addresses, ranges and names', () => {
  const read = (deny: string) => configSchema.safeParse({ providerHosts: { deny: [deny] } }).success;
  for (const right of ['10.0.0.0/8', '::1', 'idp.example', '*.corp.example']) expect([right, read(right)]).toEqual([right, true]);
  for (const wrong of ['10.0.0.1/8', 'https://idp.example', 'a b', '', '*', 'idp.example:443', '*.'])
    expect([wrong, read(wrong)]).toEqual([wrong, false]);
});

test('the appliance itself is not called under its name with a dot at the end, nor at a port that a plugin opens', async () => {
  const ours = ownListenersOf({ management: { port: 4646 }, managementUrl: 'https://keys.test:4646', pluginPorts: [5696] });
  expect(await ask('https://keys.test.:4646/', {}, ours)).toBe('forbidden-address');
  expect(await connectedTo('127.0.0.1', {}, ours, 'https://x.test:5696/')).toBe('forbidden-address');
});
