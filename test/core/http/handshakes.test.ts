// Handshakes take turns: waiting closes no connection, and peers that are silent, slow or gone delay no others.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConnectionLimits, Connections } from '../../../core/http/listener/connections.ts';
import { type HandshakeLimits, Handshakes } from '../../../core/http/listener/handshakes.ts';
import { defined } from '../../../core/base/defined.ts';
import { listenHttps } from '../../../core/http/listener/listeners.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { firstMessage, selfSignedIdentity } from '../../harness/tls.ts';

const never = Number.POSITIVE_INFINITY;
const patient: HandshakeLimits = { deadlineMs: never, crowdedDeadlineMs: never, crowd: 64, sliceMs: 5 };
const roomy: ConnectionLimits = { open: 10_000, handshakes: 10_000 };

const identity = selfSignedIdentity(temporaryDirectory()('.'));
let server: Server;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  server = createServer(identity, (_request, response) => void response.end()).listen(0, '127.0.0.1');
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
});

const takeTurns = (limits: HandshakeLimits, most = roomy): Handshakes => new Handshakes(server, new Connections(most), { limits });
const port = (): number => (server.address() as AddressInfo).port;

/** Connects and says this much of a handshake. Resolves when the server has accepted it. */
async function outsider(says: string, from = '127.0.0.1'): Promise<Socket> {
  const accepted = once(server, 'connection');
  const socket = connectTcp({ port: port(), host: '127.0.0.1', localAddress: from }, () => socket.write(says, 'latin1'));
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  await accepted;
  return socket;
}

async function manyOutsiders(count: number, says: (index: number) => string): Promise<readonly Socket[]> {
  const all: Socket[] = [];
  for (let index = 0; index < count; index++) all.push(await outsider(says(index)));
  return all;
}

const partOfHello = '\x16\x03\x01\x02\x00\x01';

/** A whole handshake. */
function device(from = '127.0.0.1'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: port(), host: '127.0.0.1', localAddress: from, rejectUnauthorized: false } as ConnectionOptions, () =>
      resolve(socket),
    );
    socket.once('error', reject);
    sockets.push(socket);
  });
}

/** Runs a program of its own while this process accepts and reads nothing. */
const meanwhile = (program: string): string => execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }).trim();

describe('turns', () => {
  test('peers that say nothing or half of a first message hold up nobody, however many', async () => {
    const handshakes = takeTurns(patient);
    const crowd = await manyOutsiders(150, (index) => (index % 2 === 0 ? '' : partOfHello));
    expect((await device()).getProtocol()).toBe('TLSv1.3');
    await expect.poll(() => handshakes.finished).toBe(1);
    expect(crowd.map(({ closed }) => closed)).not.toContain(true);
  });

  test('peers that send a whole first message and go no further hold up nobody', async () => {
    const connections = new Connections(roomy);
    const handshakes = new Handshakes(server, connections, { limits: patient });
    const hello = (await firstMessage()).toString('latin1');
    const crowd = await manyOutsiders(150, () => hello);
    await expect.poll(() => [...connections.ofStage('answered')].length).toBe(150);
    expect((await device()).getProtocol()).toBe('TLSv1.3');
    await expect.poll(() => handshakes.finished).toBe(1);
    expect(crowd.map(({ closed }) => closed)).not.toContain(true);
  });

  test('a first message in many pieces is one', async () => {
    takeTurns(patient);
    const hello = await firstMessage();
    const slow = await outsider('');
    const answered = once(slow.removeAllListeners('data'), 'data');
    for (const octet of hello) await new Promise((written) => slow.write(Buffer.of(octet), written));
    expect(((await answered) as [Buffer])[0][0]).toBe(0x16);
  });

  test('a first message that never ends is cut', async () => {
    takeTurns(patient);
    const endless = await outsider('');
    const cut = once(endless, 'close');
    expect(endless.closed).toBe(false);
    const record = Buffer.concat([Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.alloc(0x4000 - 4)]);
    for (let count = 0; count < 3; count++) endless.write(record);
    await cut;
  });

  test('addresses take turns: many first messages of one delay another by one handshake', async () => {
    const begun: string[] = [];
    server.on('connection', ({ remoteAddress = '' }: Socket) => void begun.push(remoteAddress));
    const handshakes = takeTurns({ ...patient, sliceMs: 0 });
    const accepted: Socket[] = [];
    server.removeAllListeners('connection').on('connection', (socket: Socket) => void accepted.push(socket));
    const hello = (await firstMessage()).toString('latin1');
    for (let count = 0; count < 20; count++) await outsider(hello);
    const other = device('127.0.0.2');
    await expect.poll(() => accepted.length).toBe(21);
    for (const socket of accepted) if (socket.readableLength === 0) await once(socket, 'readable');
    for (const socket of accepted) handshakes.accept(socket);
    await other;
    expect(begun.slice(0, 2)).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  test('each of a burst of devices is served', async () => {
    const handshakes = takeTurns(patient);
    await Promise.all(Array.from({ length: 150 }, () => device()));
    await expect.poll(() => handshakes.finished).toBe(150);
  });

  test('connections that were reset before they were accepted leave nothing behind', async () => {
    const connections = new Connections(roomy);
    const handshakes = new Handshakes(server, connections, { limits: patient });
    let accepted = 0;
    server.on('connection', () => accepted++);
    const sent = meanwhile(`
      const { connect } = require('node:net');
      let gone = 0;
      for (let count = 0; count < 200; count++)
        connect(${port()}, '127.0.0.1', function () {
          this.write('\\x16', () => this.resetAndDestroy());
        }).on('close', () => ++gone === 200 && console.log(gone));`);
    expect(sent).toBe('200');
    await expect.poll(() => accepted).toBe(200);
    expect((await device()).getProtocol()).toBe('TLSv1.3');
    await expect.poll(() => connections.counts).toEqual({ handshake: 0, idle: 1, request: 0 });
    expect(handshakes.finished).toBe(1);
  });

  test('two connections with one source port, to two addresses of this machine, are two', async () => {
    await new Promise((closed) => server.close(closed));
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    takeTurns(patient);
    const connected = async (host: string, localPort?: number): Promise<Socket> => {
      const socket = connectTcp({ port: port(), host, localAddress: '127.0.0.1', ...defined({ localPort }) });
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    };
    const first = await connected('127.0.0.1');
    const second = await connected('127.0.0.2', first.localPort);
    for (const socket of [second, first]) {
      const secured = connect({ socket, rejectUnauthorized: false });
      await once(secured, 'secureConnect');
      expect(secured.getProtocol()).toBe('TLSv1.3');
    }
    expect(first.localPort).toBe(second.localPort);
  });

  test('who goes away in line leaves no turn behind', async () => {
    takeTurns({ ...patient, sliceMs: 0 });
    const others = await manyOutsiders(20, () => '\x16\x03\x01\x00\x04\x01\x00\x00\x00');
    for (const socket of others) socket.resetAndDestroy();
    expect((await device()).getProtocol()).toBe('TLSv1.3');
  });
});

describe('deadlines', () => {
  test('who does not go on with the handshake in time is cut', async () => {
    takeTurns({ ...patient, deadlineMs: 50 });
    const hello = (await firstMessage()).toString('latin1');
    for (const says of [partOfHello, hello]) {
      const stalled = await outsider(says);
      await once(stalled, 'close');
      expect(stalled.closed).toBe(true);
    }
  });

  test('who says nothing in time is cut', async () => {
    takeTurns({ ...patient, deadlineMs: 50 });
    const silent = await outsider('');
    await once(silent, 'close');
    expect(silent.closed).toBe(true);
  });

  test('while a crowd is in its handshakes, a slow peer has more time', async () => {
    takeTurns({ ...patient, deadlineMs: 50, crowd: 2 });
    const crowd = await Promise.all([outsider(partOfHello), outsider(''), outsider('')]);
    await device();
    for (let turn = 0; turn < 3; turn++) await new Promise((tick) => setTimeout(tick, 250));
    expect(crowd.map(({ closed }) => closed)).toEqual([false, false, false]);
    crowd[0]?.destroy();
    await once(crowd[2], 'close');
  });

  test('what a peer had sent before a pause of the process is heard before it is judged', async () => {
    takeTurns({ ...patient, deadlineMs: 1_000 });
    const hello = await firstMessage();
    const quiet = await outsider('');
    quiet.write(hello);
    // Nothing is read meanwhile: to the listener's timer it looks as if nothing had come.
    await new Promise((written) => quiet.write('', written));
    execFileSync('sleep', ['1.5']);
    await device();
    expect(quiet.closed).toBe(false);
  });
});

const somaxconn = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));

describe.skipIf(somaxconn < 1_200)('while the process is busy', () => {
  test('the kernel keeps a burst of a thousand connections', async () => {
    const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity, handler: (_request, response) => void response.end() });
    const burst = `
      let connected = 0;
      const done = () => { console.log(connected); process.exit(); };
      setTimeout(done, 20_000);
      for (let count = 0; count < 1000; count++)
        require('node:net').connect(${listener.port}, '127.0.0.1', () => ++connected === 1000 && done()).on('error', () => undefined);`;
    // Not asynchronously: this process accepts nothing until the burst is over.
    expect(execFileSync(process.execPath, ['-e', burst], { encoding: 'utf8' }).trim()).toBe('1000');
    await listener.close(0);
  });
});

describe('a listener that closes', () => {
  test('serves those who were accepted before, one turn after another', async () => {
    const listener = await listenHttps({ host: '127.0.0.1', port: 0, identity, handler: (_request, response) => void response.end() });
    const burst = `
      const { request } = require('node:https');
      let answered = 0, failed = 0;
      const done = () => { if (answered + failed === 200) console.log(JSON.stringify({ answered, failed })); };
      for (let count = 0; count < 200; count++)
        request({ port: ${listener.port}, host: '127.0.0.1', rejectUnauthorized: false, agent: false }, (response) => {
          response.resume().on('end', () => (answered++, done()));
        }).on('error', () => (failed++, done())).end();`;
    const accepted = Promise.withResolvers<void>();
    let count = 0;
    listener.server.on('connection', () => ++count === 200 && accepted.resolve());
    const ended = new Promise<string>((resolve) => {
      execFile(process.execPath, ['-e', burst], (_error, output) => resolve(output.trim()));
    });
    await accepted.promise;
    await listener.close(60_000);
    expect(JSON.parse(await ended)).toEqual({ answered: 200, failed: 0 });
  });
});
