// The end of requests for approval: by time, and by a restore; and of the roles whose people approve.
import { randomUUID } from 'node:crypto';
import type { Clock, Job } from '../base/context.ts';
import { fail } from '../base/errors.ts';
import type { Read } from '../access/tokens/record.ts';
import { dropStaleLogins, staleLogins } from '../access/logins/recent-logins.ts';
import type { Audit } from '../audit/record.ts';
import { formatTimestamp } from '../base/time.ts';
import { writeInPieces } from '../store/records/pieces.ts';
import { getOrDrop, type Store, type StoreKey, type WriteTransaction } from '../store/store.ts';
import { closeInBook } from './asking.ts';
import { type Approval, approvalTable, asEnded, bookTable } from './records.ts';
import { rulesIn, ruleTable } from './rules.ts';
import { isThere, standingOf } from './standing.ts';

/** Time for which a request is kept after its end. */
const keptDays = 400;
/** Ended requests that a tenant keeps at most: lists look through all of them. */
const mostKept = 2_000;

/** The job that ends requests whose time is over, with a record of each, and drops old ones, and notes of old logins. Safe to repeat and to interrupt. */
export function approvalExpiryJob(store: Store, clock: Clock, audit: Audit): Job {
  return {
    name: 'expired-approvals',
    everySeconds: 600,
    async run(signal) {
      store.refresh();
      const now = clock.now();
      const over = Array.from(approvalTable(store).entries([])).filter(([key, approval]) => isOver(store, String(key[0]), approval, now));
      await writeInPieces(store, over, (transaction, [key]) => end(transaction, store, key, 'expired', now), signal);
      for (const [key, { id, path }] of over)
        await audit.write({
          ...{ kind: 'approval', occurredAt: formatTimestamp(now), requestId: randomUUID(), tenantId: String(key[0]), path },
          ...{ approval: id, code: 'expired' },
        });
      const stale = Array.from(staleLogins(store, now));
      await writeInPieces(store, stale, (transaction, key) => dropStaleLogins(transaction, store, key, now), signal);
      const old = Array.from(overdue(store, formatTimestamp(now.subtract({ hours: keptDays * 24 }))));
      await writeInPieces(store, old, (transaction, [key]) => transaction.delete(approvalTable(store), key), signal);
    },
  };
}

/** Keys of requests that ended before a time, and of the oldest ended ones of a tenant that has too many. */
function* overdue(store: Store, before: string): Iterable<readonly [StoreKey]> {
  const ended = new Map<string, (readonly [key: StoreKey, at: string])[]>();
  for (const [key, { state, end: over }] of approvalTable(store).entries([], { uncached: true })) {
    if (state === 'open' || over === undefined) continue;
    const tenant = String(key[0]);
    const known = ended.get(tenant);
    if (known === undefined) ended.set(tenant, [[key, over.at]]);
    else known.push([key, over.at]);
  }
  for (const all of ended.values()) {
    const newestFirst = all.toSorted(([, left], [, right]) => (left > right ? -1 : 1));
    for (const [index, [key, at]] of newestFirst.entries()) if (index >= mostKept || at < before) yield [key];
  }
}

function isOver(store: Store, tenantId: string, approval: Approval, now: Temporal.Instant): boolean {
  if (approval.state !== 'open') return false;
  const { until } = standingOf(
    store,
    tenantId,
    approval,
    Array.from(ruleTable(store).entries([tenantId]), ([key, rule]) => ({ ...rule, name: String(key.at(-1)) })),
    (table, key) => table.get(key),
  );
  return formatTimestamp(now) >= until;
}

function end(transaction: WriteTransaction, store: Store, key: StoreKey, state: 'expired' | 'restored', now: Temporal.Instant): void {
  const approval = getOrDrop(transaction, approvalTable(store), key);
  if (approval?.state !== 'open') return;
  transaction.put(approvalTable(store), key, asEnded(approval, state, { at: formatTimestamp(now) }));
  closeInBook(transaction, store, String(key[0]), approval.id);
}

/** Removes the requests of a deleted tenant, which nobody can use. Safe to interrupt: the job for dead tenants removes the rest. */
export async function dropApprovals(store: Store, tenantId: string): Promise<void> {
  store.refresh();
  const keys = Array.from(approvalTable(store).keys([tenantId]));
  await writeInPieces(store, keys, (transaction, key) => transaction.delete(approvalTable(store), key));
  await store.write((transaction) => void transaction.delete(bookTable(store), [tenantId]));
}

/** Ends every open request after a restore: the backup may be from before its approval was used. */
export async function voidApprovals(store: Store, now: Temporal.Instant): Promise<void> {
  const all = Array.from(approvalTable(store).keys([]));
  await writeInPieces(store, all, (transaction, key) => end(transaction, store, key, 'restored', now));
}

/**
 * Throws `last-approver` if too few could approve by a rule without a role: nobody could change the rule then. Roles that are gone do not count, and an approle is one
 * person. `id`: as in ApproverRole.
 */
export function requireOtherApprovers(transaction: WriteTransaction, store: Store, tenantId: string, id: string): void {
  const read: Read = (table, key) => transaction.get(table, key);
  for (const { name, needed, approvers, distinctGroups = [] } of rulesIn(transaction, store, tenantId)) {
    if (!approvers.some((role) => role.id === id)) continue;
    const others = approvers.filter((role) => role.id !== id && isThere(store, tenantId, role, read));
    const isServed = (group: typeof approvers): boolean => group.some((role) => others.some((other) => other.id === role.id));
    const isManned = distinctGroups.every(isServed);
    if (isManned && (others.some(({ kind }) => kind === 'role') || new Set(others.map((role) => role.id)).size >= needed)) continue;
    throw fail('last-approver', {
      detail: `Without the people of this role too few could approve by the rule "${name}", which needs ${needed}: name other approvers there first.`,
    });
  }
}
