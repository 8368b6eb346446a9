// The life of key versions as the console draws it: spans of time, what comes next, and what a trim ends.
import { describe, expect, test } from 'vitest';
import {
  canBeTried,
  comingOf,
  lostBelow,
  numbersOf,
  spansOf,
  type KeyState,
  type VersionState,
} from '../../../plugins/console/app/views/keys/state.ts';

const day = 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const on = (days: number): string => new Date(start + days * day).toISOString();
const spans = (version: VersionState, end: number): unknown =>
  spansOf(version, start + end * day).map(({ status, fromMs, toMs }) => [status, (fromMs - start) / day, (toMs - start) / day]);

describe('the spans of a version', () => {
  test('follow its timers, also those that are still to come', () => {
    const version: VersionState = {
      status: 'active',
      created: on(0),
      activates: on(1),
      superseded: on(90),
      deprecates: on(120),
      invalidates: on(150),
    };
    expect(spans(version, 160)).toEqual([
      ['pending', 0, 1],
      ['active', 1, 120],
      ['deprecated', 120, 150],
      ['invalidated', 150, 160],
    ]);
    expect(spans(version, 100)).toEqual([
      ['pending', 0, 1],
      ['active', 1, 100],
    ]);
  });

  test('of the newest version go on', () => {
    expect(spans({ status: 'active', created: on(0) }, 10)).toEqual([['active', 0, 10]]);
  });

  test('end by a minimum of the key when the next version was made, because nothing says when the minimum was set', () => {
    expect(spans({ status: 'deprecated', created: on(0), superseded: on(5) }, 10)).toEqual([
      ['active', 0, 5],
      ['deprecated', 5, 10],
    ]);
    expect(spans({ status: 'invalidated', created: on(0), superseded: on(5) }, 10)).toEqual([
      ['active', 0, 5],
      ['invalidated', 5, 10],
    ]);
  });
});

const key: KeyState = {
  name: 'orders',
  'latest-version': 11,
  'oldest-version': 9,
  rotates: on(90),
  versions: {
    9: { status: 'deprecated', created: on(-90), superseded: on(-10), deprecates: on(-5), invalidates: on(20) },
    10: { status: 'active', created: on(-10), superseded: on(0), deprecates: on(5), invalidates: on(30) },
    11: { status: 'pending', created: on(0), activates: on(1) },
  },
  usage: {
    9: { uses: 10, 'uses-at-most': 64, 'not-rewrapped': 4 },
    10: { uses: 5, 'uses-at-most': 5, 'not-rewrapped': 5 },
    11: { uses: 0, 'uses-at-most': 0 },
  },
};

test('versions are ordered by number, newest first', () => expect(numbersOf(key)).toEqual([11, 10, 9]));

test('what comes next is ordered by time, without what is over', () => {
  expect(comingOf(key, start).map(({ atMs, what }) => [(atMs - start) / day, what])).toEqual([
    [1, 'version 11 begins to encrypt and sign'],
    [5, 'version 10 stops encrypting and signing'],
    [20, 'version 9 stops decrypting and verifying'],
    [30, 'version 10 stops decrypting and verifying'],
    [90, 'version 12 is made'],
  ]);
});

test('a trim ends the versions below, and the values that nothing has moved', () => {
  expect(lostBelow(key, 10)).toEqual({ ended: [9], values: 4 });
  expect(lostBelow(key, 11)).toEqual({ ended: [9, 10], values: 9 });
});

test('a key of which policies hide the versions has none', () => {
  const hidden: KeyState = { name: 'x' };
  expect([numbersOf(hidden), comingOf(hidden, start), lostBelow(hidden, 3).ended]).toEqual([[], [], []]);
});

test('a key is tried where it encrypts here or signs, or where policies hide what it does', () => {
  const tried = ['encrypt', 'sign', 'mac', 'agree', undefined].map((use) =>
    canBeTried({ name: 'one', ...(use === undefined ? {} : { use }) }),
  );
  expect(tried).toEqual([true, true, false, false, true]);
});
