// Sign-ins and command-line requests that wait for a person: bounded by address, by tenant and in all, and nobody is ever refused.
import { subscriberOf } from '../../../core/base/addresses.ts';
import type { StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';

/** From the start of a sign-in, or of a request, to its end. */
export const pendingSeconds = 600;

/** What the order of one that waits hangs on. `clientIp`: whom the request for it came from; absent in records of earlier versions. */
export type Waiting = { readonly tenantId: string; readonly createdMs: number; readonly clientIp?: string };

export type Bounds = { readonly perAddress: number; readonly perTenant: number; readonly inAll: number };

/** Most expired ones that one start clears away; the job gets the rest. */
const clearedPerStart = 20;

/** Where one that waits stands: among all, those of its tenant, of its address, and of both. Within a place in the order of time. */
type Places = Readonly<Record<'all' | 'tenant' | 'address' | 'both', StoreKey>>;

/**
 * Records under a key, and their order. Over a bound somebody has to go: the oldest of the same address goes first, so that whoever
 * starts many pushes out their own; then the oldest of the same tenant; then the oldest there is.
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
    const { all, tenant, address, both } = placesOf(record);
    const { perAddress, perTenant, inAll } = this.#bounds;
    this.#removeExpired(transaction, record.createdMs, clearedPerStart);
    this.#makeRoom(transaction, address, perAddress, [address]);
    this.#makeRoom(transaction, tenant, perTenant, [both, tenant]);
    this.#makeRoom(transaction, all, inAll, [address, tenant, all]);
    transaction.put(this.#records, [key], record);
    this.#place(transaction, key, record);
  }

  /** For the migration: those of earlier versions stand in no order. */
  placeAll(transaction: WriteTransaction): void {
    for (const [key, record] of Array.from(transaction.entries(this.#records, []))) this.#place(transaction, String(key[0]), record);
  }

  #place(transaction: WriteTransaction, key: string, record: T): void {
    for (const row of this.#rowsOf(key, record)) transaction.put(this.#order, row, true);
  }

  /** As it stands, expired or not. */
  get(key: string): T | undefined {
    return this.#records.get([key]);
  }

  /** The newest state, for changes that rest on it. */
  read(transaction: WriteTransaction, key: string): T | undefined {
    return transaction.get(this.#records, [key]);
  }

  /** Another state of the same one: neither its time nor whose it is may change. */
  change(transaction: WriteTransaction, key: string, record: T): void {
    transaction.put(this.#records, [key], record);
  }

  /** Answers whether there was one. */
  remove(transaction: WriteTransaction, key: string): boolean {
    const record = transaction.get(this.#records, [key]);
    if (record === undefined) return false;
    for (const row of this.#rowsOf(key, record)) transaction.delete(this.#order, row);
    return transaction.delete(this.#records, [key]);
  }

  /** For the job. */
  removeExpired(transaction: WriteTransaction, nowMs: number): void {
    this.#removeExpired(transaction, nowMs, Infinity);
  }

  /** For `check`: records that are not in the order, and rows of the order without a record. */
  *faults(): Iterable<'not in the order' | 'without a record'> {
    for (const [key, record] of this.#records.entries([])) {
      if (!this.#rowsOf(String(key[0]), record).every((row) => this.#order.has(row))) yield 'not in the order';
    }
    for (const key of this.#order.keys([])) if (!this.#records.has([String(key.at(-1))])) yield 'without a record';
  }

  #removeExpired(transaction: WriteTransaction, nowMs: number, most: number): void {
    for (let removed = 0; removed < most; removed += 1) {
      const oldest = this.#oldestOf(['all']);
      if (oldest === undefined || !isExpired(oldest, nowMs)) return;
      this.#drop(transaction, oldest);
    }
  }

  #makeRoom(transaction: WriteTransaction, place: StoreKey, bound: number, from: readonly StoreKey[]): void {
    for (let over = this.#order.count(place) + 1 - bound; over > 0; over -= 1) {
      const oldest = from.map((one) => this.#oldestOf(one)).find((one) => one !== undefined);
      if (oldest === undefined) return;
      this.#drop(transaction, oldest);
    }
  }

  /** Inside a transaction the table shows what that has changed. */
  #oldestOf(place: StoreKey): Row | undefined {
    for (const row of this.#order.keys(place, { limit: 1 })) return { row, createdMs: Number(row.at(-2)), key: String(row.at(-1)) };
    return undefined;
  }

  /** A row that has lost its record must not be met again for ever. */
  #drop(transaction: WriteTransaction, { row, key }: Row): void {
    this.remove(transaction, key);
    transaction.delete(this.#order, row);
  }

  #rowsOf(key: string, record: Waiting): readonly StoreKey[] {
    return Object.values(placesOf(record)).map((place) => [...place, record.createdMs, key]);
  }
}

type Row = { readonly row: StoreKey; readonly createdMs: number; readonly key: string };

function placesOf({ tenantId, clientIp = '' }: Waiting): Places {
  const address = subscriberOf(clientIp);
  return { all: ['all'], tenant: ['tenant', tenantId], address: ['address', address], both: ['both', tenantId, address] };
}

export function isExpired({ createdMs }: Pick<Waiting, 'createdMs'>, nowMs: number): boolean {
  return nowMs >= createdMs + pendingSeconds * 1000;
}
