// A file for everybody: the coding that a client prefers, its tag, and 304 for a copy that is still the present one.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Reply } from '../../../core/http/endpoint.ts';
import { StaticFile } from '../../../core/http/pages/static-file.ts';

const text = 'the same text '.repeat(100);
const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'no-cache' };
const file = new StaticFile(Buffer.from(text), headers, ['br', 'gzip']);
const ask = (asked: Readonly<Record<string, string>>, of = file): Promise<Reply> => of.answer({ headers: asked });

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate, BR', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.1, GZIP', 'gzip'],
  ['gzip;q=0.1, br;q=0.2', 'br'],
  ['gzip;q=0', undefined],
  ['gzip;q=0, br;q=0, *', undefined],
  ['gzip;q=0, *;q=0.5', 'br'],
  ['gzip;q=x', undefined],
])('Accept-Encoding: %s is answered with %s', async (accepted, coding) => {
  const { status, body, headers: answered } = await ask(accepted === undefined ? {} : { 'accept-encoding': accepted });
  expect(answered).toMatchObject({ ...headers, vary: 'accept-encoding' });
  expect([status, answered['content-encoding']]).toEqual([200, coding]);
  const decode = { br: brotliDecompressSync, gzip: gunzipSync } as const;
  const octets = body as Uint8Array;
  expect(Buffer.from(coding === undefined ? octets : decode[coding as 'br'](octets)).toString()).toBe(text);
});

test('a coding that is not offered is not sent', async () => {
  const compressed = new StaticFile(Buffer.from(text), headers, ['gzip']);
  expect((await ask({ 'accept-encoding': 'br' }, compressed)).headers['content-encoding']).toBeUndefined();
});

describe('the copy of a client', async () => {
  const { etag = '' } = (await ask({})).headers as { etag?: string };

  test.each([etag, etag.slice(2), `"other", ${etag}`, '*', ` ${etag} `])('%s is the present one', async (tag) => {
    const { status, body, headers: answered } = await ask({ 'if-none-match': tag, 'accept-encoding': 'gzip' });
    expect([status, body]).toEqual([304, undefined]);
    expect(answered).toMatchObject({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    expect(answered['content-encoding']).toBeUndefined();
  });

  test.each(['"other"', 'W/"other"', '', etag.slice(3), `"${etag}"`])('%s is another one', async (tag) => {
    expect((await ask({ 'if-none-match': tag })).status).toBe(200);
  });
});
