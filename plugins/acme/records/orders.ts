// Changes of orders and accounts that several operations make, inside their transactions.
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { Account, AcmeTables, Order } from './records.ts';

/** Ends an order: it does not count as an open one from then on. */
export function closeOrder(
  { tables }: { readonly tables: AcmeTables },
  transaction: WriteTransaction,
  place: StoreKey,
  order: Order,
  end: Pick<Order, 'status' | 'error' | 'serial'>,
): void {
  transaction.put(tables.orders, place, { ...order, ...end });
  transaction.delete(tables.openOrders, place);
}

/** Notes that an account has proved a name. `place`: [tenant uuid, CA id, account]. */
export function proveAccount(
  { tables }: { readonly tables: AcmeTables },
  transaction: WriteTransaction,
  place: StoreKey,
  account: Account,
): void {
  const [tenantId = '', caId = '', id = ''] = place;
  transaction.put(tables.accounts, place, { ...account, isProven: true });
  transaction.delete(tables.unproven, [tenantId, caId, account.subscriber, id]);
}
