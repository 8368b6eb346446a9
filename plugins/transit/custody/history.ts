// History of a key in its record: its exportability and its exports, kept in the transaction of each change.
import { defined } from '../../../core/base/defined.ts';
import type { Transit } from '../context.ts';
import { type Key, removedMeanwhile } from '../records/keyring.ts';
import type { KeyExport, KeyHistory, KeyRecord } from '../records/records.ts';

/** Enough for years of scheduled backups; what is older is counted, and in the audit trail. */
const mostListed = 64;

type Flags = Pick<KeyRecord, 'exportable' | 'allowPlaintextBackup'>;

/** The history of a key whose flags become `after`; `before` is undefined for a new key. */
export function withFlags(history: KeyHistory | undefined, before: Flags | undefined, after: Flags, now: number): KeyHistory | undefined {
  const set = defined({
    exportableAt: after.exportable && before?.exportable !== true ? now : undefined,
    backupAllowedAt: after.allowPlaintextBackup && before?.allowPlaintextBackup !== true ? now : undefined,
  });
  return Object.keys(set).length === 0 ? history : { ...history, ...set };
}

/**
 * Records an export or backup before the key material is read, so that none is missing after a crash. One that fails afterwards stays in the list, and
 * its audit record says so. Throws not-found when the key was deleted or restored meanwhile.
 */
export async function noteExport({ store, tables }: Transit, key: Key, made: KeyExport): Promise<void> {
  const storeKey = [key.tenantId, key.name];
  await store.write((transaction) => {
    const current = transaction.get(tables.keys, storeKey);
    if (current?.id !== key.record.id) throw removedMeanwhile();
    const { exportCount = 0, exports = [] } = current.history ?? {};
    const history = { ...current.history, exportCount: exportCount + 1, exports: [...exports, made].slice(-mostListed) };
    transaction.put(tables.keys, storeKey, { ...current, history });
  });
}
