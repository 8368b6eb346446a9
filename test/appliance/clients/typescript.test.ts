// The TypeScript client against the appliance: calls, problems, tokens, lists and batches.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Client,
  ConnectionError,
  type Credentials,
  type Key,
  Problem,
  type Transport,
} from '../../../dist/clients/typescript/src/index.ts';
import { nodeTransport } from '../../../dist/clients/typescript/src/transport/node.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

const directory = temporaryDirectory();
let appliance: TestAppliance;
let ca: string;
let root: Client;

beforeAll(async () => {
  mkdirSync(directory('appliance'));
  appliance = await startTestAppliance({ directory: directory('appliance') });
  ca = readFileSync(directory('appliance', 'tls-cert.pem'), 'utf8');
  root = new Client({ address: appliance.url, ca, credentials: { token: appliance.rootToken } });
  await root.transitKeys.create({ name: 'orders' });
  await root.transitKeys.create({ name: 'signing', cipher: 'ed25519' });
  await root.approles.create({ name: 'billing', 'token-policies': ['user'], 'token-ttl': '1h' });
});

afterAll(async () => {
  root.close();
  await appliance.close();
});

describe('operations', () => {
  test('answer the documents of the API under the names of the wire', async () => {
    const { ciphertext, 'key-version': version } = await root.transitKeys.encrypt('orders', { plaintext: 'aGVsbG8=' });
    expect({ version, prefix: ciphertext?.slice(0, 9) }).toEqual({ version: 1, prefix: 'store:v1:' });
    expect(await root.transitKeys.decrypt('orders', { ciphertext, 'base64-encoded': false })).toMatchObject({ plaintext: 'hello' });
  });

  test('a merge changes what it names and nothing else', async () => {
    await root.approles.create({ name: 'merged', 'secret-id-num-uses': 3, 'token-ttl': '2h' });
    await root.approles.merge('merged', { 'token-ttl': '3h' });
    expect(await root.approles.showConfig('merged')).toMatchObject({ 'secret-id-num-uses': 3, 'token-ttl': '3h' });
  });

  test('a change with an entity tag that is out of date is refused', async () => {
    const path = '/v1/config/keystore/transit-keys/orders';
    const { status, header } = await root.send({ method: 'GET', path, query: { fields: 'name' }, isIdempotent: true });
    const ifMatch = header('etag');
    expect({ status, hasTag: ifMatch !== undefined }).toEqual({ status: 200, hasTag: true });
    await root.transitKeys.merge('orders', { 'deletion-allowed': true }, { ifMatch });
    await expect(root.transitKeys.merge('orders', { exportable: true }, { ifMatch })).rejects.toMatchObject({ status: 412 });
  });

  test('texts and octets come as such', async () => {
    expect(await root.random(17)).toHaveLength(17);
    const lines = await Array.fromAsync(root.topics.show('system:audit-trail-log', { limit: 2 }));
    expect(lines).toHaveLength(2);
  });
});

describe('one key', () => {
  test('takes and gives octets', async () => {
    const [key, octets] = [root.key('orders'), Uint8Array.of(0, 255, 10)];
    const ciphertext = await key.encrypt(octets, { associatedData: 'row 17' });
    expect(await key.decrypt(ciphertext, { associatedData: 'row 17' })).toEqual(octets);
    expect(await key.decrypt(await key.rewrap(ciphertext, { associatedData: 'row 17' }), { associatedData: 'row 17' })).toEqual(octets);
    await expect(key.decrypt(ciphertext)).rejects.toMatchObject({ name: 'Problem', code: 'decryption-failed' });
  });

  test('signs, verifies and authenticates', async () => {
    const key = root.key('signing');
    const signature = await key.sign('a contract');
    expect(await key.verify('a contract', signature)).toBe(true);
    expect(await key.verify('another contract', signature)).toBe(false);
    const [first, second] = [await root.key('orders').hmac('text'), await root.key('orders').hmac('text')];
    expect(first).toBe(second);
  });

  test('makes data keys: the envelope pattern of the README', async () => {
    const key = root.key('orders');
    const { plaintext, ciphertext } = await key.generateDataKey();
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', plaintext, nonce);
    const sealed = Buffer.concat([cipher.update('much data'), cipher.final(), cipher.getAuthTag()]);
    const opener = createDecipheriv('aes-256-gcm', await key.decrypt(ciphertext), nonce).setAuthTag(sealed.subarray(-16));
    expect(Buffer.concat([opener.update(sealed.subarray(0, -16)), opener.final()]).toString()).toBe('much data');
  });

  test('a name that is part of a path stays one part', async () => {
    await expect(root.key('../../tokens').encrypt('x')).rejects.toBeInstanceOf(Problem);
  });
});

describe('batches', () => {
  test('2,500 items: three requests, results in order, a problem for each item that fails', async () => {
    const { client, paths } = await billing();
    const key = client.key('orders');
    const items = Array.from({ length: 2_500 }, (_, index) => ({ plaintext: `row ${index}`, reference: String(index) }));
    const sealed = await key.encryptBatch(items);
    expect({ results: sealed.length, requests: count(paths, batchPath('encrypt')) }).toEqual({ results: 2_500, requests: 3 });

    const ciphertexts = sealed.map((result, index) => {
      if (!result.ok) throw result.problem;
      return { ciphertext: index % 500 === 7 ? 'store:v1:broken' : result.value, reference: String(index) };
    });
    const opened = await key.decryptBatch(ciphertexts);
    expect(opened.map(({ reference }) => reference)).toEqual(items.map(({ reference }) => reference));
    const failed = opened.flatMap((result, index) => (result.ok ? [] : [{ index, status: result.problem.status }]));
    expect(failed).toEqual([7, 507, 1_007, 1_507, 2_007].map((index) => ({ index, status: 400 })));
    expect(opened.flatMap((result) => (result.ok ? [new TextDecoder().decode(result.value)] : [])).slice(6, 8)).toEqual(['row 6', 'row 8']);
  });

  test('a request in which every item fails ends as problems of the items', async () => {
    const { client } = await billing();
    const failed = await client.key('orders').decryptBatch([{ ciphertext: 'store:v1:broken', reference: 'a' }, { ciphertext: 'none' }]);
    expect(failed).toMatchObject([
      { ok: false, problem: { status: 400, code: 'invalid-base64' }, reference: 'a' },
      { ok: false, problem: { status: 400, code: 'invalid-format' } },
    ]);
    await expect(client.key('none').decryptBatch([{ ciphertext: 'store:v1:broken' }])).rejects.toMatchObject({ status: 404 });
  });

  test('large items: requests of at most 3 MiB; one that is too large alone fails alone', async () => {
    const { client, paths } = await billing();
    const key = client.key('orders');
    const results = await key.encryptBatch(['a', 'b', 'c', 'd'].map((letter) => ({ plaintext: letter.repeat(1_000_000) })));
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(count(paths, batchPath('encrypt'))).toBe(2);
    const mixed = await key.encryptBatch([{ plaintext: 'x' }, { plaintext: 'y'.repeat(9_000_000) }, { plaintext: 'z' }]);
    expect(mixed.map(({ ok }) => ok)).toEqual([true, false, true]);
  });

  test('each action has one', async () => {
    const [key, signing] = [root.key('orders'), root.key('signing')];
    const [signed] = await signing.signBatch([{ data: 'text' }]);
    const signature = signed?.ok === true ? signed.value : '';
    expect(
      await signing.verifyBatch([
        { data: 'text', signature },
        { data: 'other', signature },
      ]),
    ).toEqual([
      { ok: true, value: true },
      { ok: true, value: false },
    ]);
    expect(await key.hmacBatch([{ data: 'text' }])).toEqual([{ ok: true, value: await key.hmac('text') }]);
    const [rewrapped] = await key.rewrapBatch([{ ciphertext: await key.encrypt('x') }]);
    expect(rewrapped?.ok).toBe(true);
  });

  test('a request that is refused as a whole rejects', async () => {
    await expect(root.key('nowhere').encryptBatch([{ plaintext: 'x' }])).rejects.toMatchObject({ code: 'not-found' });
    expect(await root.key('nowhere').encryptBatch([])).toEqual([]);
  });

  test('a bare text or octets are items', async () => {
    const key = root.key('orders');
    const values = (results: readonly { readonly ok: boolean; readonly value?: unknown }[]): unknown[] => results.map(({ value }) => value);
    const sealed = values(await key.encryptBatch(['one', new TextEncoder().encode('two'), { plaintext: 'three' }])) as string[];
    const again = values(await Array.fromAsync(key.rewrapStream(sealed))) as string[];
    expect(values(await key.decryptBatch(again)).map((octets) => new TextDecoder().decode(octets as Uint8Array))).toEqual([
      ...['one', 'two', 'three'],
    ]);
    expect(values(await key.hmacBatch(['text']))).toEqual([await key.hmac('text')]);
    expect(values(await root.key('signing').signBatch(['text']))).toEqual([await root.key('signing').sign('text')]);
  });

  test.each<[string, string, (key: Key) => unknown]>([
    [
      'a number',
      'item 1: encrypt: an item is a text, octets or an object, not a value of type number',
      (key) => key.encryptBatch(['x', 5 as never]),
    ],
    ['an object of another action', 'item 0: ciphertext: a text, not undefined', (key) => key.rewrapBatch([{ plaintext: 'x' } as never])],
    ['octets for a ciphertext', 'item 0: ciphertext: a text, not octets', (key) => key.decryptBatch([new Uint8Array(3)])],
    ['a text to verify', 'item 0: verify: an item is an object, not a value of type string', (key) => key.verifyBatch(['x' as never])],
    ['nothing', 'item 0: hmac: an item is a text, octets or an object, not null', (key) => key.hmacBatch([null as never])],
    ['one text for all items', 'items: a list or a stream of items, not one of them', (key) => key.encryptBatch('4711')],
    ['no ciphertext for one', 'ciphertext: a text, not undefined', async (key) => key.decrypt(undefined as never)],
  ])('%s is refused before anything is sent', async (_, message, call) => {
    const { client, paths } = await billing();
    await expect(async () => call(client.key('orders'))).rejects.toThrow(new TypeError(message));
    expect(paths).toEqual([]);
  });

  test('a stream takes no more items than its requests under way have room for', async () => {
    let taken = 0;
    const items = function* (): Generator<{ plaintext: string }> {
      for (; taken < 20_000; taken += 1) yield { plaintext: String(taken) };
    };
    let first: boolean | undefined;
    for await (const { ok } of root.key('orders').encryptStream(items(), { concurrency: 2 })) {
      first = ok;
      break;
    }
    expect({ first, taken }).toEqual({ first: true, taken: 2_000 });
  });
});

describe('problems', () => {
  const anyone = (): Client => new Client({ address: appliance.url, ca });

  test.each([
    ['no token', 401, 'invalid-token', () => anyone().transitKeys.list()],
    ['a wrong token', 401, 'invalid-token', () => clientOf({ token: 'wrong' }).transitKeys.list()],
    ['not there', 404, 'not-found', () => root.transitKeys.show('nowhere')],
    ['there already', 409, 'already-exists', () => root.transitKeys.create({ name: 'orders' })],
    ['a bad value', 400, 'invalid-value', () => root.transitKeys.create({ name: 'UPPER' })],
    ['wrong credentials', 401, 'login-failed', () => clientOf({ roleId: 'no', secretId: 'no' }).transitKeys.list()],
  ])('%s', async (_, status, code, call) => {
    const error: unknown = await call().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Problem);
    const problem = error as Problem;
    expect(problem.status).toBe(status);
    expect(problem.code).toBe(code);
    expect(problem.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(problem.detail.length).toBeGreaterThan(10);
    expect(problem.message).toContain(problem.code);
  });

  test('another CA is refused before anything is sent', async () => {
    mkdirSync(directory('other'));
    const { cert } = selfSignedIdentity(directory('other'));
    const client = new Client({ address: appliance.url, ca: cert, credentials: { token: appliance.rootToken } });
    const error: unknown = await client.transitKeys.list().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as ConnectionError).mayHaveRun).toBe(false);
    expect((error as ConnectionError).message).toContain('certificate');
  });

  test('without a CA, fetch does not trust the appliance either', async () => {
    const client = new Client({ address: appliance.url, credentials: { token: appliance.rootToken }, retries: 0 });
    await expect(client.transitKeys.list()).rejects.toBeInstanceOf(ConnectionError);
  });
});

describe('tokens', () => {
  test('a login is made at the first use, once for all tasks', async () => {
    const { client, paths } = await billing();
    await Promise.all(Array.from({ length: 5 }, () => client.key('orders').encrypt('x')));
    expect(count(paths, '/v1/approle-login')).toBe(1);
  });

  test('a token is renewed when half of its life is over, once for all tasks', async () => {
    await root.approles.merge('billing', { 'token-ttl': '4s' });
    const { client, paths } = await billing();
    await client.key('orders').encrypt('x');
    const accessor = (await client.token.info({})).accessor;
    await sleep(2_100);
    const calls = Array.from({ length: 5 }, () => client.token.info({}));
    for (const { accessor: other } of await Promise.all(calls)) expect(other).toBe(accessor);
    expect(count(paths, '/v1/state/keystore/token/refresh')).toBe(1);
    expect(count(paths, '/v1/approle-login')).toBe(1);
    await root.approles.merge('billing', { 'token-ttl': '1h' });
  });

  test('a token whose longest life is reached is replaced', async () => {
    await root.approles.merge('billing', { 'token-ttl': '2s', 'token-max-ttl': '2s' });
    const { client, paths } = await billing();
    await client.key('orders').encrypt('x');
    await sleep(1_100);
    appliance.clock.advance(1);
    await client.key('orders').encrypt('x');
    expect(count(paths, '/v1/approle-login')).toBe(2);
    await root.approles.merge('billing', { 'token-ttl': '1h', 'token-max-ttl': '32d' });
  });

  test('a token that was ended is replaced once, for all tasks', async () => {
    const { client, paths } = await billing();
    const { accessor } = await client.token.info({});
    await root.token.disable({ accessor });
    await Promise.all(Array.from({ length: 5 }, () => client.key('orders').encrypt('x')));
    expect(count(paths, '/v1/approle-login')).toBe(2);
  });

  test('without an approle, a token that was ended is refused', async () => {
    const { token } = await root.token.create({ policies: ['user'], ttl: '1h' });
    const client = clientOf({ token });
    await client.key('orders').encrypt('x');
    await root.token.disable({ token });
    await expect(client.key('orders').encrypt('x')).rejects.toMatchObject({ status: 401, code: 'invalid-token' });
  });

  test('an approle that was deleted cannot log in again', async () => {
    await root.approles.create({ name: 'leaving', 'token-policies': ['user'] });
    const { client } = await clientOfApprole('leaving');
    await client.key('orders').encrypt('x');
    await root.approles.delete('leaving');
    await expect(client.key('orders').encrypt('x')).rejects.toMatchObject({ status: 401 });
  });

  test('logging out ends the token', async () => {
    const { client } = await billing();
    const { accessor } = await client.token.info({});
    await client.logOut();
    await expect(root.token.info({ accessor })).rejects.toMatchObject({ status: 404 });
  });
});

describe('options', () => {
  test.each([
    ['an address without https', { address: 'http://keystore.example' }],
    ['an address that is none', { address: 'keystore' }],
    ['no address', { address: [] }],
    ['a CA that is the name of a file', { address: 'https://localhost', ca: '/etc/ca.pem' }],
  ])('%s is refused', (_, options) => {
    expect(() => new Client(options)).toThrow(TypeError);
  });

  test('a client shows no secret when it is printed', () => {
    expect(inspect(root, { depth: 9, showHidden: false })).not.toContain(appliance.rootToken);
    expect(JSON.stringify(root)).not.toContain(appliance.rootToken);
  });
});

function clientOf(credentials: Credentials): Client {
  return new Client({ address: appliance.url, ca, credentials });
}

/** A client of the approle `billing`, and the paths of the requests that it sends. */
function billing(): Promise<{ readonly client: Client; readonly paths: readonly string[] }> {
  return clientOfApprole('billing');
}

async function clientOfApprole(name: string): Promise<{ readonly client: Client; readonly paths: readonly string[] }> {
  const { 'role-id': roleId = '' } = await root.approles.show(name);
  const { 'secret-id': secretId } = await root.approles.generateSecretId(name);
  const real = nodeTransport({ ca, connectTimeoutMs: 5_000 });
  const paths: string[] = [];
  const transport: Transport = {
    ...real,
    send(request) {
      paths.push(new URL(request.url).pathname);
      return real.send(request);
    },
  };
  return { client: new Client({ address: appliance.url, credentials: { roleId, secretId }, transport }), paths };
}

function batchPath(action: string): string {
  return `/v1/state/keystore/transit-keys/orders/${action}-batch`;
}

function count(paths: readonly string[], path: string): number {
  return paths.filter((one) => one === path).length;
}
