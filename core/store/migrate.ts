// Runs numbered migrations once, in order, each in one write transaction, and records how far an owner's data has been migrated.
import type { Store, WriteTransaction } from './store.ts';

/** One numbered step of an owner's data; run once, in order, inside one write transaction. */
export type Migration = { readonly version: number; readonly describe: string; run(transaction: WriteTransaction, store: Store): void };

/** See OpenStore.migrate. `core` has the versions, `view` is what the migrations change. */
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
    await core.write((transaction) => {
      // Read again under the write lock: another process may have run it meanwhile.
      if ((transaction.get(versions, [owner]) ?? 0) >= migration.version) return;
      try {
        migration.run(transaction, view);
      } catch (cause) {
        throw new Error(`migration ${migration.version} of ${owner} (${migration.describe}) failed: ${String(cause)}`, { cause });
      }
      transaction.put(versions, [owner], migration.version);
    });
  }
}

function requireAscending(owner: string, migrations: readonly Migration[]): void {
  let last = 0;
  for (const { version } of migrations) {
    if (!Number.isSafeInteger(version) || version <= last)
      throw new TypeError(`the migrations of ${owner} are not numbered upwards from 1`);
    last = version;
  }
}
