// npm test -- cluster: what delays the packets of a machine does to them what it says, and leaves nothing behind.
import { spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endWithTests } from '../../../harness/children.ts';
import { mayMakeSpaces, Spaces } from './spaces.ts';

/** So many small ones fit into the buffer of a socket whose reader waits for the processor. */
const [echoPort, datagrams] = [7_007, 100];
/** Sends back what it gets, in datagrams and in a stream. */
const echo = `
  const server = require('node:dgram').createSocket('udp4').on('message', (text, { port, address }) => server.send(text, port, address));
  server.bind(${echoPort});
  require('node:net').createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(${echoPort}, () => console.log('ready'));`;

let spaces: Spaces;
let socket: Socket;

beforeAll(async () => {
  if (!mayMakeSpaces) return console.warn('SKIPPED: delayed packets, because that needs root, ip, nft and tc');
  spaces = new Spaces(1);
  const [command, ...words] = [...spaces.within(0), process.execPath, '-e', echo];
  const server = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  endWithTests(server);
  await once(server.stdout, 'data');
  socket = createSocket('udp4').bind();
  await once(socket, 'listening');
});

afterAll(() => {
  socket?.close();
  spaces?.remove();
});

/** The numbers of datagrams that come back in answer to as many as `count`, until the last one has come, and after how many ms the first. */
async function answersTo(count: number, isLast: (numbers: readonly number[]) => boolean): Promise<{ numbers: number[]; firstMs: number }> {
  const numbers: number[] = [];
  const began = performance.now();
  let firstMs = Infinity;
  const done = Promise.withResolvers<void>();
  const onMessage = (text: Buffer): void => {
    firstMs = Math.min(firstMs, performance.now() - began);
    numbers.push(Number(text.toString()));
    if (isLast(numbers)) done.resolve();
  };
  socket.on('message', onMessage);
  for (let number = 0; number < count; number++) socket.send(String(number), echoPort, spaces.address(0));
  await done.promise;
  socket.off('message', onMessage);
  return { numbers, firstMs };
}

/** Whether a stream of some megabytes comes back as it was. */
async function comesBackWhole(): Promise<boolean> {
  const stream = connect(echoPort, spaces.address(0));
  const sent = randomBytes(4_000_000);
  stream.end(sent);
  const hash = createHash('sha256');
  for await (const part of stream) hash.update(part as Buffer);
  return hash.digest('hex') === createHash('sha256').update(sent).digest('hex');
}

const interfaces = (): string => spawnSync('ip', ['-n', spaces.hub, '-o', 'link'], { encoding: 'utf8' }).stdout;

test.skipIf(!mayMakeSpaces)('datagrams come late, in their order, and each once', async () => {
  const heal = await spaces.delay(0, { leastMs: 20, mostMs: 120 });
  const all = Array.from({ length: datagrams }, (_, n) => n);
  const { numbers, firstMs } = await answersTo(datagrams, (seen) => seen.length === datagrams);
  expect(numbers).toEqual(all);
  expect(firstMs).toBeGreaterThanOrEqual(40);
  expect(await comesBackWhole()).toBe(true);
  await heal();
  expect(interfaces()).not.toContain('late-0');
  expect((await answersTo(datagrams, (seen) => seen.length === datagrams)).numbers).toEqual(all);
});

test.skipIf(!mayMakeSpaces)('delays add up; frames are doubled and lost, and streams are whole all the same', async () => {
  const [first, second] = await Promise.all([
    spaces.delay(0, { leastMs: 10, mostMs: 10, doubled: 1 }),
    spaces.delay(0, { leastMs: 15, mostMs: 30 }),
  ]);
  // Twice on the way there, and each of these on the way back.
  const { numbers, firstMs } = await answersTo(1, (seen) => seen.length === 4);
  expect(numbers).toEqual([0, 0, 0, 0]);
  expect(firstMs).toBeGreaterThanOrEqual(50);
  await first();
  const third = await spaces.delay(0, { leastMs: 0, mostMs: 5, lost: 0.02, doubled: 0.02 });
  expect(await comesBackWhole()).toBe(true);
  const heavy = await spaces.delay(0, { leastMs: 0, mostMs: 0, lost: 0.3 });
  const some = await answersTo(datagrams, (seen) => (seen.at(-1) ?? 0) > datagrams / 2);
  expect(new Set(some.numbers).size).toBeLessThan(datagrams / 2);
  await Promise.all([second(), third(), heavy()]);
  expect(interfaces()).not.toContain('late-0');
  expect(await comesBackWhole()).toBe(true);
});

test.skipIf(!mayMakeSpaces)('two narrow lines at a time end one after the other', () => {
  const [first, second] = [spaces.narrow(0, 300, 50), spaces.narrow(0, 2_000, 400)];
  first();
  second();
  expect(spaces.narrow(0, 300, 50)).not.toThrow();
});
