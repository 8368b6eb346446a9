// Sending to S3 storage: signatures as published, parts, repetitions, and what a person is told when the store refuses.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { S3Target } from '../../../core/config/backup.ts';
import { putToS3 } from '../../../appliance/backup/targets/s3.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { expectedSignature, sha256 } from './sigv4.ts';

const path = temporaryDirectory();
const limits = { partBytes: 1_000, silenceMs: 500, pauseMs: 5 };
let server: Server | undefined;

beforeAll(() => writeFileSync(path('secret'), 'secret\n'));
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test('the signature that a store expects is that of the published example (PUT object)', () => {
  const headers = {
    host: 'examplebucket.s3.amazonaws.com',
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': sha256('Welcome to Amazon S3.'),
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=',
  };
  expect(expectedSignature({ method: 'PUT', url: '/test%24file.text', headers }, 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY')).toBe(
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
});

type Seen = { readonly method: string; readonly url: string; readonly body: Buffer; readonly headers: IncomingMessage['headers'] };

/** A store that answers as it is told; `seen` has the requests. */
async function storeThat(
  answer: (seen: Seen, response: ServerResponse) => void,
  prefix = 'a/',
): Promise<{ send(bytes: number): Promise<Buffer>; seen: Seen[] }> {
  const seen: Seen[] = [];
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', body: Buffer.concat(pieces), headers: request.headers };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const target: S3Target = {
    kind: 's3',
    ...{ endpoint: `http://127.0.0.1:${port}`, region: 'here', bucket: 'plant', prefix },
    ...{ accessKeyId: 'id', secretAccessKeyFile: path('secret') },
  };
  return {
    seen,
    async send(bytes) {
      const content = randomBytes(bytes);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes; at += 300) yield content.subarray(at, at + 300);
      }
      await putToS3(target, { name: 'b.tar.age', prefix: 'b', bytes, pieces: pieces() }, new AbortController().signal, limits);
      return content;
    },
  };
}

const good = ({ url }: Seen, response: ServerResponse): void => {
  const upload = '<InitiateMultipartUploadResult><UploadId>u&amp;1</UploadId></InitiateMultipartUploadResult>';
  response.setHeader('etag', '"tag"');
  response.end(url.includes('uploads=') ? upload : '<Ok/>');
};

test.each(['', 'a/', "with blank/+plus/(1)!'*~$&=@:,;/100 %/ä/"])(
  'every request under %j is signed, its host and its content as well',
  async (prefix) => {
    const store = await storeThat(good, prefix);
    await store.send(2_500);
    expect(store.seen).toHaveLength(5);
    for (const seen of store.seen) {
      const [, signed, signature] =
        /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/here\/s3\/aws4_request, ?SignedHeaders=([^,]*), ?Signature=(.*)$/.exec(
          seen.headers.authorization ?? '',
        ) ?? [];
      expect(signed?.split(';')).toEqual(expect.arrayContaining(['content-md5', 'host', 'x-amz-content-sha256', 'x-amz-date']));
      expect(seen.headers['x-amz-content-sha256']).toBe(sha256(seen.body));
      expect(signature).toBe(expectedSignature(seen, 'secret'));
      expect(decodeURIComponent(seen.url.split('?')[0] ?? '')).toBe(`/plant/${prefix}b.tar.age`);
    }
  },
);

test('a small file goes in one request, with its digest', async () => {
  const store = await storeThat(good);
  const content = await store.send(999);
  expect(store.seen).toHaveLength(1);
  expect(store.seen[0]).toMatchObject({ method: 'PUT', url: '/plant/a/b.tar.age', body: content });
  expect(store.seen[0]?.headers['content-md5']).toBe(createHash('md5').update(content).digest('base64'));
});

test.each([1_001, 2_000, 3_500])('a file of %i octets goes in parts that become one object', async (bytes) => {
  const store = await storeThat(good);
  const content = await store.send(bytes);
  const parts = store.seen.filter(({ url }) => url.includes('partNumber='));
  expect(parts.map(({ url }) => url)).toEqual(parts.map((_, index) => `/plant/a/b.tar.age?partNumber=${index + 1}&uploadId=u%261`));
  expect(Buffer.concat(parts.map(({ body }) => body))).toEqual(content);
  expect(store.seen.at(-1)).toMatchObject({ method: 'POST', url: '/plant/a/b.tar.age?uploadId=u%261' });
  expect(
    store.seen
      .at(-1)
      ?.body.toString()
      .match(/<PartNumber>/g),
  ).toHaveLength(parts.length);
});

test('a part that failed is repeated, alone', async () => {
  let cuts = 0;
  const store = await storeThat((seen, response) => {
    if (!seen.url.includes('partNumber=2') || cuts === 2) return good(seen, response);
    if (cuts++ === 0) response.writeHead(503).end();
    else response.destroy();
  });
  await store.send(2_500);
  expect(store.seen.filter(({ url }) => url.includes('partNumber='))).toHaveLength(5);
});

test('an upload that cannot go on is abandoned at the store, and so is one that the store refuses at the end', async () => {
  const failing = await storeThat((seen, response) =>
    seen.url.includes('partNumber=2') ? response.writeHead(500).end() : good(seen, response),
  );
  await expect(failing.send(2_500)).rejects.toThrow(/the store answers 500/);
  expect(failing.seen.at(-1)).toMatchObject({ method: 'DELETE', url: '/plant/a/b.tar.age?uploadId=u%261' });
  server?.close();
  const late = await storeThat((seen, response) =>
    seen.method === 'POST' && seen.url.includes('uploadId')
      ? response.end('<Error><Code>InternalError</Code></Error>')
      : good(seen, response),
  );
  await expect(late.send(2_500)).rejects.toThrow(/InternalError/);
});

test.each([
  [403, 'RequestTimeTooSkewed', /set the clock/],
  [403, 'AccessDenied', /the right to put objects/],
  [403, 'SignatureDoesNotMatch', /correct secret-access-key-file/],
  [404, 'NoSuchBucket', /does not exist/],
  [301, 'PermanentRedirect', /another region/],
  [400, 'AuthorizationHeaderMalformed', /names the region there.*correct region/],
  [507, 'QuotaExceeded', /no room left/],
  [418, 'Teapot', /short and stout/],
])('%i %s is told with what to mend, and not repeated below 500', async (status, code, told) => {
  const text = `<Error><Code>${code}</Code><Message>short and stout</Message><Region>there</Region></Error>`;
  const store = await storeThat((_seen, response) => response.writeHead(status).end(text));
  await expect(store.send(10)).rejects.toThrow(told);
  expect(store.seen).toHaveLength(status < 500 ? 1 : 3);
});

test('a store that hangs is given up, and one that answers without end is not read into memory', async () => {
  const hanging = await storeThat(() => undefined);
  await expect(hanging.send(10)).rejects.toThrow(/says nothing for 0.5 seconds/);
  server?.closeAllConnections();
  const endless = await storeThat((_seen, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536, 0x61)));
      response.once('drain', more);
    };
    response.writeHead(403);
    more();
  });
  await expect(endless.send(10)).rejects.toThrow(/the store answers 403/);
});
