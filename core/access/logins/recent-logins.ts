// People who have logged in by a role of late: rules of approvals count them, who need not be logged in at the moment.
import { hash } from 'node:crypto';
import { writeInPieces } from '../../store/records/pieces.ts';
import type { TableKinds } from '../../store/records/table-kinds.ts';
import { getIfOpen, getOrDrop, type Store, type Table, type WriteTransaction } from '../../store/store.ts';
import { identityKey, type LoginIdentity } from '../user.ts';

/** A login counts for so long. */
export const recentDays = 90;
/** People noted of one role: more than any rule asks for. */
const mostPeople = 32;

/** By SHA-256 of the identity (base64url), the day of the last login (YYYY-MM-DD, UTC). */
type RecentLogins = Readonly<Record<string, string>>;

/** [tenant uuid, id of the role: a grant of the login, or the id of an approle] */
const recentTable = (store: Store): Table<RecentLogins> => store.tenantTable<RecentLogins>('recent-logins');
export const recentTableKinds: TableKinds = { 'recent-logins': { of: 'all', fills: true } };

/** An identity as these records have it. A provider gives a subject to one person, whichever way that logs in. */
export function personKey(identity: LoginIdentity): string {
  const { kind } = identity;
  return hash('sha256', identityKey({ ...identity, kind: kind === 'workload' ? 'sign-in' : kind }), 'base64url');
}

/** Notes a login by roles; of the same person and day once. */
export function noteLogin(
  transaction: WriteTransaction,
  store: Store,
  tenantId: string,
  { identity, grants = [] }: { readonly identity?: LoginIdentity | undefined; readonly grants?: readonly string[] },
  now: Temporal.Instant,
): void {
  if (identity === undefined || identity.kind === 'root-token') return;
  const person = personKey(identity);
  const day = dayOf(now);
  for (const role of identity.kind === 'approle' ? [identity.source] : grants) {
    const known = getOrDrop(transaction, recentTable(store), [tenantId, role]) ?? {};
    if (known[person] === day) continue;
    const others = Object.entries(recent(known, now)).filter(([one]) => one !== person);
    transaction.put(recentTable(store), [tenantId, role], Object.fromEntries([[person, day], ...others.slice(0, mostPeople - 1)]));
  }
}

/** The people, as personKey names them, who have logged in by a role in the last 90 days; of many the last 32. */
export function recentPeople(store: Store, tenantId: string, role: string, now: Temporal.Instant): readonly string[] {
  return Object.keys(recent(getIfOpen(recentTable(store), [tenantId, role]) ?? {}, now));
}

/** Keys of the records of roles by which nobody has logged in of late. */
export function* staleLogins(store: Store, now: Temporal.Instant): Iterable<readonly [tenantId: string, role: string]> {
  for (const [[tenantId, role], logins] of recentTable(store).entries([]))
    if (Object.keys(recent(logins, now)).length === 0) yield [String(tenantId), String(role)];
}

/** Removes such a record, unless somebody has logged in meanwhile. */
export function dropStaleLogins(transaction: WriteTransaction, store: Store, key: readonly [string, string], now: Temporal.Instant): void {
  const logins = transaction.get(recentTable(store), key);
  if (logins !== undefined && Object.keys(recent(logins, now)).length === 0) transaction.delete(recentTable(store), key);
}

/** Removes what is noted of a deleted tenant. Safe to interrupt: the job for dead tenants removes the rest. */
export async function dropRecentLogins(store: Store, tenantId: string): Promise<void> {
  store.refresh();
  const keys = Array.from(recentTable(store).keys([tenantId]));
  await writeInPieces(store, keys, (transaction, key) => transaction.delete(recentTable(store), key));
}

/** Days of this form sort chronologically. */
function recent(logins: RecentLogins, now: Temporal.Instant): RecentLogins {
  const first = dayOf(now.subtract({ hours: recentDays * 24 }));
  return Object.fromEntries(Object.entries(logins).filter(([, day]) => day >= first));
}

function dayOf(now: Temporal.Instant): string {
  return now.toString().slice(0, 10);
}
