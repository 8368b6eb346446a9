// Since when the store knows every export and backup of a key in clear, for custody statements.
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import type { Clock } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Store, Table } from '../../core/store/store.ts';

/** `because`: the first start of a version that records them, or of an appliance that was restored from a backup. */
type HistoryStart = { readonly since: string; readonly because: 'first-start' | 'restored' };

/** ['start'] */
const historyTable = (store: Store): Table<HistoryStart> => store.table<HistoryStart>('export-history');
export const historyTableKinds: TableKinds = { 'export-history': { of: 'all', fills: true } };

/** Runs at every start, before anything is served. A restore begins again: the backup does not know later exports. */
export async function beginExportHistory(store: Store, clock: Clock, wasRestored: boolean): Promise<void> {
  const table = historyTable(store);
  store.refresh();
  if (!wasRestored && table.has(['start'])) return;
  await store.write((transaction) => {
    if (!wasRestored && transaction.has(table, ['start'])) return;
    transaction.put(table, ['start'], { since: formatTimestamp(clock.now()), because: wasRestored ? 'restored' : 'first-start' });
  });
}

/** Undefined in a store that no start has provisioned. */
export function exportHistoryStart(store: Store): Temporal.Instant | undefined {
  const start = historyTable(store).get(['start']);
  return start === undefined ? undefined : Temporal.Instant.from(start.since);
}
