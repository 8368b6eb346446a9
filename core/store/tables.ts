// Tables over an environment: sealed, cached, frozen records for reading, and the transaction in which they are changed.
import { fail, reasonOf } from '../base/errors.ts';
import type { Span } from './environment.ts';
import { decodeKey, decodeParts, encodeKey, endOf, keyBytes, requireKey } from './keys.ts';
import type { Octets } from './noted.ts';
import type { Outdated, RecordCache } from './records/cache.ts';
import { decodeRecord, encodeRecord } from './records/record.ts';
import type { Sealer } from './records/sealing.ts';
import type { Unsettled } from './records/unsettled.ts';
import { sealedPart } from './replica.ts';
import { isRecordUnreadable, type RangeOptions, type StoreKey, type Table, Unreadable, type WriteTransaction } from './store.ts';

/** Shared by all tables of a store. */
export type TableContext = {
  readonly environment: Octets;
  readonly sealer: Sealer;
  readonly cache: RecordCache;
  readonly outdated: Outdated;
  /** present for a replica */
  readonly unsettled?: Unsettled;
  /** receives the text of the key of a record that does not open, and the reason, each time it is met */
  readonly onDamaged?: (text: string, reason: string) => void;
  /** names of the tables whose keys start with a tenant, and the function that tells whether it exists */
  readonly tenants: { readonly tables: Set<string>; exists?: TenantExists };
};

/** Tells whether a tenant exists, as a transaction sees it. */
export type TenantExists = (transaction: WriteTransaction, tenantId: string) => boolean;

/** Keys fetched from LMDB at a time. */
const pageKeys = 256;

/** Returns the table with that full name. The value type is not checked: always use a name with the same type. */
export function tableOn<V>(context: TableContext, name: string): Table<V> {
  const table: Table<V> = {
    name,
    get: (key) => readRecord(context, encodeKey(name, key)) as V | undefined,
    has: (key) => readRecord(context, encodeKey(name, key)) !== undefined,
    getFound: (key) => {
      const text = encodeKey(name, key);
      return text === undefined ? undefined : (readOrReason(context, text) as V | Unreadable | undefined);
    },
    *entries(prefix, options) {
      for (const [key, value] of table.entriesFound(prefix, options)) if (!(value instanceof Unreadable)) yield [key, value];
    },
    *allEntries(prefix, options) {
      let unreadable: Unreadable | undefined;
      for (const [key, value] of table.entriesFound(prefix, options)) {
        if (value instanceof Unreadable) unreadable ??= value;
        else yield [key, value];
      }
      if (unreadable !== undefined) throw damagedRecord(unreadable.reason);
    },
    *entriesFound(prefix, options) {
      for (const text of textsBelow(context, name, prefix, options)) {
        const value = readOrReason(context, text, options?.uncached) as V | Unreadable | undefined;
        if (value !== undefined) yield [decodeKey(text).key, value];
      }
    },
    *keys(prefix, options) {
      const below = (encodeKey(name, prefix) ?? '').length;
      for (const text of textsBelow(context, name, prefix, options)) yield [...prefix, ...decodeParts(text.slice(below))];
    },
    count(prefix) {
      const text = encodeKey(name, prefix);
      if (text === undefined) return 0;
      const span = { low: keyBytes(text), high: endOf(text) };
      context.unsettled?.search(span);
      return context.environment.count(span);
    },
  };
  return table;
}

/** The transaction passed to one change; records the changed keys, and refuses to be used after the change. */
export class Change implements WriteTransaction {
  readonly changed = new Set<string>();
  readonly #context: TableContext;
  #over = false;

  constructor(context: TableContext) {
    this.#context = context;
  }

  /** Requires that the tenant exists: it may have been deleted while the record was prepared; the caller's token is then gone too. */
  #requireTenant(table: string, [tenantId]: StoreKey): void {
    const { tables, exists } = this.#context.tenants;
    if (exists !== undefined && tables.has(table) && !exists(this, String(tenantId))) throw fail('invalid-token');
  }

  get<V>(table: Table<V>, key: StoreKey): V | undefined {
    this.#requireRunning();
    return readRecord(this.#context, encodeKey(table.name, key)) as V | undefined;
  }

  has<V>(table: Table<V>, key: StoreKey): boolean {
    this.#requireRunning();
    const text = encodeKey(table.name, key);
    if (text === undefined) return false;
    this.#context.unsettled?.look(text);
    return this.#context.environment.get(keyBytes(text)) !== undefined;
  }

  put<V>(table: Table<V>, key: StoreKey, value: V): void {
    this.#requireRunning();
    const text = requireKey(table.name, key);
    this.#requireTenant(table.name, key);
    const bytes = keyBytes(text);
    this.#note(text);
    this.#context.environment.put(bytes, this.#context.sealer.seal(encodeRecord(value), bytes));
  }

  delete<V>(table: Table<V>, key: StoreKey): boolean {
    this.#requireRunning();
    const text = encodeKey(table.name, key);
    if (text === undefined) return false;
    this.#context.unsettled?.look(text);
    if (!this.#context.environment.remove(keyBytes(text))) return false;
    this.#note(text);
    return true;
  }

  deleteUnreadable<V>(table: Table<V>, key: StoreKey): boolean {
    this.#requireRunning();
    const text = encodeKey(table.name, key);
    if (text === undefined || !(readOrReason(this.#context, text) instanceof Unreadable)) return false;
    return this.delete(table, key);
  }

  entries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]> {
    this.#requireRunning();
    return tableOn<V>(this.#context, table.name).entries(prefix);
  }

  allEntries<V>(table: Table<V>, prefix: StoreKey): Iterable<readonly [StoreKey, V]> {
    this.#requireRunning();
    return tableOn<V>(this.#context, table.name).allEntries(prefix);
  }

  keys<V>(table: Table<V>, prefix: StoreKey): Iterable<StoreKey> {
    this.#requireRunning();
    return tableOn<V>(this.#context, table.name).keys(prefix);
  }

  end(): void {
    this.#over = true;
  }

  /** Notes a changed key, which is read past the cache until the commit ends, even if the change is undone. */
  #note(text: string): void {
    this.changed.add(text);
    this.#context.outdated.add(text);
  }

  #requireRunning(): void {
    if (this.#over) throw new TypeError('a write transaction was used after its change was over');
  }
}

/** Reads the record of a key text; inside a commit the newest one. `uncached`: does not put it into the cache. */
function readRecord(context: TableContext, text: string | undefined, uncached = false): unknown {
  if (text === undefined) return undefined;
  context.unsettled?.look(text);
  if (context.environment.inCommit && context.outdated.has(text)) return openRecord(context, text)?.value;
  const cached = context.cache.get(text);
  if (cached !== undefined) return cached;
  const record = openRecord(context, text);
  if (record === undefined) return undefined;
  if (!uncached) context.cache.set(text, record.value, record.bytes);
  return record.value;
}

function readOrReason(context: TableContext, text: string, uncached = false): unknown {
  try {
    return readRecord(context, text, uncached);
  } catch (error) {
    if (!isRecordUnreadable(error)) throw error;
    return new Unreadable(reasonOf(error));
  }
}

/** Error of a record that does not open. `reason` names the record by its key. */
function damagedRecord(reason: string): Error {
  return fail('record-unreadable', {
    detail: `The record ${reason}. Restore the original record, or delete it as root.`,
    cause: new Error(reason),
  });
}

/** Opens a record, past the cache. Throws `record-unreadable` if it does not open, which never happens to one that the store has written. */
export function openRecord(
  { environment, sealer, onDamaged }: TableContext,
  text: string,
): { readonly value: unknown; readonly bytes: number } | undefined {
  const key = keyBytes(text);
  const value = environment.get(key);
  if (value === undefined) return undefined;
  const octets = sealer.open(sealedPart(value), key);
  if (octets === undefined) {
    const reason = `${describeKey(text)} does not open: it was changed, moved, or sealed under another key`;
    onDamaged?.(text, reason);
    throw damagedRecord(reason);
  }
  return { value: decodeRecord(octets), bytes: value.length };
}

/** Formats a key for messages: `transit/keys [tenant, name]`. */
export function describeKey(text: string): string {
  const { table, key } = decodeKey(text);
  return `${table} ${JSON.stringify(key)}`;
}

/** Names of the tables that have records. Keys of other entries begin with a control character; one that has no table was written past keystored. */
export function* tableNamesIn(environment: Octets): Iterable<string> {
  for (let low = keyBytes('a'); ;) {
    const [key] = environment.keys({ low, high: Buffer.of(0xff) }, 1, false);
    if (key === undefined) return;
    const end = key.indexOf(0);
    if (end > 0) yield key.toString('utf8', 0, end);
    // By octets: the text of a name that is not UTF-8 may lead back to before it.
    low = end > 0 ? Buffer.concat([key.subarray(0, end + 1), Buffer.of(0xff)]) : Buffer.concat([key, Buffer.of(0)]);
  }
}

/** Texts of the keys in a span, in order, fetched in pages. */
export function* textsIn(environment: Octets, span: Span, reverse = false, limit = Number.POSITIVE_INFINITY): Iterable<string> {
  for (let rest = span, left = limit; left > 0;) {
    const pageSize = Math.min(pageKeys, left);
    const page = environment.texts(rest, pageSize, reverse);
    yield* page;
    if (page.length < pageSize) return;
    left -= page.length;
    const last = lastKey(environment, rest, page, reverse);
    rest = reverse ? { low: rest.low, high: last } : { low: Buffer.concat([last, Buffer.of(0)]), high: rest.high };
  }
}

/** The key of the last text of a page. One that somebody wrote past keystored may be no UTF-8: its text would lead back to before it. */
function lastKey(environment: Octets, span: Span, page: readonly string[], reverse: boolean): Buffer {
  const text = page.at(-1) ?? '';
  const key = text.includes('\ufffd') ? environment.keys(span, page.length, reverse).at(-1) : undefined;
  return key ?? keyBytes(text);
}

function* textsBelow(
  { environment, unsettled }: TableContext,
  table: string,
  prefix: StoreKey,
  options: RangeOptions = {},
): Iterable<string> {
  const below = encodeKey(table, prefix);
  if (below === undefined) return;
  let span: Span = { low: keyBytes(below), high: endOf(below) };
  if (options.after !== undefined) {
    const after = encodeKey(table, [...prefix, options.after]);
    if (after === undefined) return;
    // Keys below the one to start after are skipped too.
    span = options.reverse === true ? { low: span.low, high: keyBytes(after) } : { low: endOf(after), high: span.high };
  }
  unsettled?.search(span);
  yield* textsIn(environment, span, options.reverse, options.limit);
}
