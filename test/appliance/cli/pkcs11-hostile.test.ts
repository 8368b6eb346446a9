// Connections of keystorectl pkcs11 that send what no program sends: cut frames, lengths without end, sessions by the thousand, and a silent
// appliance behind it. What is signed is what was asked, and what is held has a bound.
import { PassThrough } from 'node:stream';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LastingClient } from '../../../appliance/cli/lasting/client.ts';
import { Notices } from '../../../appliance/cli/lasting/notices.ts';
import { serveConnection } from '../../../appliance/cli/pkcs11/serve.ts';
import { answerFrame, number32, octet, octets, ulong } from '../../../hsm/p11-kit/frames.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
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

const begin = async ({ client }: Served): Promise<{ readonly session: number; readonly key: number }> => {
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
