// What an appliance hands out of keystorectl: the list with sums, whole files and ranges of them, to callers without a token.
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTls } from '../../harness/client.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const list = '/v1/keystorectl';
const publicly = { token: undefined };
/** As a package has it: the ends of the file are its own, the middle is that of Node.js. */
const own = Buffer.from('head of the file, tail of the file');
const node = readFileSync(process.execPath).subarray(1_000, 601_000);
const file = Buffer.concat([own.subarray(0, 18), node, own.subarray(18)]);
const sha256 = hash('sha256', file, 'hex');
let appliance: TestAppliance;

beforeAll(async () => {
  const downloads = path('downloads');
  mkdirSync(downloads);
  const parts = [
    { from: 'single.own', at: 0, length: 18 },
    { from: 'node', at: 1_000, length: 600_000 },
    { from: 'single.own', at: 18, length: own.length - 18 },
  ];
  const files = [
    { name: 'single', size: file.length, sha256, description: 'One file.', parts },
    { name: 'cut', size: 10, sha256, description: 'A file that the disk has lost a part of.', parts: [{ from: 'cut', at: 0, length: 10 }] },
    { name: 'large', size: 50_000_000, sha256, description: 'Much.', parts: [{ from: 'node', at: 0, length: 50_000_000 }] },
  ];
  writeFileSync(path('downloads', 'index.json'), JSON.stringify({ files }));
  writeFileSync(path('downloads', 'single.own'), own);
  writeFileSync(path('downloads', 'cut'), '0123456789');
  mkdirSync(path('appliance'));
  appliance = await startTestAppliance({ directory: path('appliance'), downloads });
});
afterAll(() => appliance.close());

test('the list has names, sizes and sums, and nothing of where the octets are', async () => {
  const { status, body } = await appliance.request('GET', list, undefined, publicly);
  expect(status).toBe(200);
  expect(body[0]).toEqual({ name: 'single', description: 'One file.', size: file.length, sha256 });
});

test('the sums are in the form of sha256sum', async () => {
  const { text, headers } = await appliance.request('GET', `${list}/SHA256SUMS`, undefined, publicly);
  expect(text.split('\n')[0]).toBe(`${sha256}  single`);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
});

test('a file is put together from its parts, with its length', async () => {
  const { status, octets, headers } = await appliance.request('GET', `${list}/single`, undefined, publicly);
  expect(status).toBe(200);
  expect(octets.equals(file)).toBe(true);
  expect(headers).toMatchObject({
    'content-length': String(file.length),
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    'content-disposition': 'attachment; filename="single"',
    etag: `"${sha256}"`,
  });
});

test('HEAD answers length and tag alone', async () => {
  const { status, octets, headers } = await appliance.request('HEAD', `${list}/single`, undefined, publicly);
  expect([status, octets.length, headers['content-length']]).toEqual([200, 0, String(file.length)]);
});

describe('a range', () => {
  test.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-25', 10, 26],
    ['bytes=17-18', 17, 19],
    ['bytes=600000-', 600_000, file.length],
    ['bytes=-20', file.length - 20, file.length],
    ['bytes=5-99999999', 5, file.length],
    ['bytes=-99999999', 0, file.length],
  ])('%s is answered with its octets', async (range, start, end) => {
    const { status, octets, headers } = await appliance.request('GET', `${list}/single`, undefined, { ...publicly, headers: { range } });
    expect(status).toBe(206);
    expect(octets.equals(file.subarray(start, end))).toBe(true);
    expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/${file.length}`);
  });

  test.each(['bytes=-', 'bytes=9-3', 'bytes=99999999-', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=-0', 'bytes=0x1-2'])(
    '%s is answered with the whole file',
    async (range) => {
      const { status, octets } = await appliance.request('GET', `${list}/single`, undefined, { ...publicly, headers: { range } });
      expect([status, octets.length]).toEqual([200, file.length]);
    },
  );

  test('of a file that is another one now is the whole file', async () => {
    const ask = async (tag: string) =>
      appliance.request('GET', `${list}/single`, undefined, { ...publicly, headers: { range: 'bytes=5-9', 'if-range': tag } });
    expect((await ask(`"${sha256}"`)).status).toBe(206);
    expect((await ask('"another"')).status).toBe(200);
  });
});

test('who has the file already is told so', async () => {
  const ask = async (tag: string) =>
    appliance.request('GET', `${list}/single`, undefined, { ...publicly, headers: { 'if-none-match': tag } });
  expect(await ask(`"old", "${sha256}"`)).toMatchObject({ status: 304, text: '' });
  expect((await ask('"old"')).status).toBe(200);
});

test('another name is 404, and the answer has the names there are', async () => {
  for (const name of ['index.json', 'single.own', '..%2f..%2fetc%2fpasswd', 'SHA256SUMS%00']) {
    const { status, body } = await appliance.request('GET', `${list}/${name}`, undefined, publicly);
    expect([404, 400]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('head of the file');
  }
  const { body } = await appliance.request('GET', `${list}/keystorectl-plan9`, undefined, publicly);
  expect(body).toMatchObject({ status: 404, code: 'not-found' });
  expect(body.detail).toContain('single, cut');
});

test('a file that has become shorter is cut off, so that nobody takes it for whole', async () => {
  truncateSync(path('downloads', 'cut'), 4);
  await expect(appliance.request('GET', `${list}/cut`, undefined, publicly)).rejects.toThrow('aborted');
});

test('an appliance from a source tree has no files, and says how they are made', async () => {
  mkdirSync(path('tree'));
  const other = await startTestAppliance({ directory: path('tree') });
  try {
    for (const target of [list, `${list}/SHA256SUMS`, `${list}/keystorectl-linux-amd64`]) {
      const { status, body } = await other.request('GET', target, undefined, publicly);
      expect(status).toBe(404);
      expect(body.detail).toContain('npm run build keystorectl');
    }
  } finally {
    await other.close();
  }
});

test('many who read slowly, or not at all, have one file open together', async () => {
  const openOnes = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === process.execPath;
      } catch {
        return false;
      }
    }).length;
  const sockets = await Promise.all(Array.from({ length: 10 }, () => openTls(new URL(appliance.url).port)));
  for (const socket of sockets) {
    socket.write(`GET ${list}/large HTTP/1.1\r\nhost: appliance\r\n\r\n`);
    await once(socket, 'data');
    socket.pause();
  }
  await expect.poll(openOnes).toBe(1);
  for (const socket of sockets) socket.destroy();
  await expect.poll(openOnes).toBe(0);
});
