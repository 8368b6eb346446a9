// Runs numbered migrations once, in order, each in one write transaction, and records how far an owner's data has been migrated.
import type { Store, WriteTransaction } from './store.ts';

/** One numbered step for an owner's data; run once, in order, inside one write transaction or, with `more`, in several. */
export type Migration = {
  readonly version: number;
  /** level of the store (records/level.ts) from which it runs: until then, appliances of an earlier version may have to read its records */
  readonly level: number;
  readonly describe: string;
  /** Runs the step. `more`: the rest exceeds a transaction of a shared store; it is called again. */
  run(transaction: WriteTransaction, store: Store): void | 'more';
};

/** As OpenStore.migrate. `core` has the versions; the migrations change `view`. */
export async function migrate(core: Store, owner: string, migrations: readonly Migration[], view: Store): Promise<void> {
  requireAscending(owner, migrations);
  const versions = core.table<number>('migrations');
  const known = migrations.at(-1)?.version ?? 0;
  const reached = versions.get([owner]) ?? 0;
  if (reached > known) {
    throw new Error(
      `the data of ${owner} has version ${reached}, this program knows ${known}: install the newer program or restore an older backup`,
    );
  }
  for (const migration of migrations) {
    // The transactions depend on the level, which is never lowered.
    if (migration.level > view.level) return;
    for (let outcome: void | 'more' = 'more'; outcome === 'more';) {
      outcome = await core.write((transaction) => {
        // Read again under the write lock: another process may have run it meanwhile.
        if ((transaction.get(versions, [owner]) ?? 0) >= migration.version) return undefined;
        try {
          if (migration.run(transaction, view) === 'more') return 'more';
        } catch (cause) {
          throw new Error(`migration ${migration.version} of ${owner} (${migration.describe}) failed: ${String(cause)}`, { cause });
        }
        transaction.put(versions, [owner], migration.version);
        return undefined;
      });
    }
  }
}

function requireAscending(owner: string, migrations: readonly Migration[]): void {
  let last = { version: 0, level: 0 };
  for (const { version, level } of migrations) {
    if (!Number.isSafeInteger(version) || version <= last.version || level < last.level)
      throw new TypeError(`the migrations of ${owner} are not numbered upwards from 1, or their levels go down`);
    last = { version, level };
  }
}
