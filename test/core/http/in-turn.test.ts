// Requests of one connection: one at a time is worked on, few wait, and a peer that reads nothing holds one answer.
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listenHttps, type Listener } from '../../../core/http/listener/listeners.ts';
import { openTls, readAll } from '../../harness/client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const path = temporaryDirectory();
let listener: Listener;
let begun: { readonly url: string; readonly response: ServerResponse }[];

beforeAll(async () => {
  listener = await listenHttps({
    ...{ host: '127.0.0.1', port: 0, identity: selfSignedIdentity(path('.')) },
    handler: (request, response) => void begun.push({ url: request.url ?? '', response }),
  });
});
afterAll(() => listener.close(0));
beforeEach(() => {
  begun = [];
});

const get = (url: string, more = ''): string => `GET ${url} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;
const urls = (): readonly string[] => begun.map(({ url }) => url);

test('requests sent at once begin one after another and are answered in their order', async () => {
  const socket = await openTls(listener.port);
  const received = readAll(socket);
  socket.write(`${get('/1')}POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhello${get('/3', 'connection: close\r\n')}`);
  for (let number = 1; number <= 3; number++) {
    await expect.poll(urls).toHaveLength(number);
    await wait(50);
    expect(urls()).toHaveLength(number);
    begun.at(-1)?.response.end(`answer ${number}`);
  }
  expect(urls()).toEqual(['/1', '/2', '/3']);
  expect((await received).match(/answer \d/g)).toEqual(['answer 1', 'answer 2', 'answer 3']);
});

test('while an answer is not read, the next request does not begin', async () => {
  const socket = await openTls(listener.port);
  socket.pause();
  socket.write(get('/large') + get('/next'));
  await expect.poll(urls).toEqual(['/large']);
  begun[0]?.response.end(Buffer.alloc(32 << 20));
  await wait(300);
  expect(urls()).toEqual(['/large']);
  socket.resume();
  await expect.poll(urls).toEqual(['/large', '/next']);
  socket.destroy();
});

test('a connection on which more than 32 wait is closed', async () => {
  const served = await openTls(listener.port);
  served.write(get('/1').repeat(33));
  await expect.poll(urls).toHaveLength(1);
  await wait(100);
  expect(served.destroyed).toBe(false);
  served.destroy();
  begun = [];
  const closed = await openTls(listener.port);
  const received = readAll(closed);
  closed.write(get('/1').repeat(500));
  expect(await received).toBe('');
  expect(urls()).toHaveLength(1);
});

test('heads that wait are counted by the memory that they take', async () => {
  const many = (fields: number): string => Array.from({ length: fields }, (_, number) => `${number}:\r\n`).join('');
  const served = await openTls(listener.port);
  served.write(get('/1') + get('/2', many(900)));
  await expect.poll(urls).toEqual(['/1']);
  await wait(100);
  expect(served.destroyed).toBe(false);
  begun[0]?.response.end();
  await expect.poll(urls).toEqual(['/1', '/2']);
  served.write(get('/3'));
  begun[1]?.response.end();
  await expect.poll(urls).toEqual(['/1', '/2', '/3']);
  served.destroy();
  begun = [];
  const closed = await openTls(listener.port);
  const received = readAll(closed);
  closed.write(get('/1') + get('/2', many(900)) + get('/3', many(900)));
  expect(await received).toBe('');
  expect(urls()).toEqual(['/1']);
});

test('an unreadable request is answered behind those before it, which keep their answers', async () => {
  const socket = await openTls(listener.port);
  const received = readAll(socket);
  socket.write(`${get('/1')}${get('/2')}nonsense\r\n\r\n`);
  await expect.poll(urls).toEqual(['/1']);
  await wait(100);
  begun[0]?.response.write('answer');
  begun[0]?.response.end(' 1');
  await expect.poll(urls).toEqual(['/1', '/2']);
  begun[1]?.response.end('answer 2');
  const text = await received;
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
  expect(text).toContain('answer 2');
});

test('an unreadable body is no reason to write into an answer that has begun', async () => {
  const socket = await openTls(listener.port);
  const received = readAll(socket);
  socket.write('POST /1 HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  await expect.poll(urls).toEqual(['/1']);
  begun[0]?.response.write('begin');
  await wait(50);
  socket.write('nonsense\r\n');
  expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});

test('a wish for another protocol is not granted, and its answer is the last', async () => {
  const socket = await openTls(listener.port);
  const received = readAll(socket);
  socket.write(`${get('/1', 'upgrade: other\r\nconnection: upgrade\r\n')}${get('/2')}`);
  await expect.poll(urls).toEqual(['/1']);
  begun[0]?.response.end('answer 1');
  expect(await received).toMatch(/^HTTP\/1\.1 200[^]*connection: close/i);
});

test('a connection that ends in the middle leaves nothing behind', async () => {
  const gone = await openTls(listener.port);
  gone.write(get('/1').repeat(5));
  await expect.poll(urls).toHaveLength(1);
  gone.destroy();
  await expect.poll(() => listener.connections.counts).toEqual({ handshake: 0, idle: 0, request: 0 });
  expect(urls()).toHaveLength(1);
});
