// Handshakes take turns: waiting closes no connection, stalled peers delay no others, and silent peers get no turn.
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HandshakeLimits, Handshakes } from '../../../core/http/listener/handshakes.ts';
import { listenHttps } from '../../../core/http/listener/listeners.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const never = Number.POSITIVE_INFINITY;
const patient: HandshakeLimits = { turns: 1, turnMs: never, deadlineMs: never, crowdedDeadlineMs: never, mostOpen: 1_000 };

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

const takeTurns = (limits: HandshakeLimits): Handshakes => new Handshakes(server, limits);
const port = (): number => (server.address() as AddressInfo).port;

/** Connects and says this much of a handshake. Resolves when the server has accepted it. */
async function outsider(says: string): Promise<Socket> {
  const accepted = once(server, 'connection');
  const socket = connectTcp(port(), '127.0.0.1', () => socket.write(says, 'latin1'));
  socket.on('error', () => undefined).resume();
  sockets.push(socket);
  const [other] = (await accepted) as [Socket];
  if (says !== '' && other.readableLength === 0) await once(other, 'readable');
  return socket;
}

const partOfHello = '\x16\x03\x01\x02\x00\x01';

/** A whole handshake. */
function device(): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: port(), host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(socket));
    socket.once('error', reject);
    sockets.push(socket);
  });
}

/** Settled or not, once everything that can happen without it has happened: another connection was accepted and read after it. */
async function isWaiting(handshake: Promise<unknown>): Promise<boolean> {
  const settled = handshake.then(
    () => 'settled',
    () => 'settled',
  );
  for (let turn = 0; turn < 3; turn++) await outsider(partOfHello);
  return (await Promise.race([settled, Promise.resolve('waiting')])) === 'waiting';
}

describe('turns', () => {
  test('a handshake waits in line while all turns are taken, and begins when one is over', async () => {
    const handshakes = takeTurns(patient);
    const first = await outsider(partOfHello);
    const second = device();
    expect(await isWaiting(second)).toBe(true);
    first.destroy();
    expect((await second).getProtocol()).toBe('TLSv1.3');
    await expect.poll(() => handshakes.finished).toBe(1);
  });

  test('silent peers get no turn', async () => {
    takeTurns(patient);
    for (let count = 0; count < 20; count++) await outsider('');
    expect((await device()).getProtocol()).toBe('TLSv1.3');
  });

  test('a slow peer continues beside the queue and delays no others', async () => {
    takeTurns({ ...patient, turnMs: 50 });
    const stalled = await Promise.all([outsider(partOfHello), outsider(partOfHello), outsider(partOfHello)]);
    expect((await device()).getProtocol()).toBe('TLSv1.3');
    expect(stalled.map(({ closed }) => closed)).toEqual([false, false, false]);
  });

  test('each of a burst of devices is served, however small the number of turns', async () => {
    const handshakes = takeTurns({ ...patient, turns: 2 });
    await Promise.all(Array.from({ length: 150 }, () => device()));
    await expect.poll(() => handshakes.finished).toBe(150);
  });

  test('who goes away in line leaves no turn behind', async () => {
    takeTurns(patient);
    const first = await outsider(partOfHello);
    const others = await Promise.all([outsider(partOfHello), outsider(partOfHello)]);
    for (const socket of others) socket.resetAndDestroy();
    first.end();
    expect((await device()).getProtocol()).toBe('TLSv1.3');
  });
});

describe('deadlines', () => {
  test('the deadline of a handshake counts from the start of its turn: waiting closes no connection', async () => {
    takeTurns({ ...patient, deadlineMs: 600, crowdedDeadlineMs: 600 });
    const began = performance.now();
    const stalled = [await outsider(partOfHello), await outsider(partOfHello)];
    const ends = stalled.map((socket) => once(socket, 'close').then(() => performance.now() - began));
    // One after the other each had its whole time; the device, in line for both, is served.
    await device();
    expect(await ends[1]).toBeGreaterThan(1_200);
  });

  test('who says nothing in time is cut', async () => {
    takeTurns({ ...patient, deadlineMs: 50 });
    const silent = await outsider('');
    await once(silent, 'close');
    expect(silent.closed).toBe(true);
  });

  test('while more handshakes are open than there are turns, a slow peer has more time', async () => {
    takeTurns({ ...patient, turnMs: 0, deadlineMs: 50, crowdedDeadlineMs: never });
    const crowd = await Promise.all([outsider(partOfHello), outsider(''), outsider('')]);
    await device();
    for (let turn = 0; turn < 3; turn++) await new Promise((tick) => setTimeout(tick, 250));
    expect(crowd.map(({ closed }) => closed)).toEqual([false, false, false]);
    crowd[0]?.destroy();
    crowd[1]?.destroy();
    await once(crowd[2], 'close');
  });

  test('when too many are open, the oldest that says nothing goes for the one that comes', async () => {
    takeTurns({ ...patient, mostOpen: 3 });
    const silent = [await outsider(''), await outsider(''), await outsider('')];
    const cut = once(silent[0] as Socket, 'close');
    await device();
    await cut;
    expect(silent.map(({ closed }) => closed)).toEqual([true, false, false]);
  });

  test('what a peer had sent before a pause of the process is heard before it is judged', async () => {
    takeTurns({ ...patient, turns: 2, deadlineMs: 1_000 });
    const quiet = await outsider('');
    quiet.write(partOfHello, 'latin1');
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
