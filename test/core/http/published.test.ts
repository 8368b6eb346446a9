// Large texts that anybody may fetch: without compression as often as an address may, compressed always.
import { expect, test } from 'vitest';
import { Published } from '../../../core/http/description/published.ts';

const plain = (clientIp: string) => ({ headers: {}, clientIp });
const compressed = (clientIp: string) => ({ headers: { 'accept-encoding': 'gzip' }, clientIp });
const html = { 'content-type': 'text/html' };

test('a large one is sent uncompressed to an address a hundred times at once, and then as it may be kept or compressed', async () => {
  const large = new Published('x'.repeat(300_000), html);
  for (let count = 0; count < 100; count++) expect((await large.answer(plain('192.0.2.1'))).status).toBe(200);
  await expect(large.answer(plain('192.0.2.1'))).rejects.toThrow(
    expect.objectContaining({ code: 'rate-limited', message: expect.stringContaining('Accept-Encoding') }),
  );
  const { status, headers } = await large.answer(compressed('192.0.2.1'));
  expect(status).toBe(200);
  const kept = { headers: { 'if-none-match': String(headers['etag']) }, clientIp: '192.0.2.1' };
  expect((await large.answer(kept)).status).toBe(304);
  expect((await large.answer(plain('192.0.2.2'))).status).toBe(200);
});

test('many addresses get a number together', async () => {
  const large = new Published('x'.repeat(300_000), html);
  const statusOf = async (count: number): Promise<number | string> => {
    try {
      return (await large.answer(plain(`10.0.${count >> 8}.${count & 255}`))).status;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const all = await Promise.all(Array.from({ length: 300 }, (_, count) => statusOf(count)));
  expect(all.filter((status) => status === 200).length).toBeLessThan(210);
  expect(all.at(-1)).toBe('rate-limited');
});

test('a small one is sent as often as it is asked for', async () => {
  const small = new Published('x'.repeat(1_000), html);
  for (let count = 0; count < 1_000; count++) expect((await small.answer(plain('192.0.2.1'))).status).toBe(200);
});
