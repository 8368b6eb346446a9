// Sign-ins and CLI logins that wait for a person: bounded by address, by tenant and in all. A new one replaces the oldest and is never refused.
import { subscriberOf } from '../../../core/base/addresses.ts';
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';

/** Time in which a sign-in or a CLI login must end. */
export const pendingSeconds = 600;

/** The fields that decide the order. `clientIp`: address of the request; absent in records of earlier versions. */
export type Waiting = { readonly tenantId: string; readonly createdMs: number; readonly clientIp?: string };

export type Bounds = { readonly perAddress: number; readonly perTenant: number; readonly inAll: number };

/** Most expired records that one start removes; the job removes the others. */
const clearedPerStart = 4;
/** Records that the job removes in one transaction: each has nine operations of a shared store, and 128 are in a transaction. */
const clearedAtOnce = 8;

/** The four orders of a record, each by time: among all, of its tenant, of its address, and of both. */
type Orders = Readonly<Record<'all' | 'tenant' | 'address' | 'both', StoreKey>>;

/**
 * Records by key, with their orders. Above a bound the oldest record of the same address is dropped, so that a caller who starts many
 * replaces their own; else the oldest of the same tenant; else the oldest of all.
 */
export class UnderWay<T extends Waiting> {
  readonly #records: Table<T>;
  readonly #order: Table<true>;
  readonly #bounds: Bounds;

  constructor(records: Table<T>, order: Table<true>, bounds: Bounds) {
    this.#records = records;
    this.#order = order;
    this.#bounds = bounds;
  }

  add(transaction: WriteTransaction, key: string, record: T): void {
    const { all, tenant, address, both } = ordersOf(record);
    const { perAddress, perTenant, inAll } = this.#bounds;
    this.#removeExpired(transaction, record.createdMs, clearedPerStart);
    this.#makeRoom(transaction, address, perAddress, [address]);
    this.#makeRoom(transaction, tenant, perTenant, [both, tenant]);
    this.#makeRoom(transaction, all, inAll, [address, tenant, all]);
    transaction.put(this.#records, [key], record);
    this.#addToOrders(transaction, key, record);
  }

  /** Adds the records of earlier versions to the orders. For the migration. */
  addAllToOrders(transaction: WriteTransaction): void {
    for (const [key, record] of Array.from(transaction.entries(this.#records, []))) this.#addToOrders(transaction, String(key[0]), record);
  }

  #addToOrders(transaction: WriteTransaction, key: string, record: T): void {
    for (const row of this.#rowsOf(key, record)) transaction.put(this.#order, row, true);
  }

  /** The record, expired or not. */
  get(key: string): T | undefined {
    return this.#records.get([key]);
  }

  /** The newest state, for a change in the transaction. */
  read(transaction: WriteTransaction, key: string): T | undefined {
    return transaction.get(this.#records, [key]);
  }

  /** Changes a record. Its time, tenant and address must stay the same. */
  change(transaction: WriteTransaction, key: string, record: T): void {
    transaction.put(this.#records, [key], record);
  }

  /** Returns whether the record existed. */
  remove(transaction: WriteTransaction, key: string): boolean {
    const record = transaction.get(this.#records, [key]);
    if (record === undefined) return false;
    for (const row of this.#rowsOf(key, record)) transaction.delete(this.#order, row);
    return transaction.delete(this.#records, [key]);
  }

  /**
   * Removes the oldest expired records, as many as one transaction of a shared store takes. Returns true if there may be more. For the job.
   */
  removeExpired(transaction: WriteTransaction, nowMs: number): boolean {
    return this.#removeExpired(transaction, nowMs, clearedAtOnce) === clearedAtOnce;
  }

  /** Finds records that are missing in an order, and rows of an order without a record. For `check`. */
  *faults(): Iterable<'not in the order' | 'without a record'> {
    for (const [key, record] of this.#records.entries([])) {
      if (!this.#rowsOf(String(key[0]), record).every((row) => this.#order.has(row))) yield 'not in the order';
    }
    for (const key of this.#order.keys([])) if (!this.#records.has([String(key.at(-1))])) yield 'without a record';
  }

  #removeExpired(transaction: WriteTransaction, nowMs: number, most: number): number {
    for (let removed = 0; removed < most; removed += 1) {
      const oldest = this.#oldestOf(['all']);
      if (oldest === undefined || !isExpired(oldest, nowMs)) return removed;
      this.#drop(transaction, oldest);
    }
    return most;
  }

  #makeRoom(transaction: WriteTransaction, order: StoreKey, bound: number, from: readonly StoreKey[]): void {
    for (let over = this.#order.count(order) + 1 - bound; over > 0; over -= 1) {
      const oldest = from.map((one) => this.#oldestOf(one)).find((one) => one !== undefined);
      if (oldest === undefined) return;
      this.#drop(transaction, oldest);
    }
  }

  /** Finds the oldest row. Inside a transaction, reads see its own changes. */
  #oldestOf(order: StoreKey): Row | undefined {
    for (const row of this.#order.keys(order, { limit: 1 })) return { row, createdMs: Number(row.at(-2)), key: String(row.at(-1)) };
    return undefined;
  }

  /** Drops a row, also that of an order whose record is missing, which would be found again forever. */
  #drop(transaction: WriteTransaction, { row, key }: Row): void {
    this.remove(transaction, key);
    transaction.delete(this.#order, row);
  }

  #rowsOf(key: string, record: Waiting): readonly StoreKey[] {
    return Object.values(ordersOf(record)).map((order) => [...order, record.createdMs, key]);
  }
}

type Row = { readonly row: StoreKey; readonly createdMs: number; readonly key: string };

function ordersOf({ tenantId, clientIp = '' }: Waiting): Orders {
  const address = subscriberOf(clientIp);
  return { all: ['all'], tenant: ['tenant', tenantId], address: ['address', address], both: ['both', tenantId, address] };
}

export function isExpired({ createdMs }: Pick<Waiting, 'createdMs'>, nowMs: number): boolean {
  return nowMs >= createdMs + pendingSeconds * 1000;
}
