// Records of the audit trail in the console: what is asked of the appliance, what came of a request, and words for what the trail says of itself.
import { expect, test } from 'vitest';
import type { Entry } from '../../../plugins/console/app/description/catalog.ts';
import { sentenceOf } from '../../../plugins/console/app/views/audit/sentences.ts';
import { isAbout, usesIn } from '../../../plugins/console/app/views/audit/uses.ts';
import { idOf, noFilters, queryOf, resultOf, wordsOf, type TrailRecord } from '../../../plugins/console/app/views/audit/records.ts';

const encrypt: TrailRecord = {
  kind: 'request',
  chain: 'worker-1',
  sequence: 7,
  'request-id': 'r-1',
  user: 'Ada',
  tenant: 'shop',
  accessor: 'f81d4fae',
  'client-ip': '192.0.2.7',
  method: 'POST',
  path: '/v1/state/keystore/transit-keys/orders/encrypt',
  status: 200,
};
const head: TrailRecord = { kind: 'head', chain: 'worker-1', sequence: 8 };

test('filters that are not set are not sent, and what only reads is left out unless it is asked for', () => {
  expect(queryOf({ ...noFilters, only: 'all' })).toEqual({});
  expect(queryOf({ ...noFilters, who: 'ada', result: 'refused' })).toEqual({
    who: 'ada',
    result: 'refused',
    reads: 'false',
  });
});

test('the result follows from the status', () => {
  expect([200, 204, 304, 400, 403, 500, 503].map((status) => resultOf({ status }))).toEqual([
    'done',
    'done',
    'done',
    'refused',
    'refused',
    'failed',
    'failed',
  ]);
  expect(resultOf(head)).toBe('note');
});

test('a record has a name, also for tenants that do not see the chain', () => {
  const { chain: _, sequence: __, ...seenByTenant } = encrypt;
  expect([idOf(encrypt), idOf(seenByTenant)]).toEqual(['worker-1-7', 'r-1']);
});

test('records of the trail about itself are said in words', () => {
  expect(wordsOf(head)).toBe('The chains were signed');
  expect(wordsOf({ kind: 'trail', event: 'cut-off' })).toMatch(/^Finding/);
  expect(wordsOf(encrypt)).toBeUndefined();
});

const entryOf = (verb: string, path: string, action?: string): Entry => ({ path, command: { verb, action } }) as unknown as Entry;

test('a record is a sentence about what was done, or was refused', () => {
  const [keys, key] = ['/v1/config/keystore/transit-keys', '/v1/config/keystore/transit-keys/{name}'];
  const encrypts = entryOf('do', '/v1/state/keystore/transit-keys/{name}/encrypt', 'encrypt');
  const used = { ...encrypt, 'key-version': 5, 'request-parameters': { plaintext: { bytes: 8 } } };
  expect(sentenceOf(used, encrypts, ['orders'])).toBe('encrypted 8 characters with orders, version 5');
  expect(sentenceOf({ ...encrypt, status: 403 }, encrypts, ['orders'])).toBe('was refused to encrypt with orders');
  expect(sentenceOf({ ...encrypt, status: 503 }, encrypts, ['orders'])).toBe('failed to encrypt with orders');
  expect(sentenceOf({ status: 204 }, entryOf('merge', key), ['orders'])).toBe('changed key orders');
  expect(sentenceOf({ status: 201 }, entryOf('create', keys), [])).toBe('made one of transit keys');
  const named = { status: 201, 'request-parameters': { name: 'orders' } };
  expect(sentenceOf(named, entryOf('create', keys), [])).toBe('made key orders');
  expect(sentenceOf({ ...named, status: 409 }, entryOf('create', keys), [])).toBe('was refused to make key orders');
  expect(sentenceOf({ status: 200 }, entryOf('do', '/v1/state/system/test-hsm', 'test-hsm'), [])).toBe('did “Test HSM”');
  expect(sentenceOf({ status: 200 }, undefined, [])).toBeUndefined();
});

test('what is about a thing is about no other one whose name is longer, and about none of another tenant', () => {
  const orders = { where: '/transit-keys/orders' };
  const at = (path: string): TrailRecord => ({ ...encrypt, path });
  const isUse = (record: TrailRecord): boolean => isAbout(record, orders, 'shop');
  expect([encrypt, at('/v1/config/keystore/transit-keys/orders')].map(isUse)).toEqual([true, true]);
  expect(
    [at('/v1/state/keystore/transit-keys/orders-test/encrypt'), at('/v1/config/keystore/transit-keys/Orders'), head].map(isUse),
  ).toEqual([false, false, false]);
  expect(isAbout(encrypt, orders, 'acme')).toBe(false);
});

test('an application did what its own approle did, not what a user of such a name did', () => {
  const by = (user: string, kind: string, source: string): TrailRecord => ({
    ...encrypt,
    user,
    'user-kind': kind,
    'user-source': source,
  });
  const isDeed = (record: TrailRecord): boolean => isAbout(record, { who: 'app' }, 'shop');
  expect([by('app', 'approle', 'app'), by('web-app', 'approle', 'web-app'), by('app', 'sign-in', 'google'), encrypt].map(isDeed)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(isAbout(by('app', 'approle', 'app'), { who: 'app' }, 'acme')).toBe(false);
});

test('uses are summed up by person and day, the latest first', () => {
  const at = (day: number, hour: number): string => new Date(2026, 9, day, hour).toISOString();
  const uses = usesIn([
    { ...encrypt, 'occurred-at': at(12, 9) },
    { ...encrypt, 'occurred-at': at(12, 11), status: 403, 'client-ip': '192.0.2.8' },
    { ...encrypt, 'occurred-at': at(12, 10) },
    { ...encrypt, 'occurred-at': at(13, 9), user: 'Bob', method: 'PATCH', path: '/v1/config/keystore/transit-keys/orders' },
    head,
  ]);
  expect(uses.map(({ user, done, refused, actions, addresses }) => ({ user, done, refused, actions, addresses }))).toEqual([
    { user: 'Bob', done: 1, refused: 0, actions: ['change'], addresses: ['192.0.2.7'] },
    { user: 'Ada', done: 2, refused: 1, actions: ['encrypt'], addresses: ['192.0.2.7', '192.0.2.8'] },
  ]);
  expect(uses[1]?.lastMs).toBe(Date.parse(at(12, 11)));
});
