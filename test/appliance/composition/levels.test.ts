// The levels of the records: a backup of a later version is refused by its migrations, so there is no level without one.
import { expect, test } from 'vitest';
import { plugins } from '../../../appliance/plugins.ts';
import { firstLevel, type Levels, ownLevels } from '../../../core/store/records/level.ts';

/** What is wrong with migrations at these levels. */
function faultsOf(levels: readonly number[], { oldest, newest }: Levels): readonly string[] {
  const without = Array.from({ length: newest - firstLevel }, (_, index) => firstLevel + 1 + index).filter(
    (level) => !levels.includes(level),
  );
  return [
    ...without.map((level) => `level ${level} has no migration`),
    ...levels.filter((level) => level > newest).map((level) => `a migration needs level ${level}`),
    ...(oldest < firstLevel || oldest > newest ? [`the oldest level is ${oldest}`] : []),
  ];
}

test('every level above the first has a migration, and no migration is above the newest', () => {
  expect(
    faultsOf(
      plugins.flatMap(({ migrations = [] }) => migrations.map(({ level }) => level)),
      ownLevels,
    ),
  ).toEqual([]);
});

test('a level without a migration is found, and a migration that never runs', () => {
  expect(faultsOf([1, 3], { oldest: 1, newest: 2 })).toEqual(['level 2 has no migration', 'a migration needs level 3']);
  expect(faultsOf([1, 2], { oldest: 3, newest: 2 })).toEqual(['the oldest level is 3']);
});
