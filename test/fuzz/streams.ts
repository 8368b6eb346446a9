// Raw streams of octets at both ports, drawn from a seed: requests that are changed before they are sent over TLS, handshakes that are
// changed, and noise. Nobody has a credential. Each connection has to end, and nothing may be different afterwards.
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { expect } from 'vitest';
import { openTls } from '../harness/client.ts';
import { startDaemon } from '../harness/daemon.ts';
import { Dice } from './cases.ts';
import { lastingProcesses, memoryOf } from './fuzz.ts';
import { drawInput, type Material } from './parsers/mutations.ts';

/** Streams by what the first answer was: its status, `closed` without one. */
export type StreamReport = Readonly<Record<string, number>>;

const inFlight = 128;
const maxGrowthMib = 200;
/** On a busy machine; a connection that outlives it hangs. */
const patienceMs = 60_000;
/** After so long without an answer the sender has nothing more to say; before that, the end would cut off the answer. */
const quietMs = 200;
/** Handshakes and noise instead of changed requests. */
const shareBelowTls = 0.15;
const shareOfEst = 0.4;

/** Sends so many streams to a daemon of its own. A failure names the seed and the stream. */
export async function sendStreams(directory: string, streams: number, seed: number): Promise<StreamReport> {
  const daemon = await startDaemon({ directory, workers: 2 });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'witness' });
  const stateOf = async (): Promise<unknown> =>
    Promise.all(
      ['tenants', 'keystore/transit-keys', 'policy/policies', 'keystore/tls/ca'].map((path) => daemon.request('GET', `/v1/config/${path}`)),
    );
  const [before, processes, dice] = [await stateOf(), lastingProcesses(daemon), new Dice(seed)];
  const ports = await Promise.all([portOf(daemon.url), portOf(daemon.estUrl)]);
  const hello = await captureHello();
  const report: Record<string, number> = {};
  let left = streams;
  let baseline = 0;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const [port, material] = dice.chance(shareOfEst) ? [ports[1], estRequests] : [ports[0], apiRequests];
      const isBelowTls = dice.chance(shareBelowTls);
      const octets = isBelowTls ? drawHandshake(dice, hello) : drawInput(dice, material);
      const text = await send(port, octets, isBelowTls).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}: ${octets.subarray(0, 4096).toString('base64')}`);
      });
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 'closed';
      if (/(?:^|\n)HTTP\/1\.[01] 5\d\d/.test(text))
        throw new Error(`seed ${seed}: a server error: ${octets.toString('base64')} → ${text.slice(0, 500)}`);
      report[status] = (report[status] ?? 0) + 1;
      if (left === Math.floor(streams / 2)) baseline = memoryOf(daemon);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, lane));
    expect(lastingProcesses(daemon)).toEqual(processes);
    expect(memoryOf(daemon) - baseline).toBeLessThan(maxGrowthMib);
    expect(await stateOf()).toEqual(before);
    expect((await daemon.exchange('GET', '/v1/state/system/health')).status).toBe(200);
  } finally {
    await daemon.stop();
  }
  return report;
}

type Port = { readonly port: number; readonly session: Buffer };

/** A port with a session to go on with, which spares most handshakes. */
async function portOf(url: string): Promise<Port> {
  const port = Number(new URL(url).port);
  const socket = await openTls(port);
  const session = await new Promise<Buffer>((resolve) =>
    socket.once('session', resolve).write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'),
  );
  socket.destroy();
  return { port, session };
}

/** Everything that was received until the connection ended, the first part of it at least. Rejects when it does not end. */
function send({ port, session }: Port, octets: Buffer, isBelowTls: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    let quiet: NodeJS.Timeout | undefined;
    const waitQuietly = (): void => {
      clearTimeout(quiet);
      quiet = setTimeout(() => socket.end(), quietMs);
    };
    const begin = (): void => {
      socket.write(octets);
      waitQuietly();
    };
    const socket: Socket = isBelowTls
      ? connectTcp({ host: '127.0.0.1', port }, begin)
      : connectTls({ host: '127.0.0.1', port, session, rejectUnauthorized: false, secureContext }, begin);
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`a connection did not end within ${patienceMs} ms`));
    }, patienceMs);
    socket.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('latin1')).slice(0, 100_000);
      waitQuietly();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const timer of [late, quiet]) clearTimeout(timer);
      resolve(text);
    });
  });
}

const secureContext = createSecureContext();

/** The first message of a TLS client, as octets. */
function captureHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (octets) => {
        socket.destroy();
        server.close();
        resolve(Buffer.from(octets));
      });
    }).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }).on('error', () => undefined);
    });
  });
}

function drawHandshake(dice: Dice, hello: Buffer): Buffer {
  if (dice.chance(0.2)) return Buffer.from(Array.from({ length: dice.below(2_000) }, () => dice.below(256)));
  return drawInput(dice, { samples: [hello, Buffer.concat([hello, hello]), Buffer.from('GET / HTTP/1.1\r\n\r\n')], words: [] });
}

/** What changes the meaning of a request in HTTP/1.1 (RFC 9112). */
const words = [
  ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', ';', '%', '%00', '%2f', '..', '//', '?', '#', '@', '\u0080', 'ÿ'],
  ...['content-length: 5\r\n', 'content-length: 05\r\n', 'content-length: -1\r\n', 'content-length: 18446744073709551616\r\n'],
  ...['transfer-encoding: chunked\r\n', 'transfer-encoding: identity\r\n', 'transfer-encoding: chunked, chunked\r\n', 'te: trailers\r\n'],
  ...['0\r\n\r\n', '5\r\nabcde\r\n', 'ffffffffffffffff\r\n', '1;a="\r\n', 'expect: 100-continue\r\n', 'connection: upgrade\r\n'],
  ...['upgrade: h2c\r\n', 'host: elsewhere\r\n', ' folded\r\n', 'authorization: Bearer x\r\n', 'authorization: Basic eDp5\r\n'],
  ...[
    'HTTP/1.0',
    'HTTP/2.0',
    'HTTP/0.9',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT localhost:22 HTTP/1.1\r\n',
    'OPTIONS * HTTP/1.1\r\n',
  ],
];

const apiRequests = requestsOf([
  ['GET', '/v1/config/tenants'],
  ['GET', '/v1/state/system/health'],
  ['GET', '/v1/config/keystore/transit-keys?limit=5&after=a'],
  ['POST', '/v1/approle-login', '{"role-id":"a","secret-id":"b"}'],
  ['POST', '/v1/config/keystore/transit-keys', '{"name":"stolen"}'],
  ['PUT', '/v1/config/policy/policies/p', '{"rest-api":{"rules":[]}}'],
  ['DELETE', '/v1/config/keystore/transit-keys/witness'],
  ['GET', '/ui/'],
]);
const estRequests = requestsOf([
  ['GET', '/.well-known/est/cacerts'],
  ['GET', '/.well-known/est/label/csrattrs'],
  ['POST', '/.well-known/est/simpleenroll', 'MIIBATCBqAIBADAAMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE'],
  ['POST', '/.well-known/est/simplereenroll', 'AAAA'],
  ['POST', '/.well-known/est/serverkeygen', ''],
]);

/** Each request by itself, with its length and in chunks, and all of them on one connection. */
function requestsOf(rows: readonly (readonly [method: string, path: string, body?: string])[]): Material {
  const samples = rows.flatMap(([method, path, body]) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n`;
    if (body === undefined) return [`${head}\r\n`];
    const chunked = `${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    return [
      `${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      body === '' ? `${head}\r\n` : chunked,
    ];
  });
  return { samples: [...samples, samples.join('')].map((text) => Buffer.from(text, 'latin1')), words };
}
