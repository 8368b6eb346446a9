// The judge of the storm judges: histories that have an order, and others that have none.
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { type Observation, Observations } from './observations.ts';

const path = temporaryDirectory();
let files = 0;

/** Names of the objects that no order explains. `at`: when an observation was made and answered. */
function illegal(
  ...seen: readonly (Omit<Observation, 'object' | 'text' | 'call' | 'return'> & { at: readonly [number, number?] })[]
): string[] {
  const observations = new Observations(path(`history-${++files}`));
  for (const { at, ...one } of seen) {
    const [call, end] = at;
    observations.add({ object: 'one', text: '', call, ...(end === undefined ? {} : { return: end }), ...one });
  }
  const verdict = observations.judge();
  expect(verdict).toMatchObject({ objects: 1, observations: seen.length, undecided: [] });
  return verdict.illegal.map(({ object }) => object);
}

test('what was read after an acknowledged change is its outcome', () => {
  expect(illegal({ at: [1, 2], from: 0, to: 7 }, { at: [3, 4], from: 7 })).toEqual([]);
  expect(illegal({ at: [1, 2], from: 0, to: 7 }, { at: [3, 4], from: 0 })).toEqual(['one']);
  expect(illegal({ at: [1, 4], from: 0, to: 7 }, { at: [3, 5], from: 0 })).toEqual([]);
});

test('of two changes from one state one is refused', () => {
  expect(illegal({ at: [1, 4], from: 0, to: 7 }, { at: [2, 3], not: 0 })).toEqual([]);
  expect(illegal({ at: [1, 4], from: 0, to: 7 }, { at: [2, 3], from: 0, to: 8 })).toEqual(['one']);
});

test('a change of unknown outcome happens at any later time, once, or never', () => {
  const change = { at: [1], from: 0, to: 7, maybe: true } as const;
  expect(illegal(change, { at: [3, 4], from: 0 }, { at: [5, 6], from: 7 })).toEqual([]);
  expect(illegal(change, { at: [3, 4], from: 0 })).toEqual([]);
  expect(illegal(change, { at: [3, 4], from: 7 }, { at: [5, 6], from: 0 })).toEqual(['one']);
});

test('no more uses than there are', () => {
  const uses = (count: number): { at: [number, number]; above: number; by: number }[] =>
    Array.from({ length: count }, (_, n) => ({ at: [3 + n, 20], above: 0, by: -1 }));
  expect(illegal({ at: [1, 2], to: 3 }, ...uses(3), { at: [21, 22], from: 0 })).toEqual([]);
  expect(illegal({ at: [1, 2], to: 3 }, ...uses(4))).toEqual(['one']);
});
