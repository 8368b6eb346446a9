// Appliances of two versions beside each other: which level of the records a program works with, and what is written at which.
import { afterAll, expect, test, vi } from 'vitest';
import type { Log } from '../../../core/base/context.ts';
import { keepLevel, levelRefusal } from '../../../core/cluster/agreed-level.ts';
import { epochValue, layout, readEpoch } from '../../../core/cluster/layout.ts';
import { decodeSign, validMs } from '../../../core/cluster/validity.ts';
import { put } from '../../../core/etcd/messages.ts';
import type { Migration } from '../../../core/store/migrate.ts';
import { patienceMs } from '../../harness/patience.ts';
import { silentLog } from '../../harness/log.ts';
import { ModelCluster } from '../../harness/model-cluster.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const temporary = temporaryDirectory();
const cluster = new ModelCluster();
afterAll(() => cluster.close());

test.each([
  [{ oldest: 1, newest: 1 }, 1, undefined],
  [{ oldest: 1, newest: 2 }, 1, undefined],
  [{ oldest: 1, newest: 2 }, 2, undefined],
  [{ oldest: 1, newest: 1 }, 2, 'there is no way back to this one'],
  [{ oldest: 3, newest: 4 }, 2, 'a version that lies between'],
])('a program of levels %o in a cluster of level %i: %s', (levels, level, refusal) => {
  const said = levelRefusal({ version: '9', levels }, level);
  expect(said === undefined ? undefined : said.includes(refusal ?? 'nothing')).toBe(refusal === undefined ? undefined : true);
});

test('the level is in the value that every transaction compares, and the first one leaves it as it was', () => {
  expect(epochValue({ epoch: 'e', level: 1 }).toString()).toBe('e');
  for (const level of [1, 2, 31]) expect(readEpoch(epochValue({ epoch: 'e', level }))).toEqual({ epoch: 'e', level });
});

test('a program that says nothing of levels has the first one, and fields of later versions are left out', () => {
  const said = { name: 'a', version: '1', run: 'r', state: 'in', applied: 7 };
  const read = decodeSign(Buffer.from(JSON.stringify({ ...said, later: true })));
  expect(read).toEqual({ ...said, levels: { oldest: 1, newest: 1 }, validMs });
});

// Vitest counts what a timer throws as an error of the run.
test('a level that cannot be read, as when the store is opened again, is read again later', async () => {
  const warn = vi.fn<Log['warn']>();
  const members = { all: new Map([['one', { state: 'in', levels: { oldest: 1, newest: 2 } }]]) };
  const level = (): never => {
    throw new Error('the store is closed');
  };
  const parts = { client: cluster.etcd, members, epoch: 'epoch', log: { ...silentLog, warn }, level };
  const end = keepLevel(parts as unknown as Parameters<typeof keepLevel>[0]);
  await expect.poll(() => warn.mock.calls.length, { timeout: patienceMs }).toBeGreaterThan(1);
  end();
  expect(warn).toHaveBeenCalledWith(expect.any(String), { reason: expect.stringContaining('the store is closed') });
});

/** Puts the text of each record in capitals, two records at a time: etcd takes so many operations and no more. */
const capitals: Migration = {
  ...{ version: 1, level: 2, describe: 'capitals' },
  run(transaction, store) {
    const small = Array.from(transaction.entries(store.table<string>('texts'), [])).filter(([, text]) => text !== text.toUpperCase());
    for (const [key, text] of small.slice(0, 2)) transaction.put(store.table<string>('texts'), key, text.toUpperCase());
    return small.length > 2 ? 'more' : undefined;
  },
};

test('what was decided at the former level is decided again at the new one, and only then migrations run, in pieces', async () => {
  const [first, second] = [await cluster.join('first', temporary('first')), await cluster.join('second', temporary('second'))];
  const table = first.store.table<string>('texts');
  const write = (key: string): Promise<void> =>
    first.store.write((transaction) => transaction.put(table, [key], first.store.level === 1 ? 'small' : 'LARGE'));
  for (const key of ['a', 'b', 'c', 'd', 'e']) await write(key);
  await second.store.migrate('core', [capitals]);
  second.store.refresh();
  expect(second.store.table('texts').get(['a'])).toBe('small');
  // Another appliance raises the level; the first one has not heard of it when it decides.
  cluster.etcd.txn({ compare: [], success: [put(layout.epoch, epochValue({ epoch: 'epoch', level: 2 }))], failure: [] });
  expect(first.store.level).toBe(1);
  await write('late');
  second.store.refresh();
  expect([first.store.level, second.store.level]).toEqual([2, 2]);
  expect(table.get(['late'])).toBe('LARGE');
  const before = second.commits;
  await Promise.all([second.store.migrate('core', [capitals]), first.store.migrate('core', [capitals])]);
  expect(Array.from(table.entries([]), ([, text]) => text)).toEqual(['SMALL', 'SMALL', 'SMALL', 'SMALL', 'SMALL', 'LARGE']);
  expect(second.commits + first.commits).toBeGreaterThan(before);
});
