// The judge of the storms on several appliances: a history that cannot be is one of which it says so.
import { expect, test } from 'vitest';
import { faultsOf, type Operation } from '../../harness/storms/counter-history.ts';

const operation = (kind: Operation['kind'], value: number, calledMs: number, answeredMs: number): Operation => ({
  ...{ kind, key: 'k', by: 'a' },
  ...{ calledMs, answeredMs, value },
});
const unknown = (count: number) => new Map([['k', count]]);

test.each<[string, readonly Operation[], number]>([
  ['nothing', [], 0],
  ['one after another', [operation('add', 1, 0, 1), operation('read', 1, 2, 3), operation('add', 2, 4, 5)], 0],
  ['at the same time, in either order', [operation('add', 2, 0, 10), operation('add', 1, 0, 10), operation('read', 1, 5, 20)], 0],
  ['a read of the old sum while one is added', [operation('add', 1, 0, 10), operation('read', 0, 5, 20)], 0],
  ['one of unknown outcome that counts', [operation('add', 1, 0, 1), operation('add', 3, 2, 3)], 1],
  ['one of unknown outcome that is read', [operation('read', 1, 0, 1)], 1],
])('may be: %s', (_, operations, count) => {
  expect(faultsOf(operations, unknown(count))).toEqual([]);
});

test.each<[string, readonly Operation[], string]>([
  ['a sum that two got', [operation('add', 1, 0, 1), operation('add', 1, 2, 3)], 'the same sum twice'],
  ['a read of an old sum after an addition was answered', [operation('add', 1, 0, 1), operation('read', 0, 2, 3)], 'was over before'],
  ['a read of a sum before it was added', [operation('read', 1, 0, 1), operation('add', 1, 2, 3)], 'was over before'],
  ['sums against the time', [operation('add', 2, 0, 1), operation('add', 1, 2, 3)], 'was over before'],
  ['reads that go back', [operation('add', 1, 0, 9), operation('read', 1, 1, 2), operation('read', 0, 3, 4)], 'was over before'],
  ['one that was refused, and counts', [operation('add', 2, 0, 1)], 'additions that nobody made'],
])('cannot be: %s', (_, operations, text) => {
  expect(faultsOf(operations, unknown(0)).join('\n')).toContain(text);
});

test('what is answered much later is found among many', () => {
  const adds = Array.from({ length: 200 }, (_, n) => operation('add', n + 1, 10 * n, 10 * n + 5));
  expect(faultsOf(adds, unknown(0))).toEqual([]);
  expect(faultsOf([...adds, operation('read', 3, 1_500, 1_501)], unknown(0))).not.toEqual([]);
});
