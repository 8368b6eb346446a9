// A request whose key is deleted, restored or trimmed after it was found gets a refusal that says so, never an internal error.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Key, Keyring } from '../../../../plugins/transit/records/keyring.ts';
import { openTables } from '../../../../plugins/transit/records/records.ts';
import { UsageMeters } from '../../../../plugins/transit/records/usage.ts';
import { silentLog } from '../../../harness/log.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const hello = base64('hello world');
const now = 0;

/** What a running request has: the key as it was found, and the parts that read it again. */
function findInStore(name: string) {
  const store = harness.store.prefixed('transit');
  const tables = openTables(store);
  store.refresh();
  const [[[tenantId]]] = [...tables.keys.entries([])] as [[[string, string], unknown]];
  const keyring = new Keyring(tables);
  const key = keyring.find(tenantId, name) as Key;
  return { store, keyring, key, usage: new UsageMeters(store, tables, silentLog) };
}

const changes = {
  deleted: (name: string) => harness.remove(name),
  restored: async (name: string) => {
    await harness.create('source', { 'allow-plaintext-backup': true });
    await harness.do(name, 'restore', { key: (await harness.do('source', 'backup')).key });
  },
  trimmed: (name: string) => harness.do(name, 'trim', { version: 2 }),
} as const;

test.each([
  ['deleted', 'not-found'],
  ['restored', 'not-found'],
  ['trimmed', 'version-unknown'],
] as const)('a key that is %s after it was found is refused as %s', async (what, code) => {
  await harness.create(what, { 'deletion-allowed': true });
  await harness.do(what, 'rotate');
  const { store, keyring, key, usage } = findInStore(what);
  const version = keyring.forEncryption(key, 1, now);
  await changes[what](what);
  store.refresh();
  const refusal = expect.objectContaining({ code }) as Error;
  expect(() => keyring.forEncryption(key, 1, now)).toThrow(refusal);
  expect(() => keyring.forDecryption(key, 1, now)).toThrow(refusal);
  await expect(usage.take(key, version, 1, now)).rejects.toThrow(refusal);
});

test.each(['wrapped', 'token'])('a batch whose key is deleted while it runs is answered item by item: custody %s', async (custody) => {
  await harness.create(custody, { cipher: 'ecdsa-p256', custody, 'deletion-allowed': true });
  const items = Array.from({ length: 500 }, () => ({ text: hello }));
  const [batch, removal] = await Promise.all([harness.act(custody, 'sign', { 'batch-input': items }), harness.remove(custody)]);
  expect(removal.status).toBe(204);
  expect([200, 400, 404]).toContain(batch.status);
  const verdicts = (batch.body['batch-results'] ?? []).map((one: { code?: string }) => one.code ?? 'signed');
  expect(['signed', 'not-found']).toEqual(expect.arrayContaining(verdicts));
});
