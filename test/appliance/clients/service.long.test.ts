// The clients against daemons as users run them: one dead, one sealed, one well; many items; tokens that end on the way.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientsDirectory } from '../../../appliance/clients/provide.ts';
import { Client, Problem } from '../../../dist/clients/typescript/src/index.ts';
import { endWithTests } from '../../harness/children.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { collectGarbage } from '../../harness/garbage.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const directory = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
let [sealed, well]: [Daemon?, Daemon?] = [];
let deadUrl: string;

beforeAll(async () => {
  // Both are copies of one appliance, as restored backups are: same CA, same root token.
  [sealed, well] = await Promise.all([
    startDaemon({ directory: directory('sealed') }),
    startDaemon({ directory: directory('well'), workers: 2 }),
  ]);
  await sealed.request('POST', '/v1/state/keystore/system/seal');
  deadUrl = `https://127.0.0.1:${await freePort()}`;
  const client = clientOf([daemon().url]);
  await client.transitKeys.create({ name: 'orders' });
  await client.approles.create({ name: 'billing', 'token-policies': ['user'], 'token-ttl': '6s', 'token-max-ttl': '10s' });
  client.close();
});

afterAll(async () => {
  await Promise.all([sealed?.stop(), well?.stop()]);
});

function daemon(): Daemon {
  if (well === undefined) throw new Error('no daemon');
  return well;
}

function clientOf(addresses: readonly string[], credentials = { token: daemon().rootToken }): Client {
  return new Client({ address: addresses, ca: daemon().caPem, credentials });
}

test('an address that is dead and one that is sealed are passed over', async () => {
  const client = clientOf([deadUrl, sealed?.url ?? '', daemon().url]);
  const ciphertext = await client.key('orders').encrypt('4711');
  expect(new TextDecoder().decode(await client.key('orders').decrypt(ciphertext))).toBe('4711');
  client.close();
});

test('where all are sealed or dead, the refusal says so', async () => {
  const client = new Client({
    address: [deadUrl, sealed?.url ?? ''],
    ca: daemon().caPem,
    credentials: { token: daemon().rootToken },
    retries: 0,
  });
  const error: unknown = await client
    .key('orders')
    .encrypt('x')
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Problem);
  expect(error).toMatchObject({ status: 503, code: 'sealed' });
  client.close();
});

test('100,000 items in bounded memory, while tokens end on the way', async () => {
  const admin = clientOf([daemon().url]);
  const { 'role-id': roleId = '' } = await admin.approles.show('billing');
  const { 'secret-id': secretId } = await admin.approles.generateSecretId('billing');
  const client = new Client({ address: daemon().url, ca: daemon().caPem, credentials: { roleId, secretId } });
  const [total, payload] = [100_000, 'x'.repeat(1_000)];
  let [taken, given, mostAhead, mostHeap] = [0, 0, 0, 0];
  let ended: string | undefined;
  const items = function* (): Generator<{ plaintext: string; reference: string }> {
    for (; taken < total; taken += 1) yield { plaintext: payload, reference: String(taken) };
  };
  for await (const result of client.key('orders').encryptStream(items(), { concurrency: 3 })) {
    if (!result.ok || result.reference !== String(given)) throw new Error(`item ${given} has the result ${JSON.stringify(result)}`);
    given += 1;
    mostAhead = Math.max(mostAhead, taken - given);
    if (given % 5_000 === 0) {
      collectGarbage();
      mostHeap = Math.max(mostHeap, process.memoryUsage().heapUsed);
    }
    // Half-way somebody ends the token.
    if (given === total / 2) ended = await endTokenOf(client, admin);
  }
  expect(given).toBe(total);
  expect((await client.token.info()).accessor).not.toBe(ended);
  expect(mostAhead).toBeLessThanOrEqual(3_001);
  // All plaintexts and ciphertexts together are 250 MB.
  expect(mostHeap).toBeLessThan(150 << 20);
  await Promise.all([client.logOut(), Promise.resolve(admin.close())]);
});

/** Ends the token that the client uses and returns its accessor. A token that ends by itself in between is not found: then the next one. */
async function endTokenOf(client: Client, admin: Client): Promise<string> {
  for (;;) {
    const { accessor } = await client.token.info();
    try {
      await admin.token.disable({ accessor });
      return accessor;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    }
  }
}

test('the Python client does the same', async () => {
  const child = spawn('python3', ['-B', '-W', 'error', '-m', 'unittest', 'service'], {
    cwd: join(root, 'test/appliance/clients/python'),
    env: {
      ...process.env,
      PYTHONPATH: join(clientsDirectory, 'python/src'),
      KEYSTORED_DEAD: deadUrl,
      KEYSTORED_SEALED: sealed?.url,
      KEYSTORED_URL: daemon().url,
      KEYSTORED_CA: daemon().caPem,
      KEYSTORED_TOKEN: daemon().rootToken,
    },
    stdio: ['ignore', 'inherit', 'pipe'],
    detached: true,
  });
  endWithTests(child);
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const report = await text(child.stderr);
  expect({ code: await ended, report }).toEqual({ code: 0, report: expect.stringContaining('\nOK\n') as unknown });
});
