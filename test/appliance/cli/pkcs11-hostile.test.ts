// Connections of keystorectl pkcs11 that send what no program sends: cut frames, lengths without end, sessions by the thousand, and a silent
// appliance behind it. What is signed is what was asked, and what is held has a bound.
import { PassThrough } from 'node:stream';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createConnection, createServer as createTcpServer, type Socket } from 'node:net';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LastingClient } from '../../../appliance/cli/lasting/client.ts';
import { Notices } from '../../../appliance/cli/lasting/notices.ts';
import { askPages } from '../../../appliance/cli/lasting/pages.ts';
import { serveConnection } from '../../../appliance/cli/pkcs11/serve.ts';
import { answerFrame, number32, octet, octets, ulong } from '../../../hsm/p11-kit/frames.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { endWithTests } from '../../harness/children.ts';
import { call, P11KitClient, wanted } from '../../harness/p11-kit-client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  for (const name of ['appliance', 'silent']) mkdirSync(path(name));
  appliance = await startTestAppliance({ directory: path('appliance') });
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'web', cipher: 'ecdsa-p256' });
});
afterAll(() => appliance.close());

type Served = {
  readonly client: P11KitClient;
  readonly ended: Promise<void>;
  readonly input: PassThrough;
  readonly lasting: LastingClient;
};

function serve({ url = appliance.url, timeoutMs = 10_000, directory = 'appliance' } = {}): Served & { stderr(): string } {
  const [input, output, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { environment: { HOME: path() }, stdin: input, stdout: output, stderr };
  const connection = { url, ca: path(directory, 'tls-cert.pem'), token: appliance.rootToken };
  const lasting = new LastingClient({ connection, io, userAgent: 'test', timeoutMs, atOnce: 4 });
  const choice = { names: ['web'], selector: '', certificates: [], allVersions: false };
  const notices = new Notices(io, 'keystorectl pkcs11');
  const ended = serveConnection(input, output, { label: 'keystored', choice, client: lasting, notices, io }).finally(() => lasting.close());
  return { client: new P11KitClient(input, output), ended, input, lasting, stderr: () => String(stderr.read() ?? '') };
}

const begin = async ({ client }: Pick<Served, 'client'>): Promise<{ readonly session: number; readonly key: number }> => {
  const session = await client.openSession();
  return { session, key: (await client.find(session, wanted.class(3)))[0] ?? 0 };
};

test.each([
  ['a length of four gigabytes', Buffer.concat([number32(1), number32(0), number32(0xffff_fff0)])],
  ['options of four gigabytes', Buffer.concat([number32(1), number32(0xffff_fff0), number32(8)])],
  ['a call without a number', Buffer.concat([number32(1), number32(0), number32(2), Buffer.alloc(2)])],
])('%s ends the connection, which holds nothing then', async (_what, sent) => {
  const served = serve();
  served.client.write(sent);
  await served.ended;
  await expect(served.client.openSession()).rejects.toThrow('the connection has ended');
});

test('a frame that is cut anywhere waits for its rest, and ends with the connection', async () => {
  const frame = answerFrame(1, call.openSession, 'uu', [ulong(1), ulong(4)]);
  for (let at = 0; at < frame.length; at++) {
    const served = serve();
    served.client.write(frame.subarray(0, at));
    served.client.end();
    await served.ended;
  }
  expect(frame.length).toBeGreaterThan(30);
});

test('ten thousand sessions: 4,096 are opened, the others refused, and one that is closed makes room', async () => {
  const served = serve();
  const { client } = served;
  const opened = await Promise.allSettled(Array.from({ length: 10_000 }, () => client.openSession()));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(4_096);
  await expect(client.openSession()).rejects.toMatchObject({ rv: 0xb1 });
  await client.ask(call.closeSession, ulong(1));
  expect(await client.openSession()).toBeGreaterThan(4_096);
  client.end();
  await served.ended;
});

test('a program that reads no answers is not read from without end', async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1_024 })];
  const io = { environment: {}, stdin: input, stdout: output, stderr: new PassThrough() };
  const client = new LastingClient({ connection: {}, io, userAgent: 'test', timeoutMs: 1_000, atOnce: 1 });
  const choice = { names: [], selector: '', certificates: [], allVersions: false };
  const program = { label: 'keystored', choice, client, notices: new Notices(io, 'test'), io };
  const ended = serveConnection(input, output, program);
  input.write(octet(0));
  const frame = answerFrame(1, call.tokenInfo, 'u', [ulong(1)]);
  let isAccepted = true;
  let sent = 0;
  for (; isAccepted && sent < 100_000; sent++) {
    isAccepted = input.write(frame);
    await new Promise(setImmediate);
  }
  expect(sent).toBeLessThan(10_000);
  input.end();
  input.destroy();
  await ended;
});

test('handles of another connection and of no object are refused; random octets have a limit', async () => {
  const [one, other] = [serve(), serve()];
  const { session, key } = await begin(one);
  const second = await other.client.openSession();
  await expect(other.client.begin(second, key, 0x1041)).rejects.toMatchObject({ rv: 0x60 });
  await expect(one.client.begin(session, 2 ** 40, 0x1041)).rejects.toMatchObject({ rv: 0x60 });
  await expect(one.client.ask(call.random, ulong(session), number32(0xffff_ffff))).rejects.toMatchObject({ rv: 0x21 });
  await expect(one.client.ask(call.findInit, ulong(session), number32(0xffff_ffff))).rejects.toMatchObject({ rv: 0x30 });
  await expect(one.client.ask(call.signUpdate, ulong(session), octet(1), octets(Buffer.alloc(1)))).rejects.toMatchObject({ rv: 0x91 });
  for (const { client, ended } of [one, other]) {
    client.end();
    await ended;
  }
});

test('two hundred signatures at once are each over what was asked', async () => {
  const served = serve();
  const { client } = served;
  const { key } = await begin(served);
  const trail = path('appliance', 'audit', 'test.000000000001.jsonl');
  const before = readFileSync(trail, 'utf8').length;
  const digests = Array.from({ length: 200 }, (_, place) => Buffer.alloc(32, place + 1));
  await Promise.all(
    digests.map(async (digest) => {
      const session = await client.openSession();
      await client.begin(session, key, 0x1041);
      expect(await client.sign(session, digest)).toHaveLength(64);
    }),
  );
  const recorded = [
    ...readFileSync(trail, 'utf8')
      .slice(before)
      .matchAll(/"signed-digest":"sha256:([0-9a-f]+)"/g),
  ].map(([, digest]) => digest);
  expect(recorded).toHaveLength(200);
  expect(new Set(recorded)).toEqual(new Set(digests.map((digest) => digest.toString('hex'))));
  client.end();
  await served.ended;
});

test('an appliance that takes connections and says nothing costs a call the time that is set; the end of the program costs none', async () => {
  const { key, cert } = selfSignedIdentity(path('silent'));
  const silent: Server = createServer({ key, cert }, () => undefined);
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const served = serve({ url, timeoutMs: 300, directory: 'silent' });
  const session = await served.client.openSession();
  const search = () => served.client.ask(call.findInit, ulong(session), number32(0));
  await expect(search()).rejects.toMatchObject({ rv: 0x30 });
  expect(served.stderr()).toContain('did not answer within 0.3 s');
  // The search that failed is over: the next one is made again.
  await expect(search()).rejects.toMatchObject({ rv: 0x30 });
  const waiting = search();
  served.client.end();
  await served.ended;
  await expect(waiting).rejects.toThrow('the connection has ended');
  silent.closeAllConnections();
  silent.close();
});

test('a list of several pages is read by the links of its answers, and one without a link is one request', async () => {
  const asked: string[] = [];
  const { key, cert } = selfSignedIdentity(path('silent'));
  const paging: Server = createServer({ key, cert }, ({ url = '' }, response) => {
    asked.push(url);
    const place = Number(/after=(\d)/.exec(url)?.[1] ?? 0);
    if (place < 2) response.setHeader('link', `</list?limit=2&after=${place + 1}>; rel="next"`);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify([place]));
  });
  await new Promise<void>((listening) => paging.listen(0, '127.0.0.1', listening));
  const { lasting, input, ended } = serve({ url: `https://127.0.0.1:${(paging.address() as AddressInfo).port}`, directory: 'silent' });
  expect(await askPages(lasting, '/list', new URLSearchParams({ limit: '2' }))).toEqual([0, 1, 2]);
  expect(asked).toEqual(['/list?limit=2', '/list?limit=2&after=1', '/list?limit=2&after=2']);
  expect(await askPages(lasting, '/list', new URLSearchParams({ after: '2' }))).toEqual([2]);
  expect(asked).toHaveLength(4);
  input.end();
  await ended;
  paging.closeAllConnections();
  paging.close();
});

test('of two addresses, the first of which takes connections and shakes no hands, the second one signs, and is asked first from then on', async () => {
  let connections = 0;
  const mute = createTcpServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening));
  const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port},${appliance.url}`;
  const served = serve({ url, timeoutMs: 4_000 });
  const { session, key } = await begin(served);
  expect(connections).toBe(1);
  for (let place = 1; place <= 3; place++) {
    await served.client.begin(session, key, 0x1041);
    expect(await served.client.sign(session, Buffer.alloc(32, place))).toHaveLength(64);
  }
  expect(connections).toBe(1);
  served.client.end();
  await served.ended;
  mute.close();
});

describe('a command that serves a socket', () => {
  const socket = path('pkcs11.sock');
  let child: ChildProcess;
  beforeAll(async () => {
    const words = ['pkcs11', '--listen', socket, '--key', 'web'];
    const program = join(import.meta.dirname, '../../../appliance/keystorectl');
    const env = {
      PATH: '/usr/bin:/bin',
      KEYSTORED_URL: appliance.url,
      KEYSTORED_CA: path('appliance', 'tls-cert.pem'),
      KEYSTORED_TOKEN: appliance.rootToken,
    };
    child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    endWithTests(child);
    await once(child.stderr!, 'data');
    // What a first signature loads and compiles is not what is measured.
    const { client } = connect();
    const { session, key } = await begin({ client });
    await client.begin(session, key, 0x1044);
    await client.sign(session, Buffer.of(1));
    client.end();
  });
  afterAll(async () => {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  function connect(): { readonly client: P11KitClient; readonly connection: Socket } {
    const connection = createConnection(socket);
    return { client: new P11KitClient(connection, connection), connection };
  }
  /** Megabytes of memory: now (VmRSS), or the most so far (VmHWM). */
  const memory = (field: 'VmRSS' | 'VmHWM'): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1_024;

  /** 64 at rest, 64 of calls, as much of copies that are not collected yet, and the pieces that are on their way. */
  const mostMegabytes = 384;

  test('has 16,384 sessions for all connections, with a signature begun in each, in a few megabytes; a connection that ends gives its own back', async () => {
    const before = memory('VmRSS');
    const clients = Array.from({ length: 5 }, connect);
    const sessions = await Promise.all(
      clients.map(async ({ client }) => {
        const opened = await Promise.allSettled(Array.from({ length: 4_200 }, () => client.openSession()));
        return opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      }),
    );
    expect(sessions.flat()).toHaveLength(16_384);
    const [first] = clients;
    const key = (await first!.client.find(sessions[0]![0]!, wanted.class(3)))[0] ?? 0;
    await Promise.all(sessions[0]!.map((session) => first!.client.begin(session, key, 0x1044)));
    expect(memory('VmRSS') - before).toBeLessThan(64);
    await expect(connect().client.openSession()).rejects.toMatchObject({ rv: 0xb1 });
    for (const { client, connection } of clients) {
      client.end();
      await once(connection, 'close');
    }
    expect(await connect().client.openSession()).toBe(1);
  });

  test('holds 64 MiB of unfinished calls of all connections; one more ends its connection, the others are answered', async () => {
    const octetsOfCall = (4 << 20) - 1_024;
    const [first, ...others] = [connect(), ...Array.from({ length: 19 }, connect)];
    const session = await first.client.openSession();
    const unfinished = Buffer.concat([number32(1), number32(0), number32(octetsOfCall), Buffer.alloc(octetsOfCall - 1)]);
    const ended = new Set<Socket>();
    await new Promise<void>((resolve) => {
      for (const { connection } of others) {
        connection.on('error', () => undefined).on('close', () => ended.add(connection).size === 3 && resolve());
        connection.write(unfinished);
      }
    });
    expect((await first.client.ask(call.random, ulong(session), number32(16))).octet()).toBe(1);
    expect(memory('VmHWM')).toBeLessThan(mostMegabytes);
    expect(ended.size).toBe(3);
    for (const { connection } of [first, ...others]) connection.destroy();
    const { key } = await begin(connect());
    expect(key).toBeGreaterThan(0);
  });

  test('a program that asks for a gigabyte and reads nothing is not read from either, and keeps nobody waiting', async () => {
    const [{ client, connection }, other] = [connect(), connect()];
    const session = await client.openSession();
    connection.pause();
    const asked = answerFrame(9, call.random, 'uu', [ulong(session), number32(65_536)]);
    connection.write(Buffer.concat(Array.from({ length: 16_384 }, () => asked)));
    for (let times = 0; times < 50; times++) expect(await other.client.openSession()).toBe(times + 1);
    expect(memory('VmHWM')).toBeLessThan(mostMegabytes);
    expect(connection.writableLength).toBeGreaterThan(0);
    for (const one of [connection, other.connection]) one.destroy();
  });
});
