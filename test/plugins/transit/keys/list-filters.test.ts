// Lists of keys: filters by name, cipher, custody, use and need of a person; pages and numbers under them; what policies hide cannot be asked for.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RecordCache } from '../../../../core/store/records/cache.ts';
import type { KeyRecord } from '../../../../plugins/transit/records/records.ts';
import type { UsageRecord } from '../../../../plugins/transit/records/usage-record.ts';
import { warnEncryptions } from '../../../../plugins/transit/records/usage.ts';
import { temporaryDirectory } from '../../../harness/temporary.ts';
import { type TransitHarness, ok, startTransitHarness } from '../harness.ts';

const directory = temporaryDirectory();
const list = '/v1/config/keystore/transit-keys';
const states = '/v1/state/keystore/transit-keys';
let harness: TransitHarness;

beforeAll(async () => {
  harness = await startTransitHarness(directory('harness'));
  const { publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await harness.create('orders-1');
  await harness.create('orders-2', { cipher: 'aes128-gcm96', labels: { team: 'shop' } });
  await harness.create('orders-signed', { cipher: 'ecdsa-p256' });
  await harness.create('partner', { cipher: 'ecdsa-p256', 'public-key': publicKey });
  await harness.create('root', { cipher: 'ecdsa-p256', custody: 'token' });
});
afterEach(() => harness.expectSound());
afterAll(() => harness.stop());

async function namesOf(query: string, path = list): Promise<readonly string[]> {
  return ((await ok(200, harness.request('GET', `${path}?${query}`))) as { name: string }[]).map(({ name }) => name);
}

describe('a list of keys', () => {
  test.each([
    ['contains=orders', ['orders-1', 'orders-2', 'orders-signed']],
    ['contains=-s', ['orders-signed']],
    ['contains=Orders', []],
    ['contains=%25', []],
    ['cipher=aes128-gcm96', ['orders-2']],
    ['custody=token', ['root']],
    ['use=encrypt', ['orders-1', 'orders-2']],
    ['use=sign', ['orders-signed', 'root']],
    ['use=verify', ['orders-signed', 'partner', 'root']],
    ['use=sign&custody=wrapped', ['orders-signed']],
    ['use=encrypt&selector=team%3Dshop', ['orders-2']],
    ['contains=orders&after=orders-1', ['orders-2', 'orders-signed']],
  ])('with %s has those keys alone, in both trees', async (query, names) => {
    expect(await namesOf(query)).toEqual(names);
    expect(await namesOf(query, states)).toEqual(names);
  });

  test('with a filter is read in pages, and says how many fit in all', async () => {
    const first = await harness.request('GET', `${list}?contains=orders&limit=2`);
    expect(first.headers['total-count']).toBe('3');
    const next = /<([^>]+)>/.exec(String(first.headers['link']))?.[1] ?? '';
    expect(next).toContain('contains=orders');
    const second = await harness.request('GET', next);
    expect([second.body.map(({ name }: { name: string }) => name), second.headers['total-count'], second.headers['link']]).toEqual([
      ['orders-signed'],
      '3',
      undefined,
    ]);
    expect((await harness.request('GET', `${list}?use=verify&count=true`)).body).toEqual({ count: 3 });
    expect((await harness.request('GET', `${list}?use=verify&keys=true`)).body).toEqual(['orders-signed', 'partner', 'root']);
  });

  test.each(['cipher=des', 'custody=pocket', 'use=encrypt,sign', 'attention=yes'])('refuses %s, and says what it takes', async (query) => {
    const { status, body } = await harness.request('GET', `${list}?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid-value']);
    expect(body.detail).toContain(`The query parameter ${query.split('=')[0] ?? ''} must be`);
  });

  test('does not say by a filter what a policy hides', async () => {
    const policy = {
      name: 'blind',
      'rest-api': { rules: [{ path: '/v1/**', operations: { read: 'allow' }, 'hide-fields': ['cipher', 'usage'] }] },
    };
    await ok(201, harness.request('POST', '/v1/config/policy/policies', policy));
    const { token } = await ok(200, harness.request('POST', '/v1/state/keystore/token/create', { policies: ['blind'] }));
    for (const query of ['cipher=ecdsa-p256', 'use=sign', 'attention=false'])
      expect((await harness.request('GET', `${list}?${query}`, undefined, { token })).body).toEqual([]);
    expect((await harness.request('GET', `${list}?custody=token`, undefined, { token })).body).toMatchObject([{ name: 'root' }]);
  });
});

describe('a key needs a person', () => {
  test('when its rotation is overdue, until it is rotated', async () => {
    await harness.create('rotating', { 'auto-rotate': { 'rotate-after': '1d' } });
    harness.clock.advance(86_400 + 3_599);
    expect(await namesOf('attention=true')).toEqual([]);
    harness.clock.advance(3_600);
    expect(await namesOf('attention=true')).toEqual(['rotating']);
    await harness.runJobs();
    expect(await namesOf('attention=true')).toEqual([]);
    expect(await namesOf('attention=false&contains=rotating')).toEqual(['rotating']);
  });

  test('when its newest version has made half of the encryptions that it may make, until there is a newer one', async () => {
    await harness.create('busy');
    const store = harness.store.prefixed('transit');
    const [[storeKey, { id }]] = [...store.table<KeyRecord>('keys').entries([])].filter(([key]) => key.at(-1) === 'busy') as [
      [readonly string[], KeyRecord],
    ];
    const uses = { reserved: warnEncryptions, uses: 7, rewrapped: 0 };
    await store.write((transaction) => transaction.put(store.table<UsageRecord>('usage'), [storeKey[0] ?? '', id, 1], uses));
    expect(await namesOf('attention=true')).toEqual(['busy']);
    await harness.do('busy', 'rotate');
    expect(await namesOf('attention=true')).toEqual([]);
  });
});

describe('the versions of a key', () => {
  test('have a status, and the times at which it changes', async () => {
    const rules = { 'rotate-after': '90d', 'activate-after': '1d', 'deprecate-after': '30d', 'invalidate-after': '60d' };
    await harness.create('timed', { 'auto-rotate': rules });
    const made = (await harness.state('timed'))['creation-time'];
    await harness.do('timed', 'rotate');
    const state = await harness.state('timed');
    expect(state.versions[1]).toMatchObject({ status: 'active', created: made });
    expect(state.versions[2]).toMatchObject({ status: 'pending' });
    const days = (from: string, to: string): number => Math.round(Temporal.Instant.from(from).until(to).total('hours') / 24);
    const { superseded, deprecates, invalidates } = state.versions[1];
    expect(superseded).toBe(state.versions[2].created);
    expect([days(superseded, deprecates), days(superseded, invalidates), days(superseded, state.versions[2].activates)]).toEqual([
      30, 60, 1,
    ]);
    expect(days(superseded, state.rotates)).toBe(90);
    const statuses = async (): Promise<readonly string[]> =>
      Object.values((await harness.state('timed')).versions as Record<string, { status: string }>).map(({ status }) => status);
    harness.clock.advance(86_400);
    expect(await statuses()).toEqual(['active', 'active']);
    harness.clock.advance(29 * 86_400);
    expect(await statuses()).toEqual(['deprecated', 'active']);
    harness.clock.advance(30 * 86_400);
    expect(await statuses()).toEqual(['invalidated', 'active']);
  });

  test('below the minimums of the key are deprecated and invalidated', async () => {
    await harness.create('bounded', { cipher: 'ecdsa-p256' });
    for (let version = 2; version <= 3; version += 1) await harness.do('bounded', 'rotate');
    expect((await harness.patch('bounded', { 'min-encryption-version': 3, 'min-decryption-version': 2 })).status).toBe(204);
    const { versions, rotates } = await harness.state('bounded');
    expect(Object.values(versions as Record<string, { status: string }>).map(({ status }) => status)).toEqual([
      'invalidated',
      'deprecated',
      'active',
    ]);
    expect(rotates).toBeUndefined();
  });
});

describe('a list of many keys', () => {
  test('is filtered in pieces: more keys than are read at once', async () => {
    const many = Array.from({ length: 510 }, (_, index) => ({ name: `many-${String(index).padStart(4, '0')}`, cipher: 'aes128-gcm96' }));
    await ok(200, harness.request('POST', `${list}-batch`, { 'batch-input': many }));
    expect(await namesOf('cipher=aes128-gcm96&contains=05')).toEqual(many.map(({ name }) => name).filter((name) => name.includes('05')));
    const page = await harness.request('GET', `${list}?cipher=aes128-gcm96&contains=many&limit=505`);
    expect([page.body.length, page.headers['total-count']]).toEqual([505, '510']);
  });

  test('compares names before it opens a record: of all that fit, those of the page alone are read', async () => {
    const reads = vi.spyOn(RecordCache.prototype, 'get');
    const readFor = async (query: string): Promise<number> => {
      reads.mockClear();
      expect((await harness.request('GET', `${list}?${query}`)).status).toBe(200);
      return reads.mock.calls.filter(([text]) => text.includes('many-')).length;
    };
    expect(await readFor('contains=many-0505')).toBe(1);
    expect(await readFor('contains=many&limit=6')).toBe(7);
    expect(await readFor('contains=many&limit=6&keys=true')).toBe(0);
    expect(await readFor('contains=many-05&cipher=aes128-gcm96')).toBe(10);
    reads.mockRestore();
  });
});
