// keystorectl kms: Kubernetes' KMS v2 over a Unix socket against a real appliance, by a client of gRPC.
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFields, writeFields } from '../../../appliance/cli/kms/protobuf.ts';
import { serverOf } from '../../../appliance/cli/kms/grpc.ts';
import { kmsMethods } from '../../../appliance/cli/kms/service.ts';
import { LastingClient } from '../../../appliance/cli/lasting/client.ts';
import { Notices } from '../../../appliance/cli/lasting/notices.ts';
import { runKeystorectl } from '../../../appliance/cli/main.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { framed, KmsClient, textOf } from '../../harness/kms-client.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const server = path('kms.sock');
let appliance: TestAppliance;
let client: LastingClient;
let http2: ReturnType<typeof serverOf>;
let kms: KmsClient;
const stderr = new PassThrough();

beforeAll(async () => {
  mkdirSync(path('appliance'));
  appliance = await startTestAppliance({ directory: path('appliance') });
  writeFileSync(path('token'), appliance.rootToken);
  await must('POST', '/v1/config/keystore/transit-keys', { name: 'etcd', 'deletion-allowed': true });
  const io = { environment: { HOME: path('home') }, stdin: new PassThrough(), stdout: new PassThrough(), stderr };
  const connection = { url: appliance.url, ca: path('appliance', 'tls-cert.pem'), tokenFile: path('token') };
  client = new LastingClient({ connection, io, userAgent: 'test', timeoutMs: 10_000, atOnce: 4 });
  http2 = serverOf(kmsMethods('etcd', client, new Notices(io, 'keystorectl kms')));
  await new Promise<void>((done) => http2.listen(server, done));
  kms = new KmsClient(server);
});
afterAll(async () => {
  kms.end();
  http2.close();
  client.close();
  await appliance.close();
});

async function must(method: string, target: string, body?: unknown): Promise<unknown> {
  const { status, body: answer } = await appliance.request(method, target, body);
  if (status >= 400) throw new Error(`${method} ${target}: ${status} ${JSON.stringify(answer)}`);
  return answer;
}

const call = (...asked: Parameters<KmsClient['call']>) => kms.call(...asked);
const send = (...asked: Parameters<KmsClient['send']>) => kms.send(...asked);
const status = () => kms.status();

test('Status is ok with name and version of the key; what Encrypt makes under it is decrypted, after a rotation as well', async () => {
  expect(await status()).toEqual(['v2', 'ok', 'etcd:1']);
  const seed = Buffer.alloc(32, 7);
  const first = await call('Encrypt', { 1: seed, 2: 'a uid' });
  expect([first.status, textOf(first, 2)]).toEqual([0, 'etcd:1']);
  expect(textOf(first, 1)).toMatch(/^store:v1:/);
  await must('POST', '/v1/state/keystore/transit-keys/etcd/rotate', {});
  // The API server uses no ciphertext of another version than Status has told.
  expect(textOf(await call('Encrypt', { 1: seed }), 2)).toBe('etcd:1');
  expect(await status()).toEqual(['v2', 'ok', 'etcd:2']);
  const second = await call('Encrypt', { 1: seed });
  expect(textOf(second, 2)).toBe('etcd:2');
  for (const { fields } of [first, second])
    expect((await call('Decrypt', { 1: fields.get(1) ?? '', 3: 'etcd:1' })).fields.get(1)).toEqual(seed);
});

test('a minimum version above the one that Status has told does not end Encrypt', async () => {
  await must('POST', '/v1/state/keystore/transit-keys/etcd/rotate', {});
  await must('PATCH', '/v1/config/keystore/transit-keys/etcd', { 'min-encryption-version': 3 });
  expect(textOf(await call('Encrypt', { 1: Buffer.alloc(32) }), 2)).toBe('etcd:3');
  expect(await status()).toEqual(['v2', 'ok', 'etcd:3']);
});

test('Status fails and says why: a policy that allows encrypt alone would cost the API server its next start', async () => {
  const only = (action: string) => ({ path: `/v1/state/keystore/transit-keys/etcd/${action}`, operations: { execute: 'allow' } });
  await must('POST', '/v1/config/policy/policies', { name: 'half', 'rest-api': { rules: [only('encrypt')] } });
  const { token } = (await must('POST', '/v1/state/keystore/token/create', { policies: ['half'] })) as { token: string };
  writeFileSync(path('token'), token);
  client.close();
  const unhealthy = await call('Status');
  // No key_id: the API server would go on under it.
  expect([unhealthy.status, unhealthy.fields.size]).toEqual([7, 0]);
  expect(unhealthy.message).toMatch(/^the key etcd cannot be used: 403/);
  const refused = await call('Decrypt', { 1: 'store:v3:AAAA' });
  expect([refused.status, refused.message]).toEqual([7, expect.stringContaining('403') as unknown]);
  writeFileSync(path('token'), appliance.rootToken);
  client.close();
  expect(await status()).toEqual(['v2', 'ok', 'etcd:3']);
});

test('a ciphertext of another key, and what is not a message, are refused with a status, and the next call is served', async () => {
  expect((await call('Decrypt', { 1: 'store:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' })).status).toBe(3);
  expect((await call('Decrypt')).status).toBe(3);
  expect((await call('Rotate')).status).toBe(12);
  expect((await send('Status', Buffer.alloc(3))).status).toBe(3);
  expect((await send('Status', Buffer.of(1, 0, 0, 0, 0))).status).toBe(12);
  expect((await send('Encrypt', framed(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])))).status).toBe(3);
  expect((await send('Encrypt', framed(Buffer.alloc(70_000)))).status).toBe(8);
  expect((await send('Status', framed(Buffer.alloc(0)), { 'content-type': 'text/plain' })).status).toBe(12);
  expect(await status()).toEqual(['v2', 'ok', 'etcd:3']);
});

test('a hundred API servers that start at once are told one version', async () => {
  const told = await Promise.all(Array.from({ length: 100 }, status));
  expect(new Set(told.map((one) => one.join(' ')))).toEqual(new Set(['v2 ok etcd:3']));
  const made = await Promise.all(Array.from({ length: 100 }, () => call('Encrypt', { 1: Buffer.alloc(32, 1) })));
  expect(new Set(made.map((one) => textOf(one, 2)))).toEqual(new Set(['etcd:3']));
});

test('messages come back as they were written, others are refused, and no octets are more than that', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.integer({ min: 1, max: 5_000 }).map(String), fc.uint8Array({ minLength: 1, maxLength: 300 })),
      (fields) => {
        const read = readFields(writeFields(fields));
        return Object.entries(fields).every(([field, value]) => read.get(Number(field))?.equals(value) === true);
      },
    ),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => {
      try {
        return [...readFields(Buffer.from(octets)).values()].every((value) => value.length <= octets.length);
      } catch (error) {
        return error instanceof RangeError;
      }
    }),
  );
});

test('the command serves a socket for its user alone until it is ended, replaces the socket of one that was killed, and no other file', async () => {
  const run = (socket: string, ...words: string[]) => {
    const said = new PassThrough();
    const environment = { HOME: path('home'), KEYSTORED_URL: appliance.url, KEYSTORED_CA: path('appliance', 'tls-cert.pem') };
    const io = { environment, stdin: new PassThrough(), stdout: new PassThrough(), stderr: said };
    return { said, code: runKeystorectl(['kms', '--socket', socket, '--key', 'etcd', ...words], io) };
  };
  const own = path('own.sock');
  for (const mode of [0o600, 0o660]) {
    const { said, code } = run(own, '--mode', mode.toString(8));
    await new Promise((listening) => said.once('data', listening));
    expect(statSync(own).mode & 0o777).toBe(mode);
    const second = run(own);
    expect(await second.code).toBe(5);
    expect(String(second.said.read())).toContain('is in use by another process');
    process.emit('SIGTERM');
    expect(await code).toBe(0);
    expect(statSync(own, { throwIfNoEntry: false })).toBeUndefined();
  }
  writeFileSync(path('file'), 'kept');
  const refused = run(path('file'));
  expect(await refused.code).toBe(1);
  expect(String(refused.said.read())).toContain('is a file, and not a socket');
});
