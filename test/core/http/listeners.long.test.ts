// The TLS listeners: versions, limits, ports in use, changing certificates, orderly closing.
import { mkdirSync } from 'node:fs';
import { connect as connectTcp, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { ListenError, listenHttps, type Listener, type ListenOptions, type TlsIdentity } from '../../../core/http/listener/listeners.ts';
import { ask, openTls, readAll } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const at = temporaryDirectory();
const identityIn = (name: string): TlsIdentity => {
  mkdirSync(at(name));
  return selfSignedIdentity(at(name));
};
const identity = identityIn('first');
let generation = 0;
const open: Listener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close(0)));
});

const hello = (_: IncomingMessage, response: ServerResponse): void => void response.end('hello');

async function listen(options: Partial<ListenOptions> = {}): Promise<Listener> {
  const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity, handler: hello, ...options });
  open.push(listener);
  return listener;
}

const tls = (listener: Listener, options: ConnectionOptions = {}): Promise<TLSSocket> => openTls(listener.port, options);

async function get(listener: Listener, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const { status, text } = await ask(`https://127.0.0.1:${listener.port}`, '/', { ca: identity.cert, headers });
  return { status, text };
}

/** Begins a handshake and goes no further, but for what it says every half second. Answers what it is told until it is cut. */
function outsider(listener: Listener, begins: string, goesOn?: string): Promise<string> {
  const socket = connectTcp(listener.port, '127.0.0.1', () => socket.write(begins, 'latin1'));
  const drip = goesOn === undefined ? undefined : setInterval(() => socket.write(goesOn, 'latin1'), 500);
  return readAll(socket).finally(() => clearInterval(drip));
}

describe('a listener', () => {
  test('serves on the port it names', async () => {
    const listener = await listen();
    expect(listener.url).toBe(`https://127.0.0.1:${listener.port}`);
    expect(await get(listener)).toEqual({ status: 200, text: 'hello' });
  });

  test('sessions are resumed until the keys of their tickets change, and a new certificate changes no keys', async () => {
    const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity, handler: hello, tls: { ticketKeys: Buffer.alloc(48, 1) } });
    open.push(listener);
    const sessionOf = async (): Promise<Buffer> => {
      const socket = await tls(listener, { maxVersion: 'TLSv1.2' });
      const session = socket.getSession() ?? Buffer.alloc(0);
      socket.destroy();
      return session;
    };
    const resumes = async (session: Buffer): Promise<boolean> => {
      const socket = await tls(listener, { maxVersion: 'TLSv1.2', session });
      const isReused = socket.isSessionReused();
      socket.destroy();
      return isReused;
    };
    const former = await sessionOf();
    expect(await resumes(former)).toBe(true);
    listener.setTicketKeys(Buffer.alloc(48, 2));
    expect(await resumes(former)).toBe(false);
    const session = await sessionOf();
    listener.setIdentity(identityIn('renewed'));
    expect(await resumes(session)).toBe(true);
    expect(await resumes(former)).toBe(false);
  });

  test('TLS 1.2 and 1.3, nothing older', async () => {
    const listener = await listen();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await tls(listener, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    await expect(tls(listener, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })).rejects.toThrow(
      /protocol version|alert/i,
    );
  });

  test('no handshake is made again on an open connection: it would cost the private key, and no place', async () => {
    const socket = await tls(await listen(), { maxVersion: 'TLSv1.2' });
    const outcome = await new Promise<string>((done) => {
      socket.on('error', () => done('refused')).on('close', () => done('refused'));
      if (!socket.renegotiate({}, (error) => done(error === null ? 'made again' : 'refused'))) done('refused');
    });
    expect(outcome).toBe('refused');
    socket.destroy();
  });

  test('a taken port is refused with one line that says so, and no other port is taken instead', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const refused = await listen({ port }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ListenError);
    expect(String(refused)).toContain(`127.0.0.1:${port}, which is taken by another process`);
    taken.close();
  });

  test.each([
    ['203.0.113.7', 'cannot listen on 203.0.113.7:0, which is not an address of this machine'],
    ['no-such-host.invalid', 'cannot listen on no-such-host.invalid'],
  ])('%s is refused', async (host, reason) => {
    expect(String(await listen({ host }).catch((error: unknown) => error))).toContain(reason);
  });

  test('headers over 16 KiB are 431', async () => {
    const listener = await listen();
    expect((await get(listener, { 'x-long': 'a'.repeat(15_000) })).status).toBe(200);
    const answer = await get(listener, { 'x-long': 'a'.repeat(17_000) });
    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'headers-too-large', status: 431, detail: expect.stringContaining('16 KiB') });
  });

  test('headers far over the limit are answered too, although more of them comes behind the answer', async () => {
    const socket = await tls(await listen());
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${'x: y\r\n'.repeat(5_000)}\r\n`);
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test.each(['SSH-2.0-OpenSSH', 'FETCH / HTTP/1.1'])('%s is 400 and the end of the connection', async (line) => {
    const socket = await tls(await listen());
    socket.write(`${line}\r\nhost: a\r\n\r\n`);
    const [head = '', body = ''] = (await readAll(socket)).split('\r\n\r\n');
    expect(head).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application\/problem\+json\r\nstrict-transport-security: max-age=31536000\r\n/,
    );
    expect(JSON.parse(body)).toMatchObject({ code: 'invalid-value', status: 400, detail: expect.stringContaining('HTTP/1.1') });
  });

  test('what answers a HEAD that cannot be read has a head alone', async () => {
    const socket = await tls(await listen());
    socket.write('HEAD / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n');
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n(?:[^\r]+\r\n)+\r\n$/);
  });

  test('a client that keeps the connection open after such an answer is disconnected, silent or not', async () => {
    const listener = await listen();
    for (const goesOn of [undefined, 'x: y\r\n']) {
      const closed = Promise.withResolvers<void>();
      const raw = connectTcp({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
      const socket = connect({ socket: raw, rejectUnauthorized: false, allowHalfOpen: true } as ConnectionOptions);
      socket.on('error', () => undefined).resume();
      let ended: Socket | undefined;
      listener.server.once('secureConnection', (other: Socket) => {
        ended = other.once('close', () => closed.resolve());
      });
      socket.write('nonsense\r\n\r\n');
      const drip = setInterval(() => goesOn !== undefined && socket.write(goesOn), 100);
      await closed.promise;
      expect(ended?.destroyed).toBe(true);
      clearInterval(drip);
      socket.destroy();
    }
  });

  test('has limits against slow and idle clients', async () => {
    const { server, connections } = await listen();
    expect(server.headersTimeout).toBeLessThanOrEqual(15_000);
    expect(server.requestTimeout).toBeGreaterThan(0);
    expect(server.keepAliveTimeout).toBeGreaterThan(0);
    expect(connections.limits.open).toBeGreaterThan(0);
  });

  test('a connection of which the handshake is not over within ten seconds is cut, whether it says nothing, little or a little at a time', async () => {
    const listener = await listen();
    const began = performance.now();
    const cut = await Promise.all([
      outsider(listener, ''),
      outsider(listener, '\x16\x03\x01\x02\x00\x01'),
      outsider(listener, '\x16\x03\x01\x10\x00', '\x01'),
    ]);
    expect(cut).toEqual(['', '', '']);
    expect(performance.now() - began).toBeGreaterThan(9_000);
    const slow = await tls(listener);
    expect(slow.timeout ?? 0).toBe(0);
    slow.destroy();
  }, 60_000);

  test('closing does not wait for unfinished handshakes', async () => {
    const listener = await listen();
    const cut = outsider(listener, '\x16\x03\x01\x02\x00\x01');
    await setTimeout(100);
    const began = performance.now();
    await listener.close(60_000);
    expect(performance.now() - began).toBeLessThan(9_000);
    expect(await cut).toBe('');
  });

  test('a changed identity shows to new connections and leaves open ones alone', async () => {
    const listener = await listen();
    const old = await tls(listener);
    const next = identityIn(`next-${generation++}`);
    listener.setIdentity(next);
    const fresh = await tls(listener);
    expect(fresh.getPeerX509Certificate()?.fingerprint256).not.toBe(old.getPeerX509Certificate()?.fingerprint256);
    await expect(tls(listener, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })).rejects.toThrow(
      /protocol version|alert/i,
    );
    const answered = readAll(old);
    old.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await answered).toContain('hello');
    fresh.destroy();
  });

  test('closing lets a running request finish and cuts idle connections', async () => {
    const started = Promise.withResolvers<ServerResponse>();
    const listener = await listen({
      handler(_, response) {
        started.resolve(response);
      },
    });
    const idle = await tls(listener);
    const idleClosed = readAll(idle);
    const running = await tls(listener);
    const answered = readAll(running);
    running.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    const response = await started.promise;
    const closed = listener.close(5_000);
    await expect(tls(listener)).rejects.toThrow('ECONNREFUSED');
    response.end('late');
    await closed;
    expect(await answered).toContain('late');
    expect(await idleClosed).toBe('');
  });

  test('closing cuts what does not finish within the grace, and works twice', async () => {
    const asked = Promise.withResolvers<void>();
    const listener = await listen({ handler: () => asked.resolve() });
    const socket = await tls(listener);
    const gone = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await asked.promise;
    await Promise.all([listener.close(200), listener.close(200)]);
    expect(await gone).toBe('');
  });
});

test('a listener leaves the signals of the process alone', async () => {
  const before = ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((signal) => process.listenerCount(signal));
  await listen();
  expect(['SIGINT', 'SIGTERM', 'SIGHUP', 'exit'].map((signal) => process.listenerCount(signal))).toEqual(before);
});
