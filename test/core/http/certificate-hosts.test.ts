// On one port, clients that connect under certain names are asked for their certificate, and others are not.
import type { ServerResponse } from 'node:http';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HelloReader } from '../../../core/http/listener/client-hello.ts';
import { listenHttps, type ListenOptions, type Listener } from '../../../core/http/listener/listeners.ts';
import { clientCertificateOf } from '../../../core/tls/client-certificate.ts';
import { openTls, readAll } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { explicitCurveCertificate, firstMessage, selfSignedIdentity } from '../../harness/tls.ts';
import { makeIdentity } from '../../plugins/ca/pki.ts';

const path = temporaryDirectory();
let [identity, renewed]: { key: string; cert: string }[] = [];
let client: { key: string; cert: string };
let listener: Listener;
let everybody: Listener;
const opened: Listener[] = [];

async function open(certificateHosts: readonly string[], more: Partial<ListenOptions> = {}): Promise<Listener> {
  const handler: ListenOptions['handler'] = (request, response: ServerResponse) => {
    const shown = clientCertificateOf(request.socket);
    response.end(JSON.stringify({ shown: shown !== undefined, method: request.method }));
  };
  const own = identity as { key: string; cert: string };
  const one = await listenHttps({ host: '127.0.0.1', port: 0, identity: own, handler, certificateHosts, ...more });
  opened.push(one);
  return one;
}

beforeAll(async () => {
  identity = selfSignedIdentity(path('.'));
  renewed = selfSignedIdentity(path('.'));
  const { keys, pem } = await makeIdentity({ subject: 'CN=device' });
  client = { key: keys.pem, cert: pem };
  listener = await open(['devices.example', 'other.example']);
  everybody = await open(['*']);
});
afterAll(async () => {
  for (const one of opened) await one.close(0);
});

/** Whether the certificate of the client was seen. */
async function isShown(options: ConnectionOptions, at = listener): Promise<boolean> {
  const socket = await openTls(at.port, { ...client, ...options });
  const answer = readAll(socket);
  socket.write('GET / HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
  const [, body = ''] = (await answer).split('\r\n\r\n');
  return (JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as { shown: boolean }).shown;
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('%s', (maxVersion) => {
  test.each([
    ['devices.example', true],
    ['DEVICES.example', true],
    ['other.example', true],
    ['keystore.example', false],
    ['devices.example.evil', false],
    [undefined, false],
  ])('of a client that connects to %s the certificate is asked for: %s', async (servername, isAsked) => {
    expect(await isShown({ maxVersion, ...(servername === undefined ? {} : { servername }) })).toBe(isAsked);
  });

  test('* asks each client', async () => {
    expect(await isShown({ maxVersion }, everybody)).toBe(true);
    expect(await isShown({ maxVersion, servername: 'any.example' }, everybody)).toBe(true);
  });

  test('a session of one who was not asked is not resumed where certificates are, nor the other way round', async () => {
    const reused = async (session: Buffer | undefined, servername: string) => {
      const sessions: Buffer[] = [];
      const socket = await openTls(listener.port, { ...client, maxVersion, servername, ...(session === undefined ? {} : { session }) });
      socket.on('session', (one: Buffer) => sessions.push(one));
      const answer = readAll(socket);
      const isReused = socket.isSessionReused();
      const first = socket.getSession();
      socket.write('GET / HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
      await answer;
      return { isReused, session: sessions.at(-1) ?? first };
    };
    const plain = await reused(undefined, 'keystore.example');
    expect((await reused(plain.session, 'keystore.example')).isReused).toBe(true);
    expect((await reused(plain.session, 'devices.example')).isReused).toBe(false);
    const asked = await reused(undefined, 'devices.example');
    for (const name of ['devices.example', 'keystore.example']) expect((await reused(asked.session, name)).isReused).toBe(false);
  });

  test('a certificate that would hold OpenSSL is refused before it is read', async () => {
    const cert = `${client.cert}\n${explicitCurveCertificate(path('.'))}`;
    const end = isShown({ maxVersion, servername: 'devices.example', cert }).catch((error: unknown) => String(error));
    expect(await end).toMatch(/bad certificate|ECONNRESET|EPIPE|closed|JSON/);
  });
});

test('a renewed identity is that of both', async () => {
  const own = await open(['devices.example']);
  own.setIdentity(renewed as { key: string; cert: string });
  for (const servername of ['devices.example', 'keystore.example']) {
    const socket = await openTls(own.port, { servername });
    expect(socket.getPeerX509Certificate()?.toString()).toBe(renewed?.cert);
    socket.destroy();
  }
});

test('what is no request is answered as on the rest of the port, and LIST is taken', async () => {
  const own = await open(['devices.example'], { takesList: true });
  const answers = ['devices.example', 'keystore.example'].map(async (servername) => {
    const broken = await openTls(own.port, { servername });
    const refused = readAll(broken);
    broken.write('nothing of HTTP\r\n\r\n');
    const listing = await openTls(own.port, { servername });
    const listed = readAll(listing);
    listing.write('LIST / HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n');
    return [(await refused).split('\r\n')[0], (await listed).split('\r\n')[0]];
  });
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 2 }, () => ['HTTP/1.1 400 Bad Request', 'HTTP/1.1 200 OK']));
});

test('closing ends the idle connections of both, and counts all', async () => {
  const own = await open(['devices.example']);
  const sockets: TLSSocket[] = [];
  for (const servername of ['devices.example', 'keystore.example']) {
    const socket = await openTls(own.port, { servername });
    socket.write('GET / HTTP/1.1\r\nHost: any\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    sockets.push(socket);
  }
  expect([own.connections.counts, own.handshakes]).toMatchObject([{ idle: 2 }, 2]);
  const ends = sockets.map(readAll);
  await own.close(60_000);
  await Promise.all(ends);
});

test('of a first message the name is read in lower case, and of others none', async () => {
  const nameIn = (octets: Buffer): string | undefined => {
    const reader = new HelloReader();
    reader.read(octets);
    return reader.serverName;
  };
  const hello = await firstMessage({ servername: 'Devices.Example' });
  expect(nameIn(hello)).toBe('devices.example');
  expect(nameIn(await firstMessage())).toBeUndefined();
  for (let end = 0; end < hello.length; end += 7) expect([undefined, 'devices.example']).toContain(nameIn(hello.subarray(0, end)));
  const piecewise = new HelloReader();
  for (const octet of hello) piecewise.read(Buffer.of(octet));
  expect(piecewise.serverName).toBe('devices.example');
  // As many octets as it says, and other ones: no fault, whatever is in them.
  for (let at = 5; at < hello.length; at++) nameIn(Buffer.from(hello.with(at, 255)));
});
