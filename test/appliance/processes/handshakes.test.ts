// What a start asks of its own ports before it says that it is ready, and what is asked of them later.
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Unanswered } from '../../../appliance/processes/channel.ts';
import type { WorkerChannel } from '../../../appliance/processes/messages.ts';
import { listenerNames } from '../../../core/plugin/services/listeners.ts';
import { lookAtAll, type Looked, requireHandshakes } from '../../../appliance/processes/watch/looks.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const path = temporaryDirectory();
const [own, other] = [selfSignedIdentity(path()), selfSignedIdentity(path())];

/** A worker with these listeners. */
function worker(listeners: Readonly<Record<string, TlsOptions>>): WorkerChannel {
  const take = async (name: string, { listener }: { listener: string }, _ms: number, connection: Socket): Promise<string | number> => {
    if (name === 'handshakes') return 0;
    const options = listeners[listener];
    if (options === undefined) return 'none';
    createServer(options)
      .on('tlsClientError', (_error, socket) => socket.destroy())
      .emit('connection', connection);
    return 'taken';
  };
  return { request: take } as unknown as WorkerChannel;
}
const outcome = (...workers: WorkerChannel[]): Promise<string> =>
  requireHandshakes(workers, () => own.cert).then(
    () => 'ready',
    (error: Error) => `${error.name}: ${error.message}`,
  );

test('ports that answer with the certificate of this appliance are ready, also where there is only one', async () => {
  expect(await outcome(worker({ management: own, est: own }), worker({ management: own }))).toBe('ready');
});

test('a port that answers with the certificate of another CA is not, in any worker', async () => {
  expect(await outcome(worker({ management: own, est: own }), worker({ management: own, est: other }))).toMatch(
    /^StartRefused: the EST port does not answer TLS with the certificate of this appliance: \w+\. /,
  );
});

test('nor is one that can make no handshake', async () => {
  expect(await outcome(worker({ management: { ...own, maxVersion: 'TLSv1.2', ciphers: 'PSK-AES128-GCM-SHA256' } }))).toMatch(
    /^StartRefused: the management port does not answer TLS/,
  );
});

test('a port of plain HTTP is ready with any answer, and not without one', async () => {
  const answering = (answer: string): WorkerChannel => {
    const take = async (
      name: string,
      { listener: asked }: { listener: string },
      _ms: number,
      connection: Socket,
    ): Promise<string | number> => {
      if (name === 'handshakes' || asked !== 'enrolment-plain') return name === 'handshakes' ? 0 : 'none';
      connection.once('data', () => connection.end(answer));
      return 'taken';
    };
    return { request: take } as unknown as WorkerChannel;
  };
  expect(await outcome(answering('HTTP/1.1 404 Not Found\r\n\r\n'))).toBe('ready');
  expect(await outcome(answering(''))).toMatch(/^StartRefused: the enrolment \(HTTP\) port does not answer: it closes/);
});

test('a worker that ends meanwhile is for those who watch it to replace', async () => {
  const ended = { request: () => Promise.reject(new Unanswered('has just ended', true)) } as unknown as WorkerChannel;
  expect(await outcome(ended)).toBe('ready');
});

/** Long enough for a handshake on a busy machine. */
const quick = { everyMs: 50, patienceMs: 1_500 };
const looked = (channel: WorkerChannel): Looked => ({ channel, serves: true, misses: new Map() });
type Spoken = readonly [worker: Looked, listener: string];
/** Receives the reports; each worker is replaced at once unless it `stays`. */
const listener = (stays: (worker: Looked, times: number) => boolean = () => false) => {
  const [stuck, overloaded]: [Spoken[], Spoken[]] = [[], []];
  return {
    ...{ stuck, overloaded },
    onStuck(...spoken: Spoken) {
      stuck.push(spoken);
      return !stays(spoken[0], stuck.length);
    },
    onOverloaded: (...spoken: Spoken) => void overloaded.push(spoken),
  };
};

test('a worker that takes no connection any more, as without a free descriptor, is told after four looks', async () => {
  const dead = { request: async (_: string, { listener }: { listener: string }) => (listener === 'est' ? 'dead' : 'none') };
  const [bad, good] = [looked(dead as unknown as WorkerChannel), looked(worker({ management: own }))];
  const told = listener();
  const end = lookAtAll(() => [bad, good], told, {}, quick);
  await expect.poll(() => told.stuck.length, { timeout: 10_000 }).toBeGreaterThan(0);
  end();
  expect(told.stuck[0]).toEqual([bad, 'est']);
  expect(told.stuck.every(([one]) => one === bad)).toBe(true);
});

test.concurrent(
  'of a port that nobody accepts from each worker is named, one at a look, until it is replaced, and only when it has answered before',
  { timeout: 120_000 },
  async () => {
    const tls = createServer(own).on('tlsClientError', (_error, socket) => socket.destroy());
    let accepts = true;
    const listening = createTcpServer((socket) => (accepts ? tls.emit('connection', socket) : socket.on('error', () => undefined)));
    const silent = createTcpServer((socket) => socket.on('error', () => undefined));
    const portOf = async (server: typeof listening) => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
    };
    const ports = { management: await portOf(listening), est: await portOf(silent) };
    const workers = [looked(worker({})), looked(worker({}))];
    // The first one stays when it is asked for the first time.
    const told = listener((one, times) => one === workers[0] && times === 1);
    const end = lookAtAll(() => workers, told, ports, quick);
    await wait(500);
    accepts = false;
    await expect.poll(() => told.stuck.length, { timeout: 90_000 }).toBe(3);
    expect(told.stuck).toEqual([workers[0], ...workers].map((one) => [one, 'management']));
    await wait(3_000);
    expect(told.stuck).toHaveLength(3);
    end();
    listening.close();
    silent.close();
  },
);

test.concurrent(
  'a worker, or a port, that completes handshakes of others meanwhile is overloaded, and not stuck',
  { timeout: 120_000 },
  async () => {
    let completed = 0;
    const silent = (counts: () => number | undefined): Looked =>
      looked({ request: async (name: string) => (name === 'take' ? 'taken' : counts()) } as unknown as WorkerChannel);
    const [busy, still] = [silent(() => ++completed), silent(() => 7)];
    const accepting = createTcpServer((socket) => socket.on('error', () => undefined));
    await once(accepting.listen(0, '127.0.0.1'), 'listening');
    const told = listener(() => true);
    const port = { host: '127.0.0.1', port: (accepting.address() as AddressInfo).port };
    const end = lookAtAll(() => [busy, still], told, { management: port }, quick);
    await expect.poll(() => told.stuck.length, { timeout: 60_000 }).toBeGreaterThan(1);
    end();
    accepting.close();
    expect(told.stuck.every(([one]) => one === still)).toBe(true);
    // Once for each listener.
    expect(told.overloaded).toEqual(listenerNames.map((name) => [busy, name]));
  },
);
