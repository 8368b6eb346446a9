// The life of a key: auto-rotate with its three phases, uses counted per version.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KeyRecord, VersionRecord } from '../../../../plugins/transit/records/records.ts';
import type { UsageRecord } from '../../../../plugins/transit/records/usage-record.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, base64, codeOf, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

const hello = base64('hello world');
const hour = 3_600;
const day = 24 * hour;

async function latestOf(name: string): Promise<number> {
  return (await harness.state(name))['latest-version'];
}

/** Advances the clock and runs the job. */
async function pass(seconds: number): Promise<void> {
  harness.clock.advance(seconds);
  await harness.runJobs();
}

const encryptVersion = async (name: string): Promise<number> => (await harness.do(name, 'encrypt', { plaintext: hello }))['key-version'];

describe('auto-rotate (spec; api 25)', () => {
  test('rotates after rotate-after, again and again', async () => {
    await harness.create('repeating', { 'auto-rotate': { 'rotate-after': '90d' } });
    await pass(89 * day);
    expect(await latestOf('repeating')).toBe(1);
    await pass(day);
    expect(await latestOf('repeating')).toBe(2);
    await pass(89 * day);
    expect(await latestOf('repeating')).toBe(2);
    await pass(day);
    expect(await latestOf('repeating')).toBe(3);
  });

  test('a new version becomes active after activate-after; until then the state shows the version in use (api 24)', async () => {
    await harness.create('phased', {
      'auto-rotate': { 'rotate-after': '90d', 'activate-after': '1d', 'deprecate-after': '30d', 'invalidate-after': '60d' },
    });
    const { ciphertext } = await harness.do('phased', 'encrypt', { plaintext: hello });
    await pass(90 * day);
    expect(await harness.state('phased')).toMatchObject({ 'latest-version': 2, 'default-encryption-version': 1 });
    expect(await encryptVersion('phased')).toBe(1);
    await harness.refused(409, 'version-not-allowed', 'phased', 'encrypt', { plaintext: hello, 'key-version': 2 });
    harness.clock.advance(day);
    expect((await harness.state('phased'))['default-encryption-version']).toBe(0);
    expect(await encryptVersion('phased')).toBe(2);
    expect((await harness.do('phased', 'encrypt', { plaintext: hello, 'key-version': 1 }))['key-version']).toBe(1);
    // Times count from the creation of the newer version; deadlines hold without a job.
    harness.clock.advance(29 * day);
    await harness.refused(409, 'version-not-allowed', 'phased', 'encrypt', { plaintext: hello, 'key-version': 1 });
    await harness.refused(409, 'version-not-allowed', 'phased', 'hmac', { plaintext: hello, 'key-version': 1 });
    expect((await harness.do('phased', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    harness.clock.advance(30 * day);
    await harness.refused(409, 'version-not-allowed', 'phased', 'decrypt', { ciphertext });
    await harness.refused(409, 'version-not-allowed', 'phased', 'rewrap', { ciphertext });
  });

  test('data rewrapped before invalidate-after goes on being readable (spec)', async () => {
    await harness.create('rewrapped', { 'auto-rotate': { 'rotate-after': '10d', 'invalidate-after': '5d' } });
    const { ciphertext } = await harness.do('rewrapped', 'encrypt', { plaintext: hello });
    await pass(10 * day);
    const moved = (await harness.do('rewrapped', 'rewrap', { ciphertext })).ciphertext;
    harness.clock.advance(6 * day);
    await harness.refused(409, 'version-not-allowed', 'rewrapped', 'decrypt', { ciphertext });
    expect((await harness.do('rewrapped', 'decrypt', { ciphertext: moved })).plaintext).toBe(hello);
  });

  test('signatures: the old version signs until the new one is active, and verifies until it is invalidated', async () => {
    await harness.create('signing', {
      cipher: 'ed25519',
      'auto-rotate': { 'rotate-after': '10d', 'activate-after': '1d', 'invalidate-after': '5d' },
    });
    await pass(10 * day);
    const { signature } = await harness.do('signing', 'sign', { text: hello });
    expect(signature).toMatch(/^store:v1:/);
    await pass(day);
    expect((await harness.do('signing', 'sign', { text: hello })).signature).toMatch(/^store:v2:/);
    expect((await harness.do('signing', 'verify', { text: hello, signature })).valid).toBe(true);
    await pass(4 * day);
    await harness.refused(409, 'version-not-allowed', 'signing', 'verify', { text: hello, signature });
  });

  test('manual rotation restarts the clock and obeys activate-after', async () => {
    await harness.create('by-hand', { 'auto-rotate': { 'rotate-after': '10d', 'activate-after': '2d' } });
    await pass(6 * day);
    await harness.do('by-hand', 'rotate');
    expect(await encryptVersion('by-hand')).toBe(1);
    await pass(5 * day);
    expect(await latestOf('by-hand')).toBe(2);
    expect(await encryptVersion('by-hand')).toBe(2);
    await pass(5 * day);
    expect(await latestOf('by-hand')).toBe(3);
  });

  test('min-encryption-version puts a waiting version into service at once', async () => {
    await harness.create('hurried', { 'auto-rotate': { 'rotate-after': '10d', 'activate-after': '2d' } });
    await harness.do('hurried', 'rotate');
    expect(await encryptVersion('hurried')).toBe(1);
    await ok(204, harness.patch('hurried', { 'min-encryption-version': 2 }));
    expect(await encryptVersion('hurried')).toBe(2);
  });

  test('auto-rotate given to a key that was in use takes nothing back; removed, it lets a waiting version start and bars nothing', async () => {
    await harness.create('changed');
    await harness.do('changed', 'rotate');
    const { ciphertext } = await harness.do('changed', 'encrypt', { plaintext: hello, 'key-version': 1 });
    await ok(204, harness.patch('changed', { 'auto-rotate': { 'rotate-after': '10d', 'activate-after': '5d', 'invalidate-after': '6d' } }));
    expect(await encryptVersion('changed')).toBe(2);
    await harness.do('changed', 'rotate');
    expect(await encryptVersion('changed')).toBe(2);
    harness.clock.advance(6 * day);
    await harness.refused(409, 'version-not-allowed', 'changed', 'decrypt', { ciphertext });
    await harness.do('changed', 'rotate');
    expect(await encryptVersion('changed')).toBe(3);
    await ok(204, harness.put('changed', {}));
    expect(await encryptVersion('changed')).toBe(4);
    expect((await harness.do('changed', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    await pass(100 * day);
    expect(await latestOf('changed')).toBe(4);
  });

  test('a longer rotate-after counts from the last rotation; one that has passed already is due at once', async () => {
    await harness.create('stretched', { 'auto-rotate': { 'rotate-after': '10d' } });
    harness.clock.advance(9 * day);
    await ok(204, harness.patch('stretched', { 'auto-rotate': { 'rotate-after': '20d' } }));
    await pass(10 * day);
    expect(await latestOf('stretched')).toBe(1);
    await ok(204, harness.patch('stretched', { 'auto-rotate': { 'rotate-after': '1d' } }));
    await pass(60);
    expect(await latestOf('stretched')).toBe(2);
  });

  test('timers missed while the appliance was off run once', async () => {
    await harness.create('missed', { 'auto-rotate': { 'rotate-after': '1d' } });
    await pass(100 * day + hour);
    expect(await latestOf('missed')).toBe(2);
    await harness.runJobs();
    expect(await latestOf('missed')).toBe(2);
    await pass(day);
    expect(await latestOf('missed')).toBe(3);
  });

  test('five workers running the job at once rotate once', async () => {
    await harness.create('shared', { 'auto-rotate': { 'rotate-after': '1d' } });
    harness.clock.advance(2 * day);
    await Promise.all(Array.from({ length: 5 }, () => harness.runJobs()));
    expect(await latestOf('shared')).toBe(2);
  });

  test('a clock that ran ahead, was set right and accepted, does not put rotation off', async () => {
    const other = await startTransitHarness(directory('ahead'));
    const versionOf = async (): Promise<number> => (await other.state('ahead'))['latest-version'];
    await other.create('ahead', { 'auto-rotate': { 'rotate-after': '10d' } });
    other.clock.step(300 * day);
    await other.runJobs();
    expect(await versionOf()).toBe(2);
    other.clock.step(-300 * day);
    await other.request('POST', '/v1/state/system/accept-clock');
    await other.runJobs();
    expect(await versionOf()).toBe(2);
    // What encrypted once goes on to.
    expect((await other.do('ahead', 'encrypt', { plaintext: hello }))['key-version']).toBe(2);
    other.clock.advance(10 * day);
    await other.runJobs();
    expect(await versionOf()).toBe(3);
    const { keys } = await other.state('ahead');
    expect(Number(keys['3'])).toBeGreaterThanOrEqual(Number(keys['2']));
    await other.expectSound();
    await other.stop();
  });

  test('a rotation by timer is in the audit trail', async () => {
    await harness.create('recorded', { 'auto-rotate': { 'rotate-after': '1d' } });
    await pass(2 * day);
    const record = harness.records().find((one) => one['kind'] === 'rotation' && String(one['path']).includes('/recorded/'));
    expect(record).toMatchObject({ 'key-version': 2 });
  });

  test('a deleted key and a key of the same name made after it: the timer follows the new one', async () => {
    const fields = { 'deletion-allowed': true, 'auto-rotate': { 'rotate-after': '10d' } };
    await harness.create('reborn', fields);
    harness.clock.advance(9 * day);
    await ok(204, harness.remove('reborn'));
    await harness.create('reborn', fields);
    await pass(2 * day);
    expect(await latestOf('reborn')).toBe(1);
    await pass(8 * day);
    expect(await latestOf('reborn')).toBe(2);
  });

  test('a verification-only key takes no auto-rotate', async () => {
    const { keys } = await harness.state('signing');
    const fields = { cipher: 'ed25519', 'public-key': keys['1'], 'auto-rotate': { 'rotate-after': '1d' } };
    const refused = harness.request('POST', '/v1/config/keystore/transit-keys', { name: 'no-timer', ...fields });
    expect(await codeOf(refused)).toEqual({ status: 400, code: 'operation-not-supported' });
  });
});

const tables = () => {
  const store = harness.store.prefixed('transit');
  store.refresh();
  return {
    store,
    keys: store.table<KeyRecord>('keys'),
    usage: store.table<UsageRecord>('usage'),
    versions: store.table<VersionRecord>('versions'),
  };
};

/** The store key of version 1. */
function firstVersion(name: string): readonly [string, string, number] {
  const found = [...tables().keys.entries([])].flatMap(([[tenantId, other], { id }]) =>
    other === name ? [[tenantId as string, id, 1] as const] : [],
  );
  return found[0] as readonly [string, string, number];
}

/** Sets the stored uses of version 1 of a new key. */
async function pretendUses(name: string, uses: number): Promise<void> {
  const storeKey = firstVersion(name);
  const { store, usage } = tables();
  await store.write((transaction) => transaction.put(usage, storeKey, { reserved: uses, uses, rewrapped: 0 }));
}

describe('usage (api 74)', () => {
  test('encryptions are counted per version, with last use and what rewrap has not moved', async () => {
    await harness.create('counted');
    const values: string[] = [];
    for (let n = 0; n < 5; n += 1) values.push((await harness.do('counted', 'encrypt', { plaintext: hello })).ciphertext);
    expect((await harness.state('counted')).usage['1']).toMatchObject({ uses: 5, 'uses-at-most': 5, 'not-rewrapped': 5 });
    harness.clock.advance(hour);
    await harness.do('counted', 'rotate');
    for (const ciphertext of values.slice(0, 3)) await harness.do('counted', 'rewrap', { ciphertext });
    await harness.do('counted', 'generate-data-key', {});
    const { usage } = await harness.state('counted');
    expect(usage['1']).toMatchObject({ uses: 5, 'not-rewrapped': 2 });
    expect(usage['2']).toMatchObject({ uses: 4, 'uses-at-most': 4, 'not-rewrapped': 4 });
    expect(Date.parse(usage['1']['last-used'])).toBe(harness.clock.now().epochMilliseconds);
  });

  test('after a crash no fewer values are said to be left than there may be', async () => {
    await harness.create('counted-before-a-crash');
    const storeKey = firstVersion('counted-before-a-crash');
    const { store, usage } = tables();
    await store.write((transaction) => transaction.put(usage, storeKey, { reserved: 100, uses: 10, rewrapped: 10 }));
    expect((await harness.state('counted-before-a-crash')).usage['1']).toMatchObject({
      uses: 10,
      'uses-at-most': 100,
      'not-rewrapped': 90,
    });
  });

  test('a batch counts every item; HMACs have a key of their own and do not count', async () => {
    await harness.create('counted-batch');
    await harness.do('counted-batch', 'encrypt', { 'batch-input': Array.from({ length: 300 }, () => ({ plaintext: hello })) });
    await harness.do('counted-batch', 'hmac', { plaintext: hello });
    expect((await harness.state('counted-batch')).usage['1'].uses).toBe(300);
  });

  test('signatures are counted', async () => {
    await harness.create('counted-signing', { cipher: 'ecdsa-p256' });
    await harness.do('counted-signing', 'sign', { text: hello });
    expect((await harness.state('counted-signing')).usage['1']).toMatchObject({ uses: 1 });
  });

  test('what is durable is never below the true count, at any moment', async () => {
    await harness.create('durable');
    for (let n = 1; n <= 100; n += 1) {
      await harness.do('durable', 'encrypt', { plaintext: hello });
      expect(tables().usage.get(firstVersion('durable'))?.reserved).toBeGreaterThanOrEqual(n);
    }
    expect(tables().usage.get(firstVersion('durable'))?.reserved).toBeLessThanOrEqual(100 + 16 + 64 + 256);
  });

  test('at 2^31 the log warns once', async () => {
    await harness.create('warned');
    await pretendUses('warned', 2 ** 31 - 3);
    for (let n = 0; n < 5; n += 1) await harness.do('warned', 'encrypt', { plaintext: hello });
    expect(harness.logged.filter(({ level, message }) => level === 'warn' && message.includes('2^31'))).toHaveLength(1);
  });

  test('at 2^32 encryption is refused with 409 version-exhausted, decryption is not, and rotating helps', async () => {
    await harness.create('exhausted');
    await pretendUses('exhausted', 2 ** 32 - 2);
    const { ciphertext } = await harness.do('exhausted', 'encrypt', { plaintext: hello });
    await harness.do('exhausted', 'encrypt', { plaintext: hello });
    await harness.refused(409, 'version-exhausted', 'exhausted', 'encrypt', { plaintext: hello });
    await harness.refused(409, 'version-exhausted', 'exhausted', 'rewrap', { ciphertext });
    await harness.refused(409, 'version-exhausted', 'exhausted', 'generate-data-key', {});
    const batch = await harness.act('exhausted', 'encrypt', { 'batch-input': [{ plaintext: hello }] });
    expect(batch.body['batch-results'][0]).toMatchObject({ status: 409, code: 'version-exhausted' });
    expect((await harness.do('exhausted', 'decrypt', { ciphertext })).plaintext).toBe(hello);
    expect((await harness.state('exhausted')).usage['1']).toMatchObject({ 'uses-at-most': 2 ** 32 });
    await harness.do('exhausted', 'rotate');
    expect(await encryptVersion('exhausted')).toBe(2);
  });

  test('a batch takes what is left before 2^32, item by item, and not one more', async () => {
    await harness.create('nearly-exhausted');
    await pretendUses('nearly-exhausted', 2 ** 32 - 3);
    const items = Array.from({ length: 5 }, (_, at) => ({ plaintext: hello, reference: `item ${at}` }));
    const { 'batch-results': results, failed } = await harness.do('nearly-exhausted', 'encrypt', { 'batch-input': items });
    expect(failed).toBe(2);
    expect(results.map((one: { code?: string }) => one.code)).toEqual([
      ...[undefined, undefined, undefined, 'version-exhausted', 'version-exhausted'],
    ]);
    expect(results.map((one: { reference: string }) => one.reference)).toEqual(items.map(({ reference }) => reference));
    expect((await harness.state('nearly-exhausted')).usage['1']).toMatchObject({ 'uses-at-most': 2 ** 32 });
  });

  test('a signing key is never exhausted', async () => {
    await harness.create('tireless', { cipher: 'ed25519' });
    await pretendUses('tireless', 2 ** 32);
    await harness.do('tireless', 'sign', { text: hello });
  });

  test('uses and last use reach the store within seconds, and a stop gives the rest of the reserve back', async () => {
    const other = await startTransitHarness(directory('other'));
    await other.create('stopped');
    for (let n = 0; n < 3; n += 1) await other.do('stopped', 'encrypt', { plaintext: hello });
    const { token, rootToken, clock } = other;
    await other.stop();
    const again = await startTransitHarness(directory('other'), { token, rootToken, clock });
    expect((await again.state('stopped')).usage['1']).toMatchObject({ uses: 3, 'uses-at-most': 3, 'last-used': expect.any(String) });
    await again.do('stopped', 'encrypt', { plaintext: hello });
    await vi.waitFor(
      () => {
        again.store.refresh();
        const [[, record]] = [...again.store.prefixed('transit').table<UsageRecord>('usage').entries([])] as [[unknown, UsageRecord]];
        expect(record).toMatchObject({ uses: 4 });
        expect(record.reserved).toBeGreaterThanOrEqual(4);
      },
      { timeout: 60_000, interval: 100 },
    );
    await again.expectSound();
    await again.stop();
  });
});

describe('many versions', () => {
  test('a key with 10,000 versions encrypts, rotates and trims', async () => {
    await harness.create('ancient');
    const [tenantId, keyId] = firstVersion('ancient');
    const { store, keys, versions } = tables();
    // Ten thousand rotations would take a minute: the record of version 1 is copied instead. The copies are never used.
    await store.write((transaction) => {
      const first = transaction.get(versions, [tenantId, keyId, 1]) as VersionRecord;
      const record = transaction.get(keys, [tenantId, 'ancient']) as KeyRecord;
      const superseded = { ...first, supersededAt: first.createdAt };
      for (let number = 1; number < 9_999; number += 1) transaction.put(versions, [tenantId, keyId, number], superseded);
      transaction.put(versions, [tenantId, keyId, 9_999], first);
      transaction.put(keys, [tenantId, 'ancient'], { ...record, latest: 9_999 });
    });
    await harness.do('ancient', 'rotate');
    expect(await encryptVersion('ancient')).toBe(10_000);
    expect(Object.keys((await harness.state('ancient')).keys)).toHaveLength(10_000);
    await harness.do('ancient', 'trim', { version: 10_000 });
    expect(Object.keys((await harness.state('ancient')).keys)).toEqual(['10000']);
    expect(await encryptVersion('ancient')).toBe(10_000);
  });
});
