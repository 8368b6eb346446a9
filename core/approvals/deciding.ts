// Decisions of people about a request for approval: approve, reject, withdraw.
import type { Caller } from '../access/caller.ts';
import type { Read, TokenRecord } from '../access/tokens/record.ts';
import { identityKey } from '../access/user.ts';
import { defined } from '../base/defined.ts';
import { fail } from '../base/errors.ts';
import { formatTimestamp } from '../base/time.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import { bookIn, closeInBook, personOf, requireWorkingToken } from './asking.ts';
import { type Approval, approvalTable, asEnded, bookTable, type Vote } from './records.ts';
import { type NamedRule, rulesIn } from './rules.ts';
import { isOneLogin, lineageBy, roleIdsOf, type Standing, standingOf } from './standing.ts';

/** Approvals of one request: more than any rule needs. */
const mostVotes = 64;

/** A login that is older does not approve: nobody decides with a session that another has left open. */
const freshSeconds = 900;

/** A request as one person sees it. */
export type Seen = {
  readonly approval: Approval;
  readonly standing: Standing;
  readonly isOwn: boolean;
  /** ids of the roles by which the person may decide; empty: may not */
  readonly roles: readonly string[];
};

/** Decision of somebody about a request. */
export type Decision = { readonly caller: Caller; readonly now: Temporal.Instant; readonly id: string };

const fromSnapshot: Read = (table, key) => table.get(key);

/** The request as the caller sees it; undefined if it is not there, or neither the caller's own nor one that the caller may decide. */
export function seenBy(
  store: Store,
  caller: Caller,
  approval: Approval,
  rules: readonly NamedRule[],
  read: Read = fromSnapshot,
): Seen | undefined {
  const { tenantId, accessor, identity } = caller;
  const standing = standingOf(store, tenantId, approval, rules, read);
  const isOwn = identity !== undefined && identityKey(identity) === identityKey(approval.requester.identity);
  const lineage = lineageBy(store, tenantId, accessor, read);
  const own = lineage === undefined || isOwn || identity === undefined ? [] : roleIdsOf(store, tenantId, lineage, read);
  const roles = own.filter((role) => standing.requirements.some(({ approvers }) => approvers.includes(role)));
  return isOwn || roles.length > 0 ? { approval, standing, isOwn, roles } : undefined;
}

/** Approves a request for which the approver was shown this digest. Throws `not-found`, `approval-refused`, `approval-void`. */
export function approve(store: Store, { caller, now, id }: Decision, digest: string): Promise<Approval> {
  return store.write((transaction) => {
    const { approval, roles, behind } = requireDecidable(transaction, store, { caller, now, id });
    if (approval.digest !== digest)
      throw fail('approval-refused', { detail: '"digest" is not that of this request: read it again, and compare what it shows.' });
    const person = { ...personOf(caller), ...defined({ behind }) };
    if (isOneLogin(person, approval.requester))
      throw fail('approval-refused', {
        detail:
          'You have made the secret-id with which this was asked for, or the person who asks has made yours: one of you could act as the other, and another person must approve.',
      });
    if (approval.votes.some((vote) => identityKey(vote.identity) === identityKey(person.identity))) return approval;
    const tokens = requireFreshLogin(transaction, store, caller, now);
    const at = formatTimestamp(now);
    const vote: Vote = { ...person, at, roles, tokens };
    if (approval.votes.length >= mostVotes) throw fail('approval-refused', { detail: `A request has at most ${mostVotes} approvals.` });
    const kept: Approval = { ...approval, votes: [...approval.votes, vote] };
    transaction.put(approvalTable(store), [caller.tenantId, id], kept);
    noteTokens(transaction, store, caller.tenantId, id, tokens);
    return kept;
  });
}

/** Notes tokens beside a request, so that the end of one finds it. */
function noteTokens(transaction: WriteTransaction, store: Store, tenantId: string, id: string, tokens: readonly string[]): void {
  const book = bookIn(transaction, store, tenantId);
  if (book === undefined) return;
  const open = book.open.map((one) => (one.id === id ? { ...one, tokens: [...new Set([...one.tokens, ...tokens])] } : one));
  transaction.put(bookTable(store), [tenantId], { ...book, open });
}

/** Rejects a request for good. Throws as approve. */
export function reject(store: Store, decision: Decision, reason: string): Promise<Approval> {
  return store.write((transaction) => {
    const { approval } = requireDecidable(transaction, store, decision);
    return ended(transaction, store, decision, approval, 'rejected', reason);
  });
}

/** Ends a request of the caller, or takes back the caller's approval. Throws `not-found`, `approval-void`. */
export function withdraw(store: Store, decision: Decision): Promise<Approval> {
  const { caller, now, id } = decision;
  return store.write((transaction) => {
    requireWorkingToken(transaction, store, caller, now);
    const seen = requireSeen(transaction, store, caller, id);
    const { approval, isOwn } = seen;
    requireOpen(seen, now);
    if (isOwn) return ended(transaction, store, decision, approval, 'withdrawn');
    const by = identityKey(personOf(caller).identity);
    const kept: Approval = { ...approval, votes: approval.votes.filter((vote) => identityKey(vote.identity) !== by) };
    transaction.put(approvalTable(store), [caller.tenantId, id], kept);
    return kept;
  });
}

function ended(
  transaction: WriteTransaction,
  store: Store,
  { caller, now, id }: Decision,
  approval: Approval,
  state: 'rejected' | 'withdrawn',
  reason?: string,
): Approval {
  const end = { at: formatTimestamp(now), by: personOf(caller), ...(reason === undefined ? {} : { reason }) };
  const ending = asEnded(approval, state, end);
  transaction.put(approvalTable(store), [caller.tenantId, id], ending);
  closeInBook(transaction, store, caller.tenantId, id);
  return ending;
}

/** Unknown requests and those of others are one answer: `not-found`. */
function requireSeen(transaction: WriteTransaction, store: Store, caller: Caller, id: string): Seen {
  const approval = transaction.get(approvalTable(store), [caller.tenantId, id]);
  const rules = rulesIn(transaction, store, caller.tenantId);
  const seen = approval && seenBy(store, caller, approval, rules, (table, key) => transaction.get(table, key));
  if (seen === undefined) throw fail('not-found', { detail: 'There is no request for approval with this id, or none that concerns you.' });
  return seen;
}

function requireDecidable(transaction: WriteTransaction, store: Store, { caller, now, id }: Decision): Seen & Pick<TokenRecord, 'behind'> {
  const { behind } = requireWorkingToken(transaction, store, caller, now);
  const seen = requireSeen(transaction, store, caller, id);
  if (seen.isOwn) throw fail('approval-refused', { detail: 'Nobody decides about the own request, by whichever login.' });
  requireOpen(seen, now);
  return { ...seen, ...defined({ behind }) };
}

function requireOpen({ approval, standing }: Seen, now: Temporal.Instant): void {
  if (approval.state !== 'open' || formatTimestamp(now) >= standing.until)
    throw fail('approval-void', { detail: `This request is over: it is ${approval.state === 'open' ? 'expired' : approval.state}.` });
}

/** Returns the accessors of the token and its ancestors. Throws `approval-refused` if the login behind them is not recent. */
function requireFreshLogin(transaction: WriteTransaction, store: Store, caller: Caller, now: Temporal.Instant): readonly string[] {
  const lineage = lineageBy(store, caller.tenantId, caller.accessor, (table, key) => transaction.get(table, key)) ?? [];
  const first = lineage.at(-1);
  const ageSeconds = first === undefined ? Infinity : Temporal.Instant.from(first.creationTime).until(now).total('seconds');
  if (ageSeconds > freshSeconds)
    throw fail('approval-refused', { detail: `Your login is older than ${freshSeconds / 60} minutes: log in again to approve.` });
  return lineage.map(({ accessor }) => accessor);
}

/** Takes the approvals out that were given with a token, or a descendant of it: called in the transaction that disables it. */
export function voidVotesBy(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): void {
  for (const { id, tokens: known } of bookIn(transaction, store, tenantId)?.open ?? []) {
    if (!known.includes(accessor)) continue;
    const approval = transaction.get(approvalTable(store), [tenantId, id]);
    const votes = approval?.votes.filter(({ tokens }) => !tokens.includes(accessor));
    if (approval !== undefined && votes?.length !== approval.votes.length)
      transaction.put(approvalTable(store), [tenantId, id], { ...approval, votes: votes ?? [] });
  }
}
