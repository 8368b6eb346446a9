// What custody statements say of the past: since when a key may leave its token, and every time it did, as far as the store knows.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openTables } from '../../../../plugins/transit/records/records.ts';
import { formatTimestamp } from '../../../../core/base/time.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, ok, startTransitHarness } from '../harness.ts';
import { type Claims, claimsOf } from './statements.ts';

const path = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(path('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const historyOf = async (name: string, version?: number): Promise<Claims> => (await claimsOf(harness, name, version))['history'];
const now = (): string => formatTimestamp(harness.clock.now());
/** A later time, which it is from now on. */
const later = (): string => {
  harness.clock.advance(60);
  return now();
};

test('each flag has the time at which it was set, whether at creation or later', async () => {
  const created = later();
  await harness.create('flags', { exportable: true });
  const changed = later();
  await ok(204, harness.patch('flags', { 'allow-plaintext-backup': true, 'deletion-allowed': true }));
  later();
  await ok(204, harness.patch('flags', { exportable: true, labels: { team: 'a' } }));
  expect(await historyOf('flags')).toMatchObject({
    ...{ exportable: true, 'exportable-since': created, 'plaintext-backup-allowed': true, 'plaintext-backup-allowed-since': changed },
    ...{ complete: true, exports: [] },
  });
  await harness.create('plain');
  expect(await historyOf('plain')).not.toHaveProperty('exportable-since');
});

test('every export and backup is there with its time, its versions and the id of its audit record', async () => {
  await harness.create('exported', { exportable: true, 'allow-plaintext-backup': true });
  await harness.do('exported', 'rotate');
  const exported = later();
  await harness.do('exported', 'export', { version: 1 });
  const wrapped = later();
  const wrappingKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'pem', type: 'spki' });
  await harness.do('exported', 'export', { format: 'wrapped', 'wrapping-key': wrappingKey });
  const backedUp = later();
  await harness.do('exported', 'backup');
  await harness.do('exported', 'rotate');

  const { exports } = await historyOf('exported', 1);
  expect(exports).toMatchObject([
    { kind: 'export', format: 'clear', versions: [1, 1], at: exported },
    { kind: 'export', format: 'wrapped', versions: [1, 2], at: wrapped },
    { kind: 'backup', format: 'clear', versions: [1, 2], at: backedUp },
  ]);
  expect((await historyOf('exported', 2))['exports']).toEqual(exports.slice(1));
  expect((await historyOf('exported', 3))['exports']).toEqual([]);
  const recorded = harness.records().filter((record) => /\/exported\/(?:export|backup)$/.test(String(record['path'])));
  expect(exports.map((one: Claims) => one['request-id'])).toEqual(recorded.map((record) => record['request-id']));
});

test('what is refused is no export', async () => {
  await harness.create('refused');
  await harness.refused(409, 'export-not-allowed', 'refused', 'export', {});
  await harness.refused(409, 'backup-not-allowed', 'refused', 'backup');
  await ok(204, harness.patch('refused', { exportable: true }));
  await harness.refused(400, 'version-unknown', 'refused', 'export', { version: 7 });
  await harness.refused(400, 'missing-field', 'refused', 'export', { format: 'wrapped' });
  expect((await historyOf('refused'))['exports']).toEqual([]);
});

test('exports at once, and a change of the key beside them, all count', async () => {
  await harness.create('crowded', { exportable: true });
  const changes = Array.from({ length: 6 }, (_, index) => harness.patch('crowded', { labels: { turn: String(index) } }));
  const exporting = Array.from({ length: 30 }, () => harness.do('crowded', 'export', {}));
  await Promise.all([...exporting, ...changes.map((change) => ok(204, change)), harness.do('crowded', 'rotate')]);
  const { exports, 'exports-not-listed': unlisted } = await historyOf('crowded', 1);
  expect(new Set(exports.map((one: Claims) => one['request-id'])).size).toBe(30);
  expect(unlisted).toBe(0);
});

test('of many exports the newest are listed, and the others counted', async () => {
  await harness.create('often', { exportable: true });
  for (let count = 0; count < 70; count += 1) await harness.do('often', 'export', {});
  const { exports, 'exports-not-listed': unlisted } = await historyOf('often');
  expect([exports.length, unlisted]).toEqual([64, 6]);
  const last = harness.records().findLast((record) => String(record['path']).endsWith('/often/export'));
  expect(exports.at(-1)['request-id']).toBe(last?.['request-id']);
});

describe('what the store does not know is not claimed', () => {
  test('a restored key: its material was in clear, and what happened before is not known', async () => {
    await harness.create('origin', { exportable: true, 'allow-plaintext-backup': true });
    await harness.do('origin', 'export', {});
    const { key } = await harness.do('origin', 'backup');
    await harness.create('copy');
    const restored = later();
    await harness.do('copy', 'restore', { key });
    const claims = await claimsOf(harness, 'copy');
    expect(claims['key'].origin).toBe('restored');
    expect(claims['history']).toMatchObject({ restored, 'recorded-since': restored, complete: true, exportable: true });
    // The exports of the key that has the same material are those of this one.
    expect(claims['history'].exports).toEqual((await claimsOf(harness, 'origin'))['history'].exports);
    await harness.do('copy', 'rotate');
    expect((await claimsOf(harness, 'copy'))['key'].origin).toBe('generated');
  });

  test('a key of an earlier version of the appliance: neither origin nor a history before the first start of this one', async () => {
    await harness.create('old', { exportable: true });
    const store = harness.store.prefixed('transit');
    const tables = openTables(store);
    const [[storeKey, record] = [[], undefined]] = [...tables.keys.entries([])].filter(([key]) => key.at(-1) === 'old');
    if (record === undefined) throw new Error('the key is in its table');
    // As it was written before: without the fields of this version, and before history was kept.
    const { history: _history, ...former } = record;
    await store.write((transaction) => {
      transaction.put(tables.keys, storeKey, { ...former, createdAt: 1_000_000 });
      const versionKey = [storeKey[0] as string, record.id, 1];
      const version = transaction.get(tables.versions, versionKey);
      if (version === undefined) throw new Error('the version is in its table');
      const { origin: _origin, ...made } = version;
      transaction.put(tables.versions, versionKey, { ...made, createdAt: 1_000_000, activatesAt: 1_000_000 });
    });
    const claims = await claimsOf(harness, 'old');
    expect(claims['key'].origin).toBe('unknown');
    expect(claims['history']).toMatchObject({
      complete: false,
      exportable: true,
      exports: [],
      'recorded-since': '2026-01-01T00:00:00.000000Z',
    });
    expect(claims['history']).not.toHaveProperty('exportable-since');
    await harness.do('old', 'export', {});
    expect((await historyOf('old'))['exports']).toHaveLength(1);
    await ok(204, harness.patch('old', { 'deletion-allowed': true }));
    await ok(204, harness.remove('old'));
  });
});

test('the history goes with the key: another one of its name begins without', async () => {
  await harness.create('again', { exportable: true, 'deletion-allowed': true });
  await harness.do('again', 'export', {});
  await ok(204, harness.remove('again'));
  await harness.create('again');
  expect(await historyOf('again')).toMatchObject({ exportable: false, exports: [], 'exports-not-listed': 0 });
});
