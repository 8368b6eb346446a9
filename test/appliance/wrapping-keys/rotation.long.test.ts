// The wrapping key is rotated while everything runs: every kind of key goes along, nothing waits, a cut is mended, the old key goes last.
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { wrappingTable } from '../../../appliance/wrapping-keys/record.ts';
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import type { StoredKey } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import openpgp from '../../../plugins/openpgp/index.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import { openTables, type VersionRecord } from '../../../plugins/transit/records/records.ts';
import { testHsmConfig } from '../../harness/token/softhsm.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type TransitHarness, startTransitHarness } from '../../plugins/transit/harness.ts';

// Each starts the appliance again, some twice.
const path = temporaryDirectory();
const rotatePath = '/v1/state/system/rotate-wrapping-key';
const text = Buffer.from('a text').toString('base64');
let number = 0;
let harness: TransitHarness;

beforeEach(async () => {
  harness = await startTransitHarness(path(`harness-${++number}`), { plugins: [openpgp] });
});

afterEach(async () => {
  await harness.expectSound();
  await harness.stop();
});

const rotate = (body: object = {}) => harness.request('POST', rotatePath, body);
const rewrapping = (signal = new AbortController().signal) => harness.jobs.find(({ name }) => name === 'rewrapping')?.run(signal);
const wrappingKey = async () => (await harness.request('GET', '/v1/state/system/hsm')).body.tokens[0]['wrapping-key'];

/** Until the first key was rewrapped; checks at every turn of the event loop, so that nothing else has happened since. */
async function untilOneIsDone(): Promise<void> {
  const table = wrappingTable(harness.store);
  for (; (table.get(['main'])?.done ?? 0) === 0; harness.store.refresh()) await setImmediate();
}

const health = async () => (await harness.request('GET', '/v1/state/system/health')).body;
const ends = () => harness.records().filter(({ kind, path: at }) => kind === 'rotation' && at === rotatePath);

/** Stops the appliance and starts it again: new token processes, nothing remembered. */
async function restart(): Promise<void> {
  await harness.stop();
  harness = await startTransitHarness(harness.directory, { plugins: [openpgp], token: harness.token, rootToken: harness.rootToken });
}

/** Keys of every sort; answers what proves that each is still what it was. The key for imports takes seconds to make. */
async function makeKeys(parts: { importKey?: true } = {}): Promise<() => Promise<void>> {
  await harness.create('plain', { exportable: true });
  await harness.create('derived', { derived: true, 'convergent-encryption': true });
  await harness.create('held', { custody: 'token' });
  for (const cipher of ['rsa-2048', 'ecdsa-p256', 'ed25519']) await harness.create(cipher, { cipher, exportable: true });
  await harness.create('pgp', { cipher: 'ed25519', 'openpgp-user-id': 'A <a@example.org>' });
  const { ciphertext } = await harness.do('plain', 'encrypt', { plaintext: text });
  for (let round = 0; round < 3; round++) await harness.do('plain', 'rotate');
  await harness.patch('plain', { 'min-encryption-version': 4 });
  const context = Buffer.from('context').toString('base64');
  const derived = await harness.do('derived', 'encrypt', { plaintext: text, context });
  const mac = await harness.do('plain', 'hmac', { plaintext: text });
  const held = await harness.do('held', 'encrypt', { plaintext: text });
  const material = await harness.do('plain', 'export', { version: 'latest' });
  const importKey = parts.importKey === true ? await harness.request('GET', '/v1/state/keystore/wrapping-key') : undefined;
  return async () => {
    expect((await harness.do('plain', 'decrypt', { ciphertext })).plaintext).toBe(text);
    expect((await harness.do('derived', 'decrypt', { ciphertext: derived.ciphertext, context })).plaintext).toBe(text);
    expect(await harness.do('derived', 'encrypt', { plaintext: text, context })).toEqual(derived);
    expect(await harness.do('plain', 'hmac', { plaintext: text })).toEqual(mac);
    expect((await harness.do('held', 'decrypt', { ciphertext: held.ciphertext })).plaintext).toBe(text);
    expect(await harness.do('plain', 'export', { version: 'latest' })).toEqual(material);
    for (const name of ['rsa-2048', 'ecdsa-p256', 'ed25519']) {
      const { signature } = await harness.do(name, 'sign', { text });
      expect(await harness.do(name, 'verify', { text, signature })).toMatchObject({ valid: true });
    }
    const { signature } = await harness.do('pgp', 'openpgp-sign', { text });
    expect(await harness.do('pgp', 'openpgp-verify', { text, signature })).toMatchObject({ valid: true });
    if (importKey !== undefined) await importUnder(importKey.body['wrapping-key']);
  };
}

/** Wraps a key for import as others do, and imports it. */
async function importUnder(pem: string): Promise<void> {
  const { keys } = await harness.do('ecdsa-p256', 'export', { format: 'wrapped', 'wrapping-key': pem });
  const name = `imported-${randomUUID()}`;
  await harness.create(name, { cipher: 'ecdsa-p256' });
  await harness.do(name, 'import', { ciphertext: keys['1'] });
  expect((await harness.state(name)).keys['2']).toBe((await harness.state('ecdsa-p256')).keys['1']);
}

/** Every wrapped key in the store. */
function storedKeys(): StoredKey[] {
  harness.store.refresh();
  const { versions, importWrappingKeys } = openTables(harness.store.prefixed('transit'));
  return [
    ...Array.from(versions.entries([]), ([, record]) => record),
    ...Array.from(importWrappingKeys.entries([]), ([, record]) => record),
  ]
    .flatMap((record) => [
      record.stored,
      'hmac' in record ? record.hmac : undefined,
      'convergent' in record ? record.convergent : undefined,
    ])
    .filter((one): one is StoredKey => one?.custody === 'wrapped');
}

const numbers = () => new Set(storedKeys().map((stored) => harness.hsm.wrappingKeys.numberOf(stored)));

describe('a rotation', () => {
  test('takes every key along, and works for others before, meanwhile and after', async () => {
    const prove = await makeKeys({ importKey: true });
    expect(await wrappingKey()).toEqual({ number: 1, state: 'in-use', done: 0, total: 0, failed: 0 });
    // And the key of the store.
    const old = storedKeys().length + 1;
    const answer = await rotate();
    expect(answer).toMatchObject({ status: 200, body: { number: 2, state: 'rewrapping' } });
    await prove();
    await harness.create('made-meanwhile');
    expect(numbers()).toEqual(new Set([1, 2]));
    await rewrapping();
    const after = await wrappingKey();
    expect(after).toMatchObject({ number: 2, state: 'in-use', failed: 0, done: old, total: old });
    expect(after.finished).toBeDefined();
    expect(numbers()).toEqual(new Set([2]));
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([2]);
    expect(ends()).toMatchObject([{ tenant: 'system', 'request-parameters': { token: 'main', number: 2, keys: old, failed: 0 } }]);
    expect(await health()).toMatchObject({ status: 'ok', hsm: { tokens: [{ name: 'main', state: 'up' }] } });
    await prove();
    await restart();
    await prove();
  });

  test('can be done again, and once more', async () => {
    const prove = await makeKeys();
    for (const next of [2, 3]) {
      expect((await rotate({ token: 'main' })).body.number).toBe(next);
      await rewrapping();
    }
    await restart();
    await prove();
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([3]);
  });

  test('goes on after a cut at any point, and counts each key once', async () => {
    const prove = await makeKeys();
    for (let index = 0; index < 60; index++) await harness.create(`more-${index}`);
    await rotate();
    const total = storedKeys().length + 1;
    const cut = new AbortController();
    const running = rewrapping(cut.signal);
    await untilOneIsDone();
    cut.abort();
    await running;
    const half = await wrappingKey();
    expect(half.state).toBe('rewrapping');
    await prove();
    await restart();
    await prove();
    await rewrapping();
    expect(await wrappingKey()).toMatchObject({ state: 'in-use', done: total, total });
    await restart();
    await prove();
  });

  test('that was cut before the store knew of the new key is taken up', async () => {
    const prove = await makeKeys();
    await harness.hsm.wrappingKeys.makeNext('main', 1);
    await restart();
    await prove();
    await rewrapping();
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([2]);
    expect(await wrappingKey()).toMatchObject({ number: 2, state: 'in-use' });
    await prove();
  });

  test('that is taken for one that was cut, between its key and its record, is begun by its caller', async () => {
    const prove = await makeKeys();
    const { wrappingKeys } = harness.hsm;
    const makeNext = wrappingKeys.makeNext.bind(wrappingKeys);
    vi.spyOn(wrappingKeys, 'makeNext').mockImplementationOnce(async (...given) => {
      const made = await makeNext(...given);
      await rewrapping();
      return made;
    });
    expect(await rotate()).toMatchObject({ status: 200, body: { number: 2 } });
    await rewrapping();
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([2]);
    expect(await wrappingKey()).toMatchObject({ number: 2, state: 'in-use' });
    await prove();
  });

  test('that was cut before the store knew of its key, after an earlier rotation, is a note of the check and breaks nothing', async () => {
    await rotate();
    await rewrapping();
    await harness.hsm.wrappingKeys.makeNext('main', 2);
    expect(await harness.check()).toEqual([{ where: 'token main', problem: expect.stringContaining('wrapping key 3'), isNote: true }]);
    await restart();
    await rewrapping();
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([3]);
  });

  test('whose new key is there already uses it instead of making a third', async () => {
    await harness.hsm.wrappingKeys.makeNext('main', 1);
    expect((await rotate()).body.number).toBe(2);
    await rewrapping();
    expect(await harness.hsm.wrappingKeys.list('main')).toEqual([2]);
  });

  test('by two processes at once is done once', async () => {
    const prove = await makeKeys();
    await rotate();
    const total = storedKeys().length + 1;
    await Promise.all([rewrapping(), rewrapping()]);
    expect(await wrappingKey()).toMatchObject({ state: 'in-use', done: total, total });
    await prove();
  });

  test('is refused while another is under way, for unknown tokens, and for callers without the root policy', async () => {
    const [first, second] = await Promise.all([rotate(), rotate()]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 409]));
    expect(await rotate()).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await rotate({ token: 'nobody' })).toMatchObject({ status: 404, body: { detail: expect.stringContaining('main') } });
    expect((await harness.request('POST', rotatePath, {}, { token: undefined })).status).toBe(401);
    await rewrapping();
    expect(harness.records().some(({ path: at, status }) => at === rotatePath && status === 200)).toBe(true);
  });
});

describe('a key that was made under the old wrapping key and is committed late', () => {
  let stored: StoredKey;
  let rotation: WrappingRotation;

  beforeEach(async () => {
    // A token process that was told of no other wrapping key.
    const slow = await openHsm(testHsmConfig(harness.token));
    ({ stored } = await slow.generate('aes-256', { tenant: 't', keyId: 'late', version: 1, purpose: 'p' }));
    await slow.close();
    rotation = new WrappingRotation(harness);
    await rotate();
  });

  const admit = () => harness.store.write((transaction) => rotation.admit(transaction, [stored]));

  test('keeps the old wrapping key from being destroyed until everything was looked at again', async () => {
    const running = rewrapping();
    await untilOneIsDone();
    await admit();
    await running;
    const table = wrappingTable(harness.store);
    harness.store.refresh();
    expect(table.get(['main'])).toMatchObject({ phase: 'done', latecomers: 1 });
  });

  test('is refused once the old wrapping key is gone', async () => {
    await rewrapping();
    await expect(admit()).rejects.toMatchObject({ code: 'conflict' });
  });
});

test('a damaged key keeps the old wrapping key in the token; it is tried again at the next start', async () => {
  await harness.create('good');
  await harness.create('bad');
  const tables = openTables(harness.store.prefixed('transit'));
  const [[storeKey, record]] = Array.from(tables.versions.entries([])) as unknown as [[StoreKey, VersionRecord & { stored: StoredKey }]];
  const damage = (bits: number) => {
    const blob = record.stored.blob.map((octet, index) => (index === 5 ? octet ^ bits : octet));
    return harness.store.write((transaction) =>
      transaction.put(tables.versions, storeKey, { ...record, stored: { ...record.stored, blob } }),
    );
  };
  await damage(1);
  await rotate();
  await rewrapping();
  expect(await wrappingKey()).toMatchObject({ number: 2, state: 'incomplete', failed: 1 });
  expect(await harness.hsm.wrappingKeys.list('main')).toEqual([1, 2]);
  expect(harness.logged.filter(({ message }) => message === 'a key could not be rewrapped')).not.toEqual([]);
  expect(ends()).toMatchObject([{ code: 'incomplete', 'request-parameters': { number: 2, failed: 1 } }]);
  const reason = expect.stringContaining('old wrapping key');
  expect(await health()).toMatchObject({ status: 'degraded', hsm: { tokens: [{ name: 'main', state: 'up', reason }] } });
  await damage(0);
  await restart();
  await rewrapping();
  expect(await health()).toMatchObject({ status: 'ok' });
  expect(await wrappingKey()).toMatchObject({ number: 2, state: 'in-use', failed: 0 });
  expect(await harness.hsm.wrappingKeys.list('main')).toEqual([2]);
});

test('a damaged key of the store does not keep a rotation from ending: it is incomplete, and is tried again', async () => {
  const place = join(harness.directory, 'store-key.json');
  const whole = readFileSync(place, 'utf8');
  const { blob, ...rest } = JSON.parse(whole) as { blob: string };
  const octets = Buffer.from(blob, 'base64');
  octets.writeUInt8(octets.readUInt8(5) ^ 1, 5);
  writeFileSync(place, JSON.stringify({ ...rest, blob: octets.toString('base64') }));
  await rotate();
  await rewrapping();
  expect(await wrappingKey()).toMatchObject({ number: 2, state: 'incomplete', failed: 1 });
  expect(await harness.hsm.wrappingKeys.list('main')).toEqual([1, 2]);
  writeFileSync(place, whole);
  await restart();
  await rewrapping();
  expect(await wrappingKey()).toMatchObject({ number: 2, state: 'in-use', failed: 0 });
});

test('the key of the store goes along, and its file is never without one that opens', async () => {
  const file = () => JSON.parse(readFileSync(join(harness.directory, 'store-key.json'), 'utf8')) as { blob: string };
  const before = file().blob;
  await rotate();
  await rewrapping();
  expect(file().blob).not.toBe(before);
  await restart();
  await harness.create('after');
});
