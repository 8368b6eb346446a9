// A transaction compares all that was read, in as few operations as that takes, and never exceeds what etcd takes.
import { describe, expect, test } from 'vitest';
import { layout, parentOf, prefixOf } from '../../../core/cluster/layout.ts';
import { buildTransaction, defaultLimits } from '../../../core/cluster/transaction.ts';
import { put } from '../../../core/etcd/messages.ts';
import type { Intent } from '../../../core/store/intent.ts';
import { encodeKey, endOf, keyBytes } from '../../../core/store/keys.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import { ModelEtcd } from '../../harness/model-etcd.ts';

const text = (...key: StoreKey): string => encodeKey('things', key) ?? '';
const below = (...key: StoreKey): Intent['searched'][number] => ({ low: keyBytes(text(...key)), high: endOf(text(...key)) });
const nothing = { compare: [], write: [] };

function intentAt(revision: number, more: Partial<Intent>): Intent {
  return { epoch: 'e', level: 1, revision, read: new Map(), searched: [], written: new Map(), ...more };
}

function etcdWith(...keys: StoreKey[]): ModelEtcd {
  const etcd = new ModelEtcd();
  etcd.txn({ compare: [], success: [put(layout.epoch, Buffer.from('e'))], failure: [] });
  for (const key of keys) etcd.txn({ compare: [], success: [put(layout.record(text(...key)), Buffer.from('v'))], failure: [] });
  return etcd;
}

function commits(etcd: ModelEtcd, intent: Intent): boolean {
  const built = buildTransaction(intent, nothing, defaultLimits);
  if ('exceeds' in built) throw new Error(built.exceeds);
  return etcd.txn(built.request).succeeded;
}

const written = (key: StoreKey, value?: string): Intent['written'] =>
  new Map([[text(...key), value === undefined ? undefined : Buffer.from(value)]]);

describe('a search loses', () => {
  const search = (etcd: ModelEtcd, revision: number, ...prefix: StoreKey): boolean =>
    commits(etcd, intentAt(revision, { searched: [below(...prefix)], written: written(['other'], 'x') }));

  test.each<[string, Partial<Intent>]>([
    ['against a record that came', { written: written(['a', '3'], 'new') }],
    ['against a record that changed', { read: new Map([[text('a', '1'), 2]]), written: written(['a', '1'], 'new') }],
    ['against a record that went', { read: new Map([[text('a', '1'), 2]]), written: written(['a', '1']) }],
  ])('%s', (_, change) => {
    const etcd = etcdWith(['a', '1'], ['a', '2'], ['b', '1']);
    const before = etcd.revision;
    expect(commits(etcd, intentAt(before, change))).toBe(true);
    expect(search(etcd, before, 'a')).toBe(false);
    expect(search(etcd, before)).toBe(false);
    expect(search(etcd, before, 'b')).toBe(true);
    expect(search(etcd, etcd.revision, 'a')).toBe(true);
  });

  test('against a record under the name of the prefix itself that went', () => {
    const etcd = etcdWith(['a'], ['a', '1']);
    const before = etcd.revision;
    const seen = {
      read: new Map([
        [text('a'), 2],
        [text('a', '1'), 3],
      ]),
      searched: [below('a')],
    };
    commits(etcd, intentAt(before, { read: new Map([[text('a'), 2]]), written: written(['a']) }));
    expect(commits(etcd, intentAt(before, { ...seen, written: written(['other'], 'x') }))).toBe(false);
  });

  test('against notes of deletions that were swept meanwhile', () => {
    const etcd = etcdWith(['a', '1']);
    const before = etcd.revision;
    etcd.txn({ compare: [], success: [put(layout.deletionsSwept, Buffer.alloc(0))], failure: [] });
    expect(search(etcd, before, 'b')).toBe(false);
  });
});

describe('a read loses', () => {
  test.each<[string, Intent['written']]>([
    ['when the record changed', written(['a'], 'new')],
    ['when it went', written(['a'])],
  ])('%s', (_, change) => {
    const etcd = etcdWith(['a']);
    const intent = intentAt(2, { read: new Map([[text('a'), 2]]), written: written(['b'], 'x') });
    expect(commits(etcd, { ...intent, written: change })).toBe(true);
    expect(commits(etcd, intent)).toBe(false);
  });

  test('when a record came that was not there, and only the first of two that saw none makes it', () => {
    const etcd = etcdWith();
    const intent = intentAt(1, { read: new Map([[text('a'), 0]]), written: written(['a'], 'x') });
    expect([commits(etcd, intent), commits(etcd, intent)]).toEqual([true, false]);
  });
});

test('nothing is written into a store that was made again', () => {
  const etcd = etcdWith();
  etcd.txn({ compare: [], success: [put(layout.epoch, Buffer.from('another'))], failure: [] });
  expect(commits(etcd, intentAt(1, { written: written(['a'], 'x') }))).toBe(false);
});

describe('the limits', () => {
  const many = (count: number): Intent['written'] => new Map(Array.from({ length: count }, (_, n) => [text('a', n), Buffer.from('x')]));

  test('each list counts for itself, the guard with it', () => {
    const guard = { compare: [], write: [put(Buffer.from('lane'), Buffer.alloc(0))] };
    expect(buildTransaction(intentAt(1, { written: many(127) }), guard, defaultLimits)).toHaveProperty('request');
    expect(buildTransaction(intentAt(1, { written: many(128) }), guard, defaultLimits)).toEqual({ exceeds: 'operations' });
    const read = new Map(Array.from({ length: 128 }, (_, n) => [text('a', n), 1]));
    expect(buildTransaction(intentAt(1, { read }), nothing, defaultLimits)).toEqual({ exceeds: 'operations' });
  });

  test('keys that a search covers cost nothing more, and deletions under one parent cost one note', () => {
    const keys = Array.from({ length: 100 }, (_, n) => text('a', n));
    const intent = intentAt(200, {
      read: new Map(keys.map((key) => [key, 1])),
      searched: [below('a')],
      written: new Map(keys.map((key) => [key, undefined])),
    });
    const built = buildTransaction(intent, nothing, defaultLimits);
    expect('request' in built && [built.request.compare.length, built.request.success.length]).toEqual([4, 101]);
  });

  test('octets are counted', () => {
    const big = new Map([[text('a'), Buffer.alloc(defaultLimits.bytes)]]);
    expect(buildTransaction(intentAt(1, { written: big }), nothing, defaultLimits)).toEqual({ exceeds: 'bytes' });
  });
});

test('the parent of a key and the prefix of a span are texts of whole parts', () => {
  expect(parentOf(text('a', 'b'))).toBe(text('a'));
  expect(parentOf(text('a'))).toBe('things\0');
  expect(prefixOf(below('a'))).toBe(text('a'));
  expect(prefixOf({ low: endOf(text('a', 'x')), high: endOf(text('a')) })).toBe(text('a'));
  expect(prefixOf({ low: keyBytes(text('a')), high: keyBytes(text('a', 'x')) })).toBe(text('a'));
  expect(prefixOf({ low: keyBytes(text('ab')), high: keyBytes(text('ac')) })).toBe('things\0');
});
