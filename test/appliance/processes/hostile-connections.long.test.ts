// What unauthenticated callers do to the ports of the daemon, serving and sealed, and what others notice of it: nothing.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectionsThatFit } from '../../../core/config/open-files.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { firstMessage } from '../../harness/tls.ts';

const path = temporaryDirectory();
const health = 'GET /v1/state/system/health HTTP/1.1\r\nhost: appliance\r\n\r\n';
/** With so many files a listener takes 300 connections. */
const files = 856;
const most = connectionsThatFit(files);

let daemon: Daemon;
let sockets: Socket[] = [];
beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data'), within: ['prlimit', `--nofile=${files}`] });
});
afterAll(() => daemon.kill());

const worker = (): number => processesBelow(daemon.pid, '/worker.')[0] as number;
const portOf = (url: string): number => Number(new URL(url).port);

function keep<T extends Socket>(socket: T): T {
  sockets.push(socket.on('error', () => undefined));
  return socket;
}
function leave(): void {
  for (const socket of sockets) socket.destroy();
  sockets = [];
}

async function outsider(port: number, says: string | Buffer): Promise<Socket> {
  const socket = keep(connectTcp(port, '127.0.0.1'));
  await once(socket, 'connect');
  socket.write(says);
  return socket;
}

async function secured(port: number, options: ConnectionOptions & { localAddress?: string } = {}): Promise<TLSSocket> {
  const socket = keep(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options } as ConnectionOptions));
  await once(socket, 'secureConnect');
  return socket;
}

/** A connection of somebody else is served: its handshake and a request. */
async function expectServed(port: number, localAddress = '127.0.0.2'): Promise<void> {
  const socket = await secured(port, { localAddress });
  const answered = once(socket, 'data');
  socket.write(health);
  expect(String(((await answered) as [Buffer])[0])).toMatch(/^HTTP\/1\.1 \d{3} /);
  socket.destroy();
}

const attacks: Readonly<Record<string, (port: number) => Promise<void>>> = {
  'connections of one octet that are reset before they are accepted': async (port) => {
    const pid = worker();
    process.kill(pid, 'SIGSTOP');
    const gone = Array.from({ length: 600 }, async () => {
      const socket = await outsider(port, Buffer.of(0x16));
      await new Promise((written) => socket.write('', written));
      socket.resetAndDestroy();
    });
    await Promise.all(gone).finally(() => process.kill(pid, 'SIGCONT'));
  },
  'more halves of a first message than there are places, all held': async (port) => {
    const half = (await firstMessage()).subarray(0, 200);
    for (let count = 0; count < most + 200; count++) await outsider(port, half);
  },
  'more whole first messages than there are places, and nothing after them': async (port) => {
    const hello = await firstMessage();
    for (let count = 0; count < most + 200; count++) await outsider(port, hello);
  },
  'more connections than there are places, each kept after one request': async (port) => {
    for (let count = 0; count < most + 50; count++) {
      const socket = await secured(port);
      const answered = once(socket, 'data');
      socket.write(health);
      await answered;
    }
  },
  'more connections than there are places, each with a request that never ends': async (port) => {
    for (let count = 0; count < most + 50; count++) {
      const socket = await secured(port);
      socket.write('POST /v1/approle-login HTTP/1.1\r\nhost: appliance\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{');
    }
  },
};

const states = ['serving', 'sealed'] as const;

describe.each(states)('%s', (state) => {
  test.skipIf(state === 'serving')('processes without keys have taken over', async () => {
    const before = worker();
    await daemon.request('POST', '/v1/state/keystore/system/seal');
    await expect.poll(() => processesBelow(daemon.pid, '/worker.').includes(before), { timeout: 60_000 }).toBe(false);
    expect(processesBelow(daemon.pid, '/worker.').length).toBe(1);
  });

  describe.each(Object.entries(attacks))('%s', (_, attack) => {
    test.each(['management', 'est'] as const)('leave the port of %s open for others, and for those who share the address', async (name) => {
      const port = portOf(name === 'est' ? daemon.estUrl : daemon.url);
      try {
        await attack(port);
        await expectServed(port);
        await expectServed(port, '127.0.0.1');
      } finally {
        leave();
      }
    });
  });
});

describe('what is known of it', () => {
  let second: Daemon;
  beforeAll(async () => {
    second = await startDaemon({ directory: path('second'), within: ['prlimit', `--nofile=${files}`], workers: 2 });
  });
  afterAll(() => second.kill());

  const seriesOf = async (name: string): Promise<ReadonlyMap<string, number>> => {
    const text = String(await second.request('GET', '/v1/state/system/metrics'));
    return new Map([...text.matchAll(new RegExp(`^${name}(\\S*) (\\S+)$`, 'gm'))].map(([, labels = '', value]) => [labels, Number(value)]));
  };

  test('connections are counted by state, and the log and a counter say that some had to go', async () => {
    const port = portOf(second.url);
    for (let count = 0; count < 20; count++) await outsider(port, '');
    await secured(port);
    await expect
      .poll(async () => (await seriesOf('keystored_connections')).get('{listener="management",state="handshake"}'))
      .toBeGreaterThanOrEqual(20);
    expect((await seriesOf('keystored_connections')).get('{listener="management",state="request"}')).toBe(1);
    expect((await seriesOf('keystored_connections_limit')).get('{listener="management"}')).toBe(2 * most);
    for (let count = 0; count < 2 * most + 200; count++) await outsider(port, '');
    const closed = async (): Promise<number | undefined> =>
      (await seriesOf('keystored_connections_closed_total')).get('{listener="management",reason="crowded"}');
    await expect.poll(closed).toBeGreaterThan(0);
    leave();
    const logs = join(path('second'), 'logs');
    expect(
      readdirSync(logs)
        .map((file) => readFileSync(join(logs, file), 'utf8'))
        .join(''),
    ).toMatch(/a listener has as many connections as it takes.*"address":"127.0.0.1"/);
  });

  test('who does not read an answer is closed, whatever else they send, and it is counted', async () => {
    const socket = await secured(portOf(second.url));
    socket.pause();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('GET /v1/openapi.json HTTP/1.1\r\nhost: appliance\r\n\r\n'.repeat(12));
    const drip = setInterval(() => socket.write('GET / HTTP/1.1\r\nhost: appliance\r\n\r\n'), 3_000);
    await closed;
    clearInterval(drip);
    await expect
      .poll(async () => (await seriesOf('keystored_connections_closed_total')).get('{listener="management",reason="unread"}'))
      .toBe(1);
  }, 120_000);

  test('no group for key exchange is offered that costs a multiple of the others', async () => {
    for (const port of [portOf(second.url), portOf(second.estUrl)]) {
      for (const group of ['X25519MLKEM768', 'X25519', 'P-256', 'P-384']) await secured(port, { ecdhCurve: group });
      for (const group of ['P-521', 'ffdhe2048', 'ffdhe3072', 'X448'])
        await expect(secured(port, { ecdhCurve: group })).rejects.toThrow(/handshake failure/i);
    }
    leave();
  });

  test('a worker that completes no handshakes is found from outside, said and replaced', async () => {
    const before = processesBelow(second.pid, '/worker.');
    const [stuck] = before as [number];
    process.kill(stuck, 'SIGSTOP');
    await expect.poll(() => processesBelow(second.pid, '/worker.').includes(stuck), { timeout: 120_000 }).toBe(false);
    await expect
      .poll(() => processesBelow(second.pid, '/worker.').filter((pid) => !before.includes(pid)).length, { timeout: 60_000 })
      .toBe(1);
    expect(second.output()).toMatch(/a worker completes no handshakes: it is replaced/);
    await expect.poll(async () => (await seriesOf('keystored_workers_replaced_total')).get(''), { timeout: 60_000 }).toBe(1);
  }, 240_000);
});
