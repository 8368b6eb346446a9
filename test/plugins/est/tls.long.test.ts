// TLS of the EST listener (requirements R11 to R19), and what must never end the process.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type Socket, connect as connectTcp } from 'node:net';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { openTls } from '../../harness/client.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { basic } from './client.ts';
import { type EstAppliance, openEst, secret, startEstAppliance } from './est-appliance.ts';
import { opensslClient } from './openssl.ts';
import { type Identity, makeDeviceCsr, makeIdentity, makeKeys, x509 } from '../ca/pki.ts';

let appliance: EstAppliance;
let ca: string;
let csr: Buffer;
let host: { host: string; port: number };

beforeAll(async () => {
  appliance = await startEstAppliance();
  const vendor = await makeIdentity({ subject: 'CN=Vendor', ca: true });
  const trusted = await appliance.makeCa({ 'ca-cert': vendor.pem });
  ca = await appliance.makeCa({ est: { ...openEst, 'initial-enroll-trust-ca': trusted } });
  csr = await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test');
  const url = new URL(appliance.est);
  host = { host: url.hostname, port: Number(url.port) };
});

function handshake(options: ConnectionOptions): Promise<TLSSocket> {
  return openTls(host.port, { host: host.host, ca: appliance.caPem, ...options });
}

const isAlive = async (): Promise<boolean> => (await appliance.call(ca, 'cacerts')).status === 200;

describe('handshake', () => {
  test('R11: TLS 1.2 and 1.3 and nothing older; no renegotiation', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    await expect(handshake({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).rejects.toThrow(
      /alert|version|ECONN/i,
    );
    const socket = await handshake({ maxVersion: 'TLSv1.2' });
    const outcome = await new Promise<string>((done) => {
      socket.on('error', () => done('refused'));
      socket.on('close', () => done('refused'));
      const started = socket.renegotiate({}, (error) => done(error === null ? 'renegotiated' : 'refused'));
      if (started === false) done('refused');
    });
    socket.destroy();
    expect(outcome).toBe('refused');
  });

  test('R12: a client certificate is asked for and any passes the handshake: foreign, expired, not yet valid, self-signed, without usage', async () => {
    const day = 86_400_000;
    const clients = [
      await makeIdentity(),
      await makeIdentity({ notBefore: new Date(Date.now() - 2 * day), notAfter: new Date(Date.now() - day) }),
      await makeIdentity({ notBefore: new Date(Date.now() + day), notAfter: new Date(Date.now() + 2 * day) }),
      await makeIdentity({ ca: true }),
      await makeIdentity({ extensions: [new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.3'])] }),
      await makeIdentity({ key: 'Ed25519' }),
      await makeIdentity({ key: 'ML-DSA-65' }),
    ];
    for (const client of clients) {
      expect((await appliance.call(ca, 'cacerts', { client })).status).toBe(200);
      expect((await appliance.enrol(ca, 'simpleenroll', csr, { client })).status).toBe(401);
    }
  });

  test('R12: a certificate on each curve that devices may have passes the handshake, in either version', async () => {
    for (const key of ['P-256', 'P-384', 'P-521'] as const) {
      const client = await makeIdentity({ key });
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
        expect((await appliance.call(ca, 'cacerts', { client, maxVersion })).status, `${key} ${maxVersion}`).toBe(200);
    }
  });

  test('R13: the request for a certificate names no CAs', async () => {
    const { output } = await opensslClient('s_client', '-connect', `${host.host}:${host.port}`, '-tls1_2', '-prexit');
    expect(output).toMatch(/No client certificate CA names sent/);
  });

  test('R14: without a certificate cacerts works and simpleenroll looks at the secret', async () => {
    expect(await isAlive()).toBe(true);
    expect((await appliance.enrol(ca, 'simpleenroll', csr, { headers: { Authorization: basic(secret) } })).status).toBe(200);
    expect((await appliance.enrol(ca, 'simpleenroll', csr)).status).toBe(401);
  });

  test('R15: sessions are never resumed, in either version', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const first = await handshake({ maxVersion });
      let session: Buffer | undefined = first.getSession();
      first.on('session', (ticket: Buffer) => {
        session = ticket;
      });
      await new Promise((done) => setTimeout(done, 100));
      first.destroy();
      const second = await handshake({ maxVersion, ...defined({ session }) });
      expect(second.isSessionReused(), maxVersion).toBe(false);
      second.destroy();
    }
  });

  test('R17: HTTP/1.1 is spoken, 1.0 to those who offer nothing newer, and no other protocol', async () => {
    const socket = await handshake({ ALPNProtocols: ['http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    // curl --http1.0 offers nothing else.
    const old = await handshake({ ALPNProtocols: ['http/1.0'] });
    expect(old.alpnProtocol).toBe('http/1.0');
    old.destroy();
    await expect(handshake({ ALPNProtocols: ['h2'] })).rejects.toThrow(/alert|protocol|ECONN/i);
    const without = await handshake({});
    expect(without.alpnProtocol).toBe(false);
    without.destroy();
  });

  test('R18: the certificate of the listener is exchanged without restart, and client certificates are still asked for', async () => {
    const directory = join(appliance.directory, 'next');
    mkdirSync(directory, { recursive: true });
    const next = selfSignedIdentity(directory);
    appliance.setIdentity(next);
    const socket = await handshake({ ca: next.cert });
    expect(socket.getPeerX509Certificate()?.toString()).toBe(next.cert);
    socket.destroy();
    const client = await makeIdentity();
    const reply = await appliance.enrol(ca, 'simpleenroll', csr, { client, ca: next.cert });
    expect(reply.text).toMatch(/does not chain/);
    appliance.setIdentity({ key: next.key, cert: next.cert });
    appliance = { ...appliance, caPem: next.cert };
  });
});

describe('R16: nothing a client sends ends the process', () => {
  const curves = ['brainpoolP256r1', 'brainpoolP384r1', 'secp256k1', 'secp112r1', 'prime256v1'];
  test.each(curves)('a client certificate on curve %s', async (curve) => {
    const client = clientOn(curve, ['-subj', '/CN=device']);
    for (const version of ['TLSv1.3', 'TLSv1.2'] as const) await tryEverything(client, version);
    expect(await isAlive()).toBe(true);
  });

  test('a client certificate that OpenSSL cannot read is named as what is at fault', async () => {
    const malformed = new x509.Extension('2.5.29.19', true, Buffer.from('0401ff', 'hex'));
    const usage = new x509.Extension('2.5.29.15', true, Buffer.from('03020780', 'hex'));
    for (const extensions of [[malformed], [usage, usage]]) {
      const client = await makeIdentity({ extensions });
      const reply = await appliance.call(ca, 'cacerts', { client, maxVersion: 'TLSv1.2' });
      expect(reply).toMatchObject({ status: 400, text: expect.stringContaining('The client certificate cannot be read') as string });
    }
    expect(await isAlive()).toBe(true);
  });

  test('an empty subject, a negative serial number, 59 kB of extension, 3,000 alternative names', async () => {
    const names: x509.JsonGeneralNames = Array.from({ length: 3_000 }, (_, n) => ({ type: 'dns', value: `n${n}.example.test` }) as const);
    const clients = [
      await makeIdentity({ subject: '' }),
      clientOn('prime256v1', ['-subj', '/CN=negative', '-set_serial', '-5']),
      await makeIdentity({ extensions: [new x509.Extension('1.2.3.4.5', false, Buffer.alloc(59_000))] }),
      await makeIdentity({ extensions: [new x509.SubjectAlternativeNameExtension(names)] }),
    ];
    for (const client of clients) await tryEverything(client, 'TLSv1.3');
    expect(await isAlive()).toBe(true);
  });

  test('half handshakes, plain HTTP, garbage instead of TLS, garbage inside TLS', async () => {
    const rubbish: (string | Buffer)[] = [
      '',
      'GET / HTTP/1.1\r\n\r\n',
      Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
      Buffer.alloc(20_000, 0x16),
      Buffer.from('\0\xff'.repeat(500), 'latin1'),
    ];
    for (const bytes of rubbish) {
      const socket = connectTcp(host);
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      socket.write(bytes);
      await new Promise((done) => setTimeout(done, 30));
      socket.destroy();
    }
    for (const bytes of ['\0\0\0\r\n\r\n', 'GET\r\n\r\n', 'POST / HTTP/9.9\r\n\r\n', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(5_000)}\r\n`]) {
      const socket = await handshake({ ca: appliance.caPem });
      const answer = readAll(socket);
      socket.write(bytes);
      expect(await answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    expect(await isAlive()).toBe(true);
  });

  test('clients that go away in the middle of body and answer', async () => {
    for (const at of [0, 1, 50]) {
      const socket = await handshake({ ca: appliance.caPem });
      const head = `POST /.well-known/est/${appliance.tenantId}/${ca}/simpleenroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/pkcs10\r\nAuthorization: ${basic(secret)}\r\nContent-Length: 400\r\n\r\n`;
      socket.write(head + 'A'.repeat(at));
      await new Promise((done) => setTimeout(done, 20));
      socket.destroy();
    }
    expect(await isAlive()).toBe(true);
  });
});

describe('R19: time and room are limited', () => {
  test('handshake, headers and request have deadlines far below the defaults of node', async () => {
    const { server, connections } = await openedListener();
    const { requestTimeout, headersTimeout, keepAliveTimeout } = server;
    expect(requestTimeout).toBeLessThanOrEqual(30_000);
    expect(headersTimeout).toBeLessThanOrEqual(10_000);
    expect(keepAliveTimeout).toBeLessThanOrEqual(5_000);
    expect(connections.limits.open).toBeLessThanOrEqual(4_096);
  });

  test('a client that sends one octet a second is cut, and does not keep others from their answers', async () => {
    const slow: Socket = await handshake({ ca: appliance.caPem });
    const cut = readAll(slow);
    const started = Date.now();
    const drip = setInterval(() => slow.write('x'), 1_000);
    slow.write('GET / HTTP/1.1\r\nX-Slow: ');
    expect(await isAlive()).toBe(true);
    expect(await cut).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
    expect(Date.now() - started).toBeLessThan(60_000);
  });
});

async function openedListener() {
  const { openEstListener } = await import('../../../plugins/est/listener/server.ts');
  const directory = join(appliance.directory, 'settings');
  mkdirSync(directory, { recursive: true });
  const log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
  const listener = await openEstListener({
    host: '127.0.0.1',
    port: 0,
    identity: selfSignedIdentity(directory),
    handler: () => undefined,
    log,
  });
  await listener.close(0);
  return listener;
}

function readAll(socket: Socket): Promise<string> {
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => done(Buffer.concat(chunks).toString('latin1')));
  });
}

/** Uses the client certificate on every operation that looks at one; answers and failed handshakes are both fine, 500 is not. */
async function tryEverything(client: Identity, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<void> {
  for (const operation of ['simpleenroll', 'simplereenroll'] as const) {
    const status = await appliance.enrol(ca, operation, csr, { client, maxVersion, ca: appliance.caPem }).then(
      (reply) => reply.status,
      () => 'no connection',
    );
    expect([401, 'no connection']).toContain(status);
  }
}

function clientOn(curve: string, options: readonly string[]): Identity {
  const [key, certificate] = [join(appliance.directory, 'odd-key.pem'), join(appliance.directory, 'odd.pem')];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-nodes',
      '-newkey',
      'ec',
      '-pkeyopt',
      `ec_paramgen_curve:${curve}`,
      '-keyout',
      key,
      '-out',
      certificate,
      '-days',
      '2',
      ...options,
    ],
    { stdio: 'ignore' },
  );
  const [pem, keyPem] = [certificate, key].map((path) => execFileSync('cat', [path], { encoding: 'utf8' }));
  return { pem: pem as string, certificate: Buffer.alloc(0), keys: { pem: keyPem as string } as Identity['keys'] };
}
