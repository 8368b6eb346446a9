// What etcd promises, in memory and one transaction at a time: revisions, compares over keys and ranges, and the events of a watch.
import type { Compare, KeyRange, KeyValue, Operation, TxnAnswer, TxnRequest, WatchAnswer } from '../../core/etcd/messages.ts';

type Stored = { readonly value: Buffer; readonly created: number; readonly modified: number };
type Event = WatchAnswer['events'][number];

/** CompareTarget of rpc.proto. */
const numberOf: Readonly<Record<number, (stored: Stored | undefined) => number>> = {
  1: (stored) => stored?.created ?? 0,
  2: (stored) => stored?.modified ?? 0,
};
/** CompareResult of rpc.proto. */
const holds: Readonly<Record<number, (a: number, b: number) => boolean>> = { 0: (a, b) => a === b, 1: (a, b) => a > b, 2: (a, b) => a < b };

export class ModelEtcd {
  /** The events of each revision; a revision is its place in the list, from 1 on. */
  readonly log: Event[][] = [];
  readonly #stored = new Map<string, Stored>();

  get revision(): number {
    return this.log.length;
  }

  txn({ compare, success, failure }: TxnRequest): TxnAnswer {
    const succeeded = compare.every((one) => this.#compares(one));
    const events: Event[] = [];
    const responses = (succeeded ? success : failure).map((operation) => this.#perform(operation, events));
    requireDistinct(events);
    if (events.length > 0) this.log.push(events);
    return { succeeded, responses, header: this.#header() };
  }

  /** The messages of a watch from a revision on, a revision each. */
  watch(from: number): WatchAnswer[] {
    return this.log.slice(from - 1).map((events) => ({ ...emptyAnswer, header: this.#header(), events }));
  }

  keys(range: KeyRange): KeyValue[] {
    return this.#textsIn(range).map((text) => this.#keyValue(text));
  }

  #compares(compare: Compare): boolean {
    const texts = this.#textsIn(compare);
    // Over a range without keys, a compare is evaluated once, on a key that does not exist.
    const found = texts.length === 0 ? [undefined] : texts.map((text) => this.#stored.get(text));
    return found.every((stored) => {
      if (compare.target === 3) return stored !== undefined && compare.value !== undefined && stored.value.equals(compare.value);
      const [read, wanted] = [numberOf[compare.target], compare.target === 1 ? compare.create_revision : compare.mod_revision];
      const test = holds[compare.result];
      if (read === undefined || test === undefined || wanted === undefined) throw new TypeError('the model does not know this compare');
      return test(read(stored), wanted);
    });
  }

  #perform(operation: Operation, events: Event[]): TxnAnswer['responses'][number] {
    const next = this.revision + 1;
    if ('request_range' in operation) {
      return { response_range: { header: this.#header(), kvs: this.keys(operation.request_range), more: false } };
    }
    if ('request_put' in operation) {
      const { key, value } = operation.request_put;
      const text = textOf(key);
      this.#stored.set(text, { value: Buffer.from(value), created: this.#stored.get(text)?.created ?? next, modified: next });
      events.push({ type: 0, kv: this.#keyValue(text) });
      return {};
    }
    for (const text of this.#textsIn(operation.request_delete_range)) {
      this.#stored.delete(text);
      events.push({ type: 1, kv: { ...emptyValue, key: Buffer.from(text, 'latin1'), mod_revision: String(next) } });
    }
    return {};
  }

  #textsIn({ key, range_end: end }: KeyRange): string[] {
    const low = textOf(key);
    if (end === undefined) return this.#stored.has(low) ? [low] : [];
    const high = textOf(end);
    // The order of latin1 texts is that of their octets.
    return [...this.#stored.keys()].filter((text) => low <= text && text < high).toSorted();
  }

  #keyValue(text: string): KeyValue {
    const stored = this.#stored.get(text);
    if (stored === undefined) throw new TypeError('no such key');
    const [created, modified] = [String(stored.created), String(stored.modified)];
    return { key: Buffer.from(text, 'latin1'), value: stored.value, create_revision: created, mod_revision: modified };
  }

  #header(): TxnAnswer['header'] {
    return { cluster_id: '1', member_id: '1', revision: String(this.revision), raft_term: '1' };
  }
}

const emptyValue: KeyValue = { key: Buffer.alloc(0), value: Buffer.alloc(0), create_revision: '0', mod_revision: '0' };

/** A message of a watch that says nothing. */
export const emptyAnswer: Omit<WatchAnswer, 'header'> = {
  created: false,
  canceled: false,
  compact_revision: '0',
  cancel_reason: '',
  fragment: false,
  events: [],
};

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}

/** `duplicate key given in txn request`. */
function requireDistinct(events: readonly Event[]): void {
  const keys = events.map(({ kv }) => kv.key.toString('latin1'));
  if (new Set(keys).size < keys.length) throw new TypeError('a transaction writes a key twice');
}
