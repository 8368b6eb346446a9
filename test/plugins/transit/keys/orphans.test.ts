// Token objects of keys are destroyed with their records, and after a crash: the key ledger names every object that no version owns.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { encodeHex } from '../../../../core/base/bytes.ts';
import { HsmError, type KeyReference } from '../../../../hsm/api.ts';
import { KeyLedger } from '../../../../core/plugin/key-ledger.ts';
import { openTables } from '../../../../plugins/transit/records/records.ts';
import { silentLog } from '../../../harness/log.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { keyObjectLabels } from '../../../harness/token/token-objects.ts';
import { type TransitHarness, startTransitHarness } from '../harness.ts';

const path = temporaryDirectory();
const longestMakingSeconds = 900;
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(path('orphans'));
});
afterAll(() => harness.stop());

/** The key ledger of another process on the same store and token. */
function startLedger() {
  const { hsm, clock } = harness;
  const store = harness.store.prefixed('transit');
  const tables = openTables(store);
  const ledger = new KeyLedger({ store, table: tables.pendingKeys, hsm, clock, log: silentLog });
  const records = (): number => {
    store.refresh();
    return tables.pendingKeys.count([]);
  };
  return { ledger, records, store };
}

/** The same after a restart. */
function restartLedger() {
  harness.clock.advance(1);
  return startLedger();
}

async function reserve(keyId: string): Promise<KeyReference> {
  const binding = { tenant: 'some-tenant', keyId, version: 1, purpose: 'encrypt' };
  const stored = await startLedger().ledger.reserve('aes-256', binding, 'token');
  if (stored === undefined) throw new Error('a token key was not reserved');
  return { stored, binding };
}

async function make({ stored, binding }: KeyReference): Promise<void> {
  expect((await harness.hsm.generate('aes-256', binding, { reserved: stored })).stored).toEqual(stored);
}

async function objects(): Promise<string[]> {
  const pin = (harness.token.pin as { file: string }).file;
  return keyObjectLabels(harness.token, readFileSync(pin, 'utf8'));
}

describe('a crash while a token-custody key is made', () => {
  test('after the object was made, before the commit: the next start destroys it', async () => {
    await make(await reserve('made'));
    expect(await objects()).toHaveLength(1);
    const { ledger, records } = restartLedger();
    await ledger.sweep();
    expect(await objects()).toEqual([]);
    harness.clock.advance(longestMakingSeconds + 1);
    await ledger.sweep();
    expect(records()).toBe(0);
  });

  test('before the object was made: nothing stays on record', async () => {
    const { ledger, records } = startLedger();
    await reserve('never-made');
    harness.clock.advance(longestMakingSeconds + 1);
    await ledger.sweep();
    expect(records()).toBe(0);
  });

  test('another process that was still making it cannot claim it any more, and its object is destroyed', async () => {
    const late = await reserve('late');
    const { ledger, store } = restartLedger();
    await ledger.sweep();
    await make(late);
    await expect(store.write((transaction) => ledger.claim(transaction, [late]))).rejects.toMatchObject({ code: 'conflict' });
    await ledger.sweep();
    expect(await objects()).toEqual([]);
  });
});

test('a key that is being made is left alone, and claimed by its version', async () => {
  const { ledger, store } = startLedger();
  const mine = await reserve('mine');
  await make(mine);
  await ledger.sweep();
  await store.write((transaction) => ledger.claim(transaction, [mine]));
  await ledger.sweep();
  expect(await objects()).toEqual(['keystored some-tenant mine v1 encrypt']);
  await store.write((transaction) => ledger.disown(transaction, [mine]));
  await ledger.destroy([mine]);
  expect(await objects()).toEqual([]);
});

test('wrapped keys cost no record and no call', async () => {
  const binding = { tenant: 'some-tenant', keyId: 'wrapped', version: 1, purpose: 'encrypt' };
  expect(await startLedger().ledger.reserve('aes-256', binding, 'wrapped')).toBeUndefined();
});

test('create, rotate, restore and trim claim what they make and leave the token as the records say', async () => {
  const { records } = startLedger();
  const left = records();
  await harness.create('resident', { custody: 'token', cipher: 'ecdsa-p256', 'allow-plaintext-backup': true });
  await harness.do('resident', 'rotate');
  await harness.do('resident', 'rotate');
  const { key } = await harness.do('resident', 'backup');
  await harness.create('again', { custody: 'token', 'deletion-allowed': true });
  await harness.do('again', 'restore', { key });
  expect(await objects()).toHaveLength(6);
  await harness.do('again', 'trim', { version: 3 });
  expect(await objects()).toHaveLength(4);
  expect(records()).toBe(left);
  await harness.expectSound();
});

test('a version that the token failed to make is made once more, generated or imported, and one object stays', async () => {
  const before = (await objects()).length;
  const { hsm } = harness;
  const fault = new HsmError('unavailable', 'C_GenerateKey returned CKR_GENERAL_ERROR', { rv: 5, fn: 'C_GenerateKey' });
  const { generate, importKey } = { generate: hsm.generate.bind(hsm), importKey: hsm.importKey.bind(hsm) };
  // The object is made all the same.
  const generating = vi
    .spyOn(hsm, 'generate')
    .mockImplementationOnce(async (...parts) => generate(...parts).then(() => Promise.reject(fault)));
  const importing = vi
    .spyOn(hsm, 'importKey')
    .mockImplementationOnce(async (...parts) => importKey(...parts).then(() => Promise.reject(fault)));
  try {
    await harness.create('failed-once', { custody: 'token' });
    await harness.do('failed-once', 'import', { data: Buffer.alloc(32, 7).toString('base64') });
    expect(importing).toHaveBeenCalledTimes(2);
  } finally {
    generating.mockRestore();
    importing.mockRestore();
  }
  expect(await objects()).toHaveLength(before + 2);
  const { ciphertext } = await harness.do('failed-once', 'encrypt', { plaintext: 'eA==' });
  expect(await harness.do('failed-once', 'decrypt', { ciphertext })).toMatchObject({ plaintext: 'eA==' });
  await harness.expectSound();
});

test('the check finds a record that would destroy a key in use', async () => {
  await harness.create('claimed-twice', { custody: 'token' });
  const store = harness.store.prefixed('transit');
  const { pendingKeys, versions } = openTables(store);
  store.refresh();
  const [storeKey, record] =
    [...versions.entries([])].find(([, version]) => version.supersededAt === undefined && version.publicKey === undefined) ?? [];
  const stored = record?.stored;
  if (storeKey === undefined || stored === undefined) throw new Error('no such version');
  const binding = { tenant: String(storeKey[0]), keyId: String(storeKey[1]), version: Number(storeKey[2]), purpose: 'encrypt' };
  const entry = [binding.keyId, encodeHex(stored.mac)];
  await store.write((transaction) => transaction.put(pendingKeys, entry, { stored, binding }));
  store.refresh();
  expect(await harness.check()).toMatchObject([{ problem: 'names a key that a version holds' }]);
  await store.write((transaction) => transaction.delete(pendingKeys, entry));
  await harness.expectSound();
});
