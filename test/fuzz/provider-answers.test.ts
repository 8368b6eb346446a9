// Malformed answers of a provider or a directory: every call ends with an answer or an OutboundError, and the process goes on.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/base/time.ts';
import { readCertificates } from '../../plugins/oidc/provider/certificate-chain.ts';
import { openDestinations } from '../../core/outbound/destinations.ts';
import { openOutbound } from '../../core/outbound/outbound.ts';
import { OutboundError } from '../../core/outbound/outbound-error.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { Dice } from './cases.ts';

const path = temporaryDirectory();
const destinations = openDestinations({ allow: [], deny: [] }, { ports: [], publicUrl: 'https://keys.test' });
let answer = Buffer.alloc(0);
let provider: Server;

beforeAll(async () => {
  provider = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  await listening(provider);
});
afterAll(() => provider.close());

const listening = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A status, or the kind of OutboundError; anything else is thrown on. */
async function ask(octets: string | Buffer): Promise<number | string> {
  answer = Buffer.from(octets as string, 'latin1');
  const trust = { useRootCaCerts: true, caCerts: undefined };
  const outbound = openOutbound({ trust, destinations, allowHttpLoopback: true, clock: systemClock, callSeconds: 30, totalSeconds: 60 });
  try {
    const response = await outbound.fetch(`http://127.0.0.1:${portOf(provider)}/`);
    await response.text();
    return response.status;
  } catch (error) {
    if (error instanceof OutboundError) return error.kind;
    throw error;
  }
}

describe('an answer no server should give ends the call and nothing else', () => {
  test.each<[string, number | string]>([
    ['HTTP/1.1 600 X\r\ncontent-length: 2\r\n\r\n{}', 'malformed'],
    ['HTTP/1.1 999 X\r\ncontent-length: 2\r\n\r\n{}', 'malformed'],
    ['HTTP/1.1 101 X\r\ncontent-length: 2\r\n\r\n{}', 'malformed'],
    ['HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nabc', 'malformed'],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'unreachable'],
    ['HTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}', 200],
    ['HTTP/1.1 000 X\r\n\r\n', 'malformed'],
    ['HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n', 'malformed'],
    ['HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\nabcde', 204],
    ['HTTP/1.1 304 No\r\n\r\n', 304],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'unreachable'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd', 'malformed'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'unreachable'],
    ['HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n', 'malformed'],
    ['HTTP/1.1 200 OK\r\nx: \xff\xfe\r\ncontent-length: 0\r\n\r\n', 200],
    ['SSH-2.0-OpenSSH\r\n', 'malformed'],
    ['', 'unreachable'],
  ])('%j', async (octets, expected) => {
    expect(await ask(octets)).toBe(expected);
  });

  test('a header that does not end', async () => {
    expect(await ask(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`)).toBe('malformed');
  });

  test('3,000 mutations of valid answers, drawn from a seed', async () => {
    const right = [
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{"issuer":"x"}\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n2\r\n{}\r\n0\r\nx: y\r\n\r\n',
      'HTTP/1.0 302 Found\r\nlocation: http://127.0.0.1/\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n\r\n',
    ];
    const dice = new Dice(Number(process.env['FUZZ_SEED'] ?? 7));
    for (let count = 0; count < 3_000; count += 1) {
      const octets = Buffer.from(right[count % right.length] as string, 'latin1');
      for (let changes = 1 + dice.below(4); changes > 0; changes -= 1) octets[dice.below(octets.length)] = dice.below(256);
      const outcome = await ask(octets.subarray(0, dice.below(4) === 0 ? dice.below(octets.length) : octets.length));
      expect(outcome).toSatisfy((one: number | string) => typeof one === 'string' || (one >= 200 && one <= 599));
    }
  });
});

test('a certificate with an invalid time is not described, and the process goes on', async () => {
  const { key, cert } = selfSignedIdentity(path());
  const der = Buffer.from(new X509Certificate(cert).raw);
  // The second UTCTime (tag 0x17, 13 octets) is the end.
  const [, end = -1] = [...der.keys()].filter((at) => der[at] === 0x17 && der[at + 1] === 13);
  der.write('99zz99zz99zzZ', end + 2, 'latin1');
  const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  const server = createTlsServer({ key, cert: pem }, (socket) => socket.on('error', () => undefined));
  await listening(server);
  expect(await readCertificates(new URL(`https://127.0.0.1:${portOf(server)}/`), destinations)).toEqual([]);
  server.close();
});
