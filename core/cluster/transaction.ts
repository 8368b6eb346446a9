// Turns what a batch of changes noted into one transaction of etcd: it commits exactly when everything that was read is still as it was.
import type { Span } from '../store/environment.ts';
import type { Intent } from '../store/intent.ts';
import { keyBytes } from '../store/keys.ts';
import { type Compare, hasValue, noneAfter, type Operation, put, remove, type TxnRequest, unchangedSince } from '../etcd/messages.ts';
import { epochValue, layout, prefixOf } from './layout.ts';

/** What one transaction may hold at most, each of its lists for itself; and the octets of the request. */
export type Limits = { readonly operations: number; readonly bytes: number };

/** The defaults of etcd (`--max-txn-ops`, `--max-request-bytes`), with a reserve for what surrounds keys and values: every etcd takes as much. */
export const defaultLimits: Limits = { operations: 128, bytes: 1_400_000 };

/**
 * What an ordinary batch is kept below. The latest thousands of transactions stay in the memory of each member of etcd as they were sent:
 * 450 MiB were seen for 2,000 of 105 KB.
 */
export const batchLimits: Limits = { operations: 96, bytes: 256 << 10 };

/** What the members of etcd are to be started with (`--max-txn-ops`), and the most that a change has: all that is removed or restored at once. */
export const mostOperations = 4_096;

/** What surrounds a key and a value in a request, in octets. */
const frameBytes = 24;

/** Added to every transaction by its sender: what makes its outcome known, and what it is fenced by. */
export type Guard = { readonly compare: readonly Compare[]; readonly write: readonly Operation[] };

/** The transaction, or which limit it exceeds. */
export type Built = { readonly request: TxnRequest } | { readonly exceeds: keyof Limits };

export function buildTransaction(intent: Intent, guard: Guard, limits: Limits): Built {
  const compare = [hasValue(layout.epoch, epochValue(intent)), ...guard.compare, ...comparesOf(intent)];
  const success = [...guard.write, ...writesOf(intent)];
  if (Math.max(compare.length, success.length) > limits.operations) return { exceeds: 'operations' };
  const request = { compare, success, failure: [] };
  return bytesOf(request) > limits.bytes ? { exceeds: 'bytes' } : { request };
}

/**
 * Serialisable: all that the changes depended on is compared at the moment of the commit. A key is compared by the revision that was read. A
 * search is compared by three things, because a compare over a range holds also when one of its keys is gone: nothing in the span is
 * newer, nothing was deleted below its prefix, and notes of deletions newer than the state that was read were not removed.
 */
function comparesOf({ read, searched, revision }: Intent): Compare[] {
  const keys = [...read].filter(([text]) => !searched.some((span) => isBelow(text, span)));
  return [
    ...keys.map(([text, seen]) => unchangedSince(layout.record(text), seen)),
    ...searched.flatMap((span) => [
      noneAfter(layout.recordsIn(span), revision),
      noneAfter(layout.deletionsBelow(prefixOf(span)), revision),
    ]),
    ...(searched.length === 0 ? [] : [noneAfter({ key: layout.deletionsSwept }, revision)]),
  ];
}

/** Whether the compares of a search cover a key. The record that the prefix itself names has its note of deletion above the prefix. */
function isBelow(text: string, span: Span): boolean {
  const key = keyBytes(text);
  return Buffer.compare(span.low, key) <= 0 && Buffer.compare(key, span.high) < 0 && text !== prefixOf(span);
}

function writesOf({ written }: Intent): Operation[] {
  const deleted = [...written].flatMap(([text, sealed]) => (sealed === undefined ? [text] : []));
  const above = new Map(deleted.map((text) => [layout.deletionAbove(text).toString('latin1'), layout.deletionAbove(text)]));
  return [
    ...[...written].flatMap(([text, sealed]) => (sealed === undefined ? [] : [put(layout.record(text), sealed)])),
    ...deleted.map((text) => remove({ key: layout.record(text) })),
    ...Array.from(above.values(), (key) => put(key, new Uint8Array())),
  ];
}

function bytesOf({ compare, success }: TxnRequest): number {
  let bytes = 0;
  for (const { key, range_end: end, value } of compare) bytes += frameBytes + key.length + (end?.length ?? 0) + (value?.length ?? 0);
  for (const operation of success) {
    if ('request_put' in operation) bytes += frameBytes + operation.request_put.key.length + operation.request_put.value.length;
    else if ('request_delete_range' in operation) bytes += frameBytes + operation.request_delete_range.key.length;
  }
  return bytes;
}
