// Answers to GET are compressed for clients that take it, and are the same text.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Answer } from '../../../core/http/response/answer.ts';
import { compressedFor } from '../../../core/http/response/compressed.ts';

const body = JSON.stringify(Array.from({ length: 100 }, (_, at) => ({ name: `key-${at}`, cipher: 'aes256-gcm96' })));
const list: Answer = { status: 200, mediaType: 'application/json', body, headers: { 'total-count': '100' } };
const asked = { method: 'GET', headers: { 'accept-encoding': 'gzip, deflate, br' } };

test('a list is, with its headers', () => {
  const { body: octets, headers } = compressedFor(asked, list);
  expect(headers).toEqual({ 'total-count': '100', 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect((octets as Buffer).length).toBeLessThan(body.length / 5);
  expect(gunzipSync(octets as Buffer).toString()).toBe(body);
});

test.each<readonly [string, typeof asked | { method: string; headers: Readonly<Record<string, string>> }, Answer]>([
  ['for a client that does not say so', { method: 'GET', headers: {} }, list],
  ['for a client that excludes it', { method: 'GET', headers: { 'accept-encoding': 'gzip;q=0' } }, list],
  ['for a client that takes anything', { method: 'GET', headers: { 'accept-encoding': '*' } }, list],
  ['to another method', { ...asked, method: 'POST' }, list],
  ['with an entity tag', asked, { ...list, headers: { etag: '"1"' } }],
  ['of a refusal', asked, { ...list, status: 404 }],
  ['of a short text', asked, { ...list, body: '{}' }],
  ['of more than is done at once', asked, { ...list, body: 'x'.repeat(300_000) }],
  ['of octets', asked, { ...list, body: Buffer.from(body) }],
])('an answer %s is not', (_, request, answer) => {
  expect(compressedFor(request, answer)).toBe(answer);
});
