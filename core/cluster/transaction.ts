// Turns the notes of a batch of changes into one transaction of etcd: it commits exactly if everything that was read is unchanged.
import type { Span } from '../store/environment.ts';
import type { Intent } from '../store/intent.ts';
import { keyBytes } from '../store/keys.ts';
import { type Compare, hasValue, noneAfter, type Operation, put, remove, type TxnRequest, unchangedSince } from '../etcd/messages.ts';
import { epochValue, layout, prefixOf } from './layout.ts';

/** Limits of one transaction: operations in each of its lists, and octets of the request. */
export type Limits = { readonly operations: number; readonly bytes: number };

/** Defaults of etcd (`--max-txn-ops`, `--max-request-bytes`), with a reserve for the framing of keys and values: every etcd accepts as much. */
export const defaultLimits: Limits = { operations: 128, bytes: 1_400_000 };

/**
 * Limits of an ordinary batch. The latest thousands of transactions stay in the memory of each member of etcd as they were sent:
 * 450 MiB were seen for 2,000 of 105 KB.
 */
export const batchLimits: Limits = { operations: 96, bytes: 256 << 10 };

/** Required `--max-txn-ops` of the members of etcd, and the limit of a change: all records removed or restored at once. */
export const mostOperations = 4_096;

/** Framing of a key and a value in a request, in octets. */
const frameBytes = 24;

/** Part of every transaction that its sender adds, by which it is fenced and its outcome determined. */
export type Guard = { readonly compare: readonly Compare[]; readonly write: readonly Operation[] };

/** The transaction, or the limit that it exceeds. */
export type Built = { readonly request: TxnRequest } | { readonly exceeds: keyof Limits };

export function buildTransaction(intent: Intent, guard: Guard, limits: Limits): Built {
  const compare = [hasValue(layout.epoch, epochValue(intent)), ...guard.compare, ...comparesOf(intent)];
  const success = [...guard.write, ...writesOf(intent)];
  if (Math.max(compare.length, success.length) > limits.operations) return { exceeds: 'operations' };
  const request = { compare, success, failure: [] };
  return bytesOf(request) > limits.bytes ? { exceeds: 'bytes' } : { request };
}

/**
 * Compares for serialisability: everything that the changes depended on is compared at the moment of the commit. A key is compared by the
 * revision that was read. A search is compared by three things, because a compare over a range also holds if one of its keys is gone:
 * nothing in the span is newer, nothing was deleted below its prefix, and notes of deletions newer than the state that was read were not removed.
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

/** Tells whether the compares of a search cover a key. The record that the prefix itself names has its note of deletion above the prefix. */
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
