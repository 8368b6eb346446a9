// A body in chunks of one octet: it is read as it is, and kept in pieces, not in an object for each octet.
import { PassThrough } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { type Admit, admitAny, type Body, readBody } from '../../../core/http/request/body.ts';

/** Reads a body that comes in these chunks. */
async function read(chunks: readonly Buffer[]): Promise<Body> {
  const request = Object.assign(new PassThrough(), { headers: { 'transfer-encoding': 'chunked' } });
  const whole = new Promise<Body>((resolve) => readBody(request as unknown as IncomingMessage, 1 << 22, admitAny, resolve));
  for (const chunk of chunks) request.write(chunk);
  request.end();
  return whole;
}

test.each([
  ['of one octet', Array.from({ length: 1_000 }, (_, index) => Buffer.of(index & 0xff))],
  ['of sixteen octets', Array.from({ length: 4_000 }, (_, index) => Buffer.alloc(16, index & 0xff))],
  ['small and large in turn', Array.from({ length: 200 }, (_, index) => Buffer.alloc(index % 3 === 0 ? 9_000 : 7, index & 0xff))],
  ['a single one', [Buffer.alloc(40_000, 7)]],
  ['small ones that fill a piece exactly', Array.from({ length: 17 }, (_, index) => Buffer.alloc(1_024, index))],
])('chunks %s come out in order', async (_, chunks) => {
  const body = await read(chunks);
  expect(body).toBeInstanceOf(Uint8Array);
  expect(Buffer.compare(body as Uint8Array, Buffer.concat(chunks))).toBe(0);
});

test('what is more than 16 KiB asks for room, from any caller', async () => {
  const asked: number[] = [];
  for (const length of [16_384, 16_385, 65_000]) {
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': String(length) } });
    const admit: Admit = (body) => {
      asked.push(body.octets);
      return admitAny(body);
    };
    const whole = new Promise<Body>((resolve) => readBody(request as unknown as IncomingMessage, 65_536, admit, resolve));
    request.end(Buffer.alloc(length));
    expect(await whole).toHaveLength(length);
  }
  expect(asked).toEqual([16_385, 65_000]);
});

test('those of a body that was refused before are counted, too', async () => {
  let isClosed = false;
  const socket = { destroy: () => void (isClosed = true) };
  const request = Object.assign(new PassThrough(), { headers: { 'transfer-encoding': 'chunked' }, socket });
  const whole = new Promise<Body>((resolve) => readBody(request as unknown as IncomingMessage, 100, admitAny, resolve));
  request.write(Buffer.alloc(101));
  expect(await whole).toBe('too-large');
  for (let count = 0; count < 60_000; count++) request.write(Buffer.of(1));
  await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
});

test('a body in thousands of chunks of one octet is refused, read no further, and its connection closed a moment later', async () => {
  let isClosed = false;
  const socket = { destroy: () => void (isClosed = true) };
  const request = Object.assign(new PassThrough(), { headers: { 'transfer-encoding': 'chunked' }, socket });
  let read = 0;
  const whole = new Promise<Body>((resolve) => readBody(request as unknown as IncomingMessage, 1 << 22, admitAny, resolve));
  request.on('data', () => void read++);
  for (let count = 0; count < 60_000; count++) request.write(Buffer.of(1));
  expect(await whole).toBe('in-crumbs');
  await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  expect(read).toBeLessThan(1_100);
});
