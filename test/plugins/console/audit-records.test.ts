// Records of the audit trail in the console: filters by who, what, where and result, and what counts as reading.
import { describe, expect, test } from 'vitest';
import { fits, idOf, isRead, noFilters, resultOf, wordsOf, type TrailRecord } from '../../../plugins/console/app/views/audit/records.ts';

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

describe('a record fits', () => {
  test.each([
    ['who', 'ada', true],
    ['who', 'SHOP', true],
    ['who', '192.0.2', true],
    ['who', 'bob', false],
    ['what', 'encrypt', true],
    ['what', 'post', true],
    ['what', 'transit', false],
    ['where', 'keys/orders', true],
    ['where', 'invoices', false],
    ['result', 'done', true],
    ['result', 'refused', false],
    ['only', 'changes', true],
  ])('%s %s: %s', (name, value, isFit) => expect(fits(encrypt, { ...noFilters, [name]: value })).toBe(isFit));

  test('all of the filters that are set', () => {
    expect(fits(encrypt, { ...noFilters, who: 'ada', where: 'orders', result: 'done' })).toBe(true);
    expect(fits(encrypt, { ...noFilters, who: 'ada', where: 'invoices' })).toBe(false);
  });

  test('without reads neither what only asks nor what the trail says of itself', () => {
    const only = { ...noFilters, only: 'changes' };
    expect(fits({ ...encrypt, method: 'GET' }, only)).toBe(false);
    expect(fits({ ...encrypt, path: '/v1/state/policy/check-many' }, only)).toBe(false);
    expect(fits(head, only)).toBe(false);
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

test('a use of a key is no read, a question to the policies is', () => {
  expect([isRead(encrypt), isRead({ method: 'POST', path: '/v1/state/keystore/token/info' })]).toEqual([false, true]);
});

test('records of the trail about itself are said in words', () => {
  expect(wordsOf(head)).toBe('The chains were signed');
  expect(wordsOf({ kind: 'trail', event: 'cut-off' })).toMatch(/^Finding/);
  expect(wordsOf(encrypt)).toBeUndefined();
});
