// Certificates of TLS clients are judged before OpenSSL decodes their keys and verifies their signatures.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientAddressOf } from '../../../core/http/listener/client-address.ts';
import { listenHttps, type Listener } from '../../../core/http/listener/listeners.ts';
import { ask } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { firstMessage, selfSignedIdentity } from '../../harness/tls.ts';
import { type Identity, type KeyName, makeIdentity } from '../../plugins/ca/pki.ts';

const path = temporaryDirectory();
const said: unknown[] = [];
let listener: Listener;

beforeAll(async () => {
  const log = { debug() {}, info() {}, warn: (_text: string, more: unknown) => void said.push(more), error() {}, with: () => log };
  listener = await listenHttps({
    ...{ host: '127.0.0.1', port: 0, identity: selfSignedIdentity(path('.')), log },
    tls: { requestCert: true, rejectUnauthorized: false },
    handler(request, response) {
      let seen = 0;
      for (let one = (request.socket as TLSSocket).getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) seen++;
      const from = clientAddressOf(request);
      request.resume().once('end', () => response.end(JSON.stringify({ seen, from })));
    },
  });
});
afterAll(() => listener.close(0));

const versions = ['TLSv1.2', 'TLSv1.3'] as const;
/** The first has a share and is not taken: HelloRetryRequest, and a ChangeCipherSpec of the client before the secret is known. */
const retried = 'X448:X25519';
/** each as its version, and its groups */
const ways = [['TLSv1.2'], ['TLSv1.3'], ['TLSv1.3', retried]] as const;

/** A device's certificate and so many above it, the device's first. */
async function chainOf(length: number, key: KeyName): Promise<readonly Identity[]> {
  let issuer = await makeIdentity({ key, subject: 'CN=0', ca: true });
  const chain: Identity[] = [];
  for (let number = 1; number <= length; number++)
    chain.unshift((issuer = await makeIdentity({ key, subject: `CN=${number}`, issuer, ca: number < length })));
  return chain;
}

function sentBy(chain: readonly { readonly pem: string }[], key: string) {
  return { key, cert: chain.map(({ pem }) => `${pem}\n`).join('') };
}

/** The certificates that the server saw, or why there was no answer. */
async function seenOf(client: { key: string; cert: string } | undefined, [maxVersion, ecdhCurve]: (typeof ways)[number], body?: Buffer) {
  try {
    const { body: answer } = await ask(listener.url, '/', {
      client,
      maxVersion,
      ecdhCurve,
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    const { seen, from } = JSON.parse(answer as string) as { seen: number; from: string };
    expect(from).toBe('127.0.0.1');
    return seen;
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(ways.map((way) => [way.join(' '), way] as const))('%s', (_name, version) => {
  test.each(['P-256', 'RSA-3072', 'Ed25519'] as const)('a device with seven certificates above its own is served: %s', async (key) => {
    const chain = await chainOf(8, key);
    expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), version)).toBe(8);
  });

  test('one more is refused, whatever their size, and said', async () => {
    const chain = await chainOf(9, 'P-256');
    said.length = 0;
    expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), version)).toMatch(/bad certificate/);
    const many = [...chain, ...Array.from({ length: 90 }, () => chain[1] as Identity)];
    expect(await seenOf(sentBy(many, chain[0]?.keys.pem ?? ''), version)).toMatch(/bad certificate|ECONNRESET|EPIPE/);
  });

  test('a curve that is written out is refused as that of the client and above it', async () => {
    const [device] = await chainOf(1, 'P-256');
    const [key, certificate] = [join(path('.'), 'explicit-key.pem'), join(path('.'), 'explicit.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'];
    execFileSync('openssl', ['req', '-x509', '-nodes', ...curve, '-subj', '/CN=0', '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const pem = readFileSync(certificate, 'utf8');
    expect(await seenOf(sentBy([device as Identity, { pem }], device?.keys.pem ?? ''), version)).toMatch(/bad certificate/);
  });

  test('who sends none is served, with a body of any size', async () => {
    expect(await seenOf(undefined, version)).toBe(0);
    expect(await seenOf(undefined, version, randomBytes(300_000))).toBe(0);
  });
});

test('the largest chain of ML-DSA is served', async () => {
  const chain = await chainOf(5, 'ML-DSA-87');
  expect(await seenOf(sentBy(chain, chain[0]?.keys.pem ?? ''), ['TLSv1.3'])).toBe(5);
});

/** A connection of the usual client, whose octets `change` gets before they are sent: each write, with its number. */
async function changed(version: (typeof versions)[number], change: (octets: Buffer, number: number) => Buffer | readonly Buffer[]) {
  const chain = await chainOf(9, 'P-256');
  const socket = connect(listener.port, '127.0.0.1');
  let writes = 0;
  const between = new Duplex({
    read() {},
    write(octets: Buffer, _encoding, done) {
      const pieces = [change(octets, writes++)].flat();
      void (async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await setTimeout(pieces.length > 1 ? 2 : 0);
        }
      })();
      done();
    },
  });
  socket.setNoDelay().on('error', () => undefined);
  socket.on('data', (octets) => between.push(octets)).on('close', () => between.push(null));
  const secured = connectTls({
    ...{ socket: between, rejectUnauthorized: false, maxVersion: version, minVersion: version },
    ...sentBy(chain, chain[0]?.keys.pem ?? ''),
  });
  secured.on('error', () => undefined);
  let answer = '';
  secured.on('data', (octets: Buffer) => (answer += octets.toString()));
  secured.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  // A reset is an end too.
  await new Promise((closed) => socket.once('close', closed));
  secured.destroy();
  return answer;
}

const changeCipherSpec = Buffer.from([20, 3, 3, 0, 1, 1]);
const emptyHandshake = Buffer.from([22, 3, 3, 0, 0]);
const warning = Buffer.from([21, 3, 3, 0, 2, 1, 90]);
const noData = Buffer.concat([Buffer.from([23, 3, 3, 0, 32]), Buffer.alloc(32)]);
const plainCertificate = Buffer.from([22, 3, 3, 0, 7, 11, 0, 0, 3, 0, 0, 0]);
const plainFinished = Buffer.from([22, 3, 3, 0, 4, 20, 0, 0, 0]);

describe.each(versions)('a chain that is refused stays so in %s', (version) => {
  test.each([
    ['unchanged', Buffer.alloc(0)],
    ['a ChangeCipherSpec', changeCipherSpec],
    ['many of them', Buffer.concat(Array.from({ length: 20 }, () => changeCipherSpec))],
    ['an empty record', emptyHandshake],
    ['an alert', warning],
    ['early data', noData],
    ['a certificate in clear', plainCertificate],
    ['a Finished in clear', plainFinished],
  ])('with %s behind the ClientHello, and before the certificate', async (_name, octets) => {
    expect(await changed(version, (sent, number) => (number === 0 ? Buffer.concat([sent, octets]) : sent))).toBe('');
    expect(await changed(version, (sent, number) => (number === 1 ? Buffer.concat([octets, sent]) : sent))).toBe('');
  });

  test('with the ClientHello twice', async () => {
    expect(await changed(version, (sent, number) => (number === 0 ? Buffer.concat([sent, sent]) : sent))).toBe('');
  });

  test('in records of few octets, and in packets of one', async () => {
    const inParts = (sent: Buffer): Buffer => {
      const parts: Buffer[] = [];
      for (let at = 5; at < sent.length; at += 40) {
        const part = sent.subarray(at, at + 40);
        parts.push(Buffer.from([22, 3, 1, 0, part.length]), part);
      }
      return Buffer.concat(parts);
    };
    expect(await changed(version, (sent, number) => (number === 0 ? inParts(sent) : sent))).toBe('');
    expect(await changed(version, (sent, number) => (number === 0 ? [...sent].map((octet) => Buffer.from([octet])) : sent))).toBe('');
  });
});

test('half messages of one address take half of a room, which is free again when they are gone', async () => {
  const half = Buffer.concat([Buffer.from([11, 0, 0xf0, 0]), Buffer.alloc(60_000)]);
  const records: Buffer[] = [];
  for (let at = 0; at < half.length; at += 10_000) {
    const part = half.subarray(at, at + 10_000);
    records.push(Buffer.from([22, 3, 3, part.length >> 8, part.length & 255]), part);
  }
  const octets = Buffer.concat(records);
  const hello = await firstMessage({ maxVersion: 'TLSv1.2' });
  const send = (localAddress: string, onClose: () => void): Socket => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    socket.on('close', onClose).once('data', () => socket.resume().write(octets));
    socket.write(hello);
    return socket;
  };
  const hold = async (): Promise<number> => {
    let closed = 0;
    const sockets = Array.from({ length: 100 }, () => send('127.0.0.1', () => closed++));
    // Each holds its 60 KiB as they came and as they are read, but for 32 KiB.
    await expect.poll(() => closed, { timeout: 20_000 }).toBeGreaterThan(50);
    await setTimeout(500);
    const early = closed;
    let isRefused = false;
    const other = send('127.0.0.2', () => (isRefused = true));
    await setTimeout(500);
    expect(isRefused).toBe(false);
    for (const socket of [...sockets, other]) socket.destroy();
    await setTimeout(200);
    return early;
  };
  const first = await hold();
  expect(first).toBeLessThan(65);
  expect(await hold()).toBe(first);
  expect(await seenOf(undefined, ['TLSv1.3'])).toBe(0);
});

test('the ClientHello of SSL 2.0, whose header has another length, is not answered', async () => {
  const socket = connect(listener.port, '127.0.0.1').on('error', () => undefined);
  const suites = Buffer.from([0, 0xc0, 0x2f, 0, 0xc0, 0x30, 0, 0xc0, 0x2b]);
  const hello = Buffer.concat([Buffer.from([1, 3, 3, 0, suites.length, 0, 0, 0, 32]), suites, randomBytes(32)]);
  let answered = 0;
  socket.on('data', (octets) => (answered += octets.length));
  socket.write(Buffer.concat([Buffer.from([0x80, hello.length]), hello, Buffer.alloc(800)]));
  await new Promise((closed) => socket.once('close', closed));
  expect(answered).toBe(0);
});

test('no second handshake on an open connection of TLS 1.2 brings a chain that was not looked at', async () => {
  const socket = connectTls({ port: listener.port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  const outcome = await new Promise<unknown>((resolve) => {
    socket.on('error', resolve).on('close', () => resolve('closed'));
    socket.renegotiate({ rejectUnauthorized: false }, (error) => resolve(error ?? 'done'));
  });
  expect(String(outcome)).toMatch(/no.renegotiation|closed/i);
  socket.destroy();
});

test.each(versions)('a session that is resumed is served, with a body of any size: %s', async (version) => {
  const chain = await chainOf(2, 'P-256');
  const options = { port: listener.port, rejectUnauthorized: false, maxVersion: version, ...sentBy(chain, chain[0]?.keys.pem ?? '') };
  const get = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const first = connectTls(options).on('error', () => undefined);
  const session = once(first, 'session');
  first.resume().write(get);
  const [ticket] = (await session) as [Buffer];
  const again = connectTls({ ...options, session: ticket });
  let answer = '';
  again.on('data', (octets: Buffer) => (answer += octets.toString()));
  again.write(`POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 300000\r\n\r\n${'a'.repeat(300_000)}`);
  await once(again, 'end');
  expect(again.isSessionReused()).toBe(true);
  expect(answer).toMatch(/^HTTP\/1.1 200/);
});
