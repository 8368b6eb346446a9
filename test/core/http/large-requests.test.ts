// Large bodies take another way than small ones (a thread reads them, hashes are made in pieces): the answers are the same, up to the limits.
import { constants, createHash, createPublicKey, verify } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { type Answer, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const mebibyte = 1024 * 1024;
const bodyLimit = 4 * mebibyte;
const state = '/v1/state/keystore/transit-keys';
const path = temporaryDirectory();
let appliance: TestAppliance;

beforeAll(async () => {
  appliance = await startTestAppliance({ directory: path() });
  for (const [name, cipher] of Object.entries({ aes: 'aes256-gcm96', p256: 'ecdsa-p256', rsa: 'rsa-2048', ed25519: 'ed25519' })) {
    expect((await appliance.request('POST', '/v1/config/keystore/transit-keys', { name, cipher })).status).toBe(201);
  }
});

afterAll(async () => {
  await appliance.close();
});

describe('limits (api 73)', () => {
  test('a plaintext of 2 MiB comes back as it was', async () => {
    const plaintext = noise(2 * mebibyte, 1).toString('base64');
    const { ciphertext } = await done('aes/encrypt', { plaintext });
    expect(await done('aes/decrypt', { ciphertext })).toMatchObject({ plaintext });
    const { ciphertext: rewrapped } = await done('aes/rewrap', { ciphertext });
    expect(await done('aes/decrypt', { ciphertext: rewrapped })).toMatchObject({ plaintext });
  });

  test('raw text of 2 MiB with escapes and letters beyond ASCII comes back as it was', async () => {
    const plaintext = '"ä\n€\\𝄞'.repeat(140_000);
    const { ciphertext } = await done('aes/encrypt', { plaintext, 'base64-encoded': false });
    expect((await done('aes/decrypt', { ciphertext, 'base64-encoded': false })).plaintext === plaintext).toBe(true);
  });

  test('an octet more than 2 MiB is 413 payload-too-large', async () => {
    const answer = await send('aes/encrypt', { plaintext: Buffer.alloc(2 * mebibyte + 1).toString('base64') });
    expect(answer).toMatchObject({ status: 413, body: { code: 'payload-too-large' } });
  });

  test('a body of 4 MiB is read, one octet more is 413 payload-too-large', async () => {
    const body = bodyOf(bodyLimit, { plaintext: 'aGVsbG8=' });
    expect(await send('aes/hmac', body)).toMatchObject({ status: 200, body: await done('aes/hmac', { plaintext: 'aGVsbG8=' }) });
    expect(await send('aes/hmac', `${body} `)).toMatchObject({ status: 413, body: { code: 'payload-too-large' } });
  });
});

describe('data of 3 MiB', () => {
  const data = noise(3 * mebibyte - 1_000, 2);
  const text = data.toString('base64');
  const changed = Buffer.concat([data.subarray(0, -1), Buffer.of((data.at(-1) as number) ^ 1)]).toString('base64');

  test.each(['p256', 'rsa', 'ed25519'])('a signature of %s is over all of it', async (name) => {
    for (const hash of name === 'ed25519' ? [undefined] : ['sha256', 'sha512']) {
      const options = defined({ 'hash-algorithm': hash });
      const { signature } = await done(`${name}/sign`, { text, ...options });
      const octets = Buffer.from(signature.slice('store:v1:'.length), 'base64');
      const key = { key: await publicKeyOf(name), padding: constants.RSA_PKCS1_PADDING };
      expect(verify(hash, data, key, octets)).toBe(true);
      expect(await done(`${name}/verify`, { text, signature, ...options })).toMatchObject({ valid: true });
      expect(await done(`${name}/verify`, { text: changed, signature, ...options })).toMatchObject({ valid: false });
    }
  });

  test('an HMAC is over all of it', async () => {
    const { hmac } = await done('aes/hmac', { plaintext: text });
    expect(await done('aes/verify', { text, hmac })).toMatchObject({ valid: true });
    expect(await done('aes/verify', { text: changed, hmac })).toMatchObject({ valid: false });
  });

  test('several at once each get their own answer', async () => {
    const signed = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const own = noise(mebibyte, n);
        const { signature } = await done('p256/sign', { text: own.toString('base64') });
        const digest = createHash('sha256').update(own).digest('base64');
        return done('p256/verify', { text: digest, signature, prehashed: true });
      }),
    );
    expect(signed.map(({ valid }) => valid)).toEqual(Array(6).fill(true));
  });
});

describe('a large body is judged like a small one', () => {
  const bodies: Readonly<Record<string, string | Buffer>> = {
    'a member twice': '{"plaintext":"aGVsbG8=","plaintext":"aGVsbG8="}',
    'a member twice, once escaped': String.raw`{"plaintext":"aGVsbG8=","plain\u0074ext":"aGVsbG8="}`,
    'a member twice in a batch': '{"batch-input":[{"plaintext":"aGVsbG8="},{"plaintext":"","plaintext":""}]}',
    'nested too deep': `{"plaintext":${'['.repeat(40)}${']'.repeat(40)}}`,
    'octets that are not UTF-8': Buffer.from([...Buffer.from('{"plaintext":"'), 0xff, ...Buffer.from('"}')]),
    'a lone surrogate': String.raw`{"plaintext":"\ud800","base64-encoded":false}`,
    __proto__: '{"__proto__":{"plaintext":"aGVsbG8="}}',
    '__proto__ in a batch': '{"batch-input":[{"plaintext":"aGVsbG8=","__proto__":{"x":1}}]}',
    'a number out of range': '{"plaintext":"aGVsbG8=","key-version":9007199254740993}',
    'a fraction': '{"plaintext":"aGVsbG8=","key-version":1.5}',
    'a list': '["aGVsbG8="]',
    'cut short': '{"plaintext":"aGVsbG8=',
    'two values': '{"plaintext":"aGVsbG8="}{}',
    'a control character': '{"plaintext":"a\nb"}',
    'an unknown field': '{"plaintext":"aGVsbG8=","other":1}',
    'bad base64': '{"plaintext":"aGVsbG8"}',
    'white space in base64': String.raw`{"plaintext":"aGVs\nbG8="}`,
    'no subject': '{"base64-encoded":true}',
    'an empty object': '{}',
  };

  test.each(Object.entries(bodies))('%s', async (_, body) => {
    const small = await send('aes/encrypt', body);
    const large = await send('aes/encrypt', Buffer.concat([Buffer.alloc(mebibyte, ' '), Buffer.from(body)]));
    expect(small.status).toBe(400);
    expect(withoutId(large)).toEqual(withoutId(small));
  });

  test('one in chunks, of no announced length, is read as well', async () => {
    const body = bodyOf(mebibyte, { plaintext: 'aGVsbG8=' });
    const headers = { authorization: `Bearer ${appliance.rootToken}`, 'content-type': 'application/json' };
    const status = await new Promise((resolve, reject) => {
      const target = `${appliance.url}${state}/aes/encrypt`;
      const request = httpsRequest(target, { method: 'POST', headers, agent: false, rejectUnauthorized: false }, (response) =>
        response.resume().once('end', () => resolve(response.statusCode)),
      );
      request.once('error', reject).write(body.slice(0, 300_000));
      request.end(body.slice(300_000));
    });
    expect(status).toBe(200);
  });

  test('what is wrong with it is said in its place: 401, 404 and 415 come before 400 (api 55)', async () => {
    const body = bodyOf(mebibyte, {}).replace('{', '[');
    expect((await send('aes/encrypt', body, { token: undefined })).status).toBe(401);
    expect((await send('nothing/encrypt', body)).status).toBe(404);
    expect((await send('aes/encrypt', body, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect(await send('aes/encrypt', body)).toMatchObject({ status: 400, body: { code: 'invalid-json' } });
  });
});

test('a batch of 1,000 is answered in its order, failures in their places', async () => {
  const items = Array.from({ length: 1_000 }, (_, n) => ({
    plaintext: n % 7 === 3 ? 'no base64' : Buffer.from(`item ${n} ${'x'.repeat(600)}`).toString('base64'),
    reference: String(n),
  }));
  const { 'batch-results': sealed, failed } = await done('aes/encrypt', { 'batch-input': items });
  expect(failed).toBe(items.filter(({ plaintext }) => plaintext === 'no base64').length);
  expect(sealed.map(({ reference }: { reference: string }) => Number(reference))).toEqual(items.map((_, n) => n));
  const good = sealed.filter(({ ciphertext }: { ciphertext?: string }) => ciphertext !== undefined);
  const { 'batch-results': opened } = await done('aes/decrypt', {
    'batch-input': good.map(({ ciphertext }: { ciphertext: string }) => ({ ciphertext })),
  });
  expect(opened.map(({ plaintext }: { plaintext: string }) => plaintext)).toEqual(
    items.map(({ plaintext }) => plaintext).filter((plaintext) => plaintext !== 'no base64'),
  );
});

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely; a wrong field fails anyway
type Json = any;

function send(action: string, body: unknown, options: Parameters<TestAppliance['request']>[3] = {}): Promise<Answer> {
  return appliance.request('POST', `${state}/${action}`, body, options);
}

async function done(action: string, body: object): Promise<Json> {
  const answer = await send(action, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

function withoutId({ status, body }: Answer): object {
  return { status, ...(body as object), 'request-id': '' };
}

/** JSON of exactly that many octets: what is missing is white space. */
function bodyOf(octets: number, value: object): string {
  return JSON.stringify(value).padEnd(octets, ' ');
}

async function publicKeyOf(name: string): Promise<ReturnType<typeof createPublicKey>> {
  const { body } = await appliance.request('GET', `${state}/${name}`);
  return createPublicKey((body as { keys: Record<string, string> }).keys['1'] as string);
}

/** Octets that look random and are the same every time. */
function noise(bytes: number, seed: number): Buffer {
  const octets = Buffer.alloc(bytes);
  for (let at = 0, value = seed + 1; at < bytes; at += 4) {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0;
    octets.writeUInt32LE(value, Math.min(at, bytes - 4));
  }
  return octets;
}
