// Records of the audit trail in the console: what is asked of the appliance, what came of a request, and words for what the trail says of itself.
import { expect, test } from 'vitest';
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

test('filters that are not set are not sent, and "without reads" is a parameter of the API', () => {
  expect(queryOf(noFilters)).toEqual({});
  expect(queryOf({ ...noFilters, who: 'ada', result: 'refused', only: 'changes' })).toEqual({
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
