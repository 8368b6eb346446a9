// Grants of logins: the record that lets somebody log in (an approle, a role, an issuer, a CA) opens one, tokens name it, and its end ends them all at once.
import { randomUUID } from 'node:crypto';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';

/** [tenant uuid, grant]. A record is there while the grant is open. */
const grantTable = (store: Store): Table<true> => store.tenantTable<true>('login-grants');
export const grantTableKinds: TableKinds = { 'login-grants': { of: 'all', fills: true } };

/** Opens a grant and returns its id, which is never reused. */
export function openGrant(transaction: WriteTransaction, store: Store, tenantId: string): string {
  const grant = randomUUID();
  transaction.put(grantTable(store), [tenantId, grant], true);
  return grant;
}

/** Opens the present grant of a record that an appliance of an earlier version made, which opened none. */
export function reopenGrant(transaction: WriteTransaction, store: Store, tenantId: string, grant: string): void {
  transaction.put(grantTable(store), [tenantId, grant], true);
}

/** Ends a grant: its tokens, and their children, do not work from this commit on. The job `expired-tokens` removes their records. */
export function endGrant(transaction: WriteTransaction, store: Store, tenantId: string, grant: string): void {
  transaction.delete(grantTable(store), [tenantId, grant]);
}

export function grantIsOpen(store: Store, tenantId: string, grant: string, read: WriteTransaction['get']): boolean {
  return read(grantTable(store), [tenantId, grant]) === true;
}

/** Tells whether a grant has ended for certain: its record is gone, and not only unreadable. */
export function hasEnded(store: Store, tenantId: string, grant: string): boolean {
  return grantTable(store).getFound([tenantId, grant]) === undefined;
}
