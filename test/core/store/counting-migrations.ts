// Migrations that can be cut: each adds one to a thousand records, so that a step that ran twice, half or not at all is seen.
import type { Migration } from '../../../core/store/migrate.ts';

export const countedRecords = 1_000;

/** Where a step may be cut: before its first write, between its writes, and between its last write and the commit. */
const places = ['before', 'inside', 'after'] as const;
const steps = [1, 2, 3] as const;

/** The names of all moments, in order. */
export const moments: readonly string[] = steps.flatMap((version) => places.map((place) => `${place}-${version}`));

/** `reached` is called at every moment with its name. */
export function countingMigrations(reached: (moment: string) => void): readonly Migration[] {
  return steps.map((version) => ({
    version,
    level: 1,
    describe: `count to ${version}`,
    run(transaction, store) {
      const table = store.table<number>('counted');
      reached(`before-${version}`);
      for (let record = 0; record < countedRecords; record++) {
        if (record === countedRecords / 2) reached(`inside-${version}`);
        transaction.put(table, [record], (transaction.get(table, [record]) ?? 0) + 1);
      }
      reached(`after-${version}`);
    },
  }));
}
