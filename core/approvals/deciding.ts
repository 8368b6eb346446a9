// Decisions of people about a request for approval: approve, reject, withdraw.
import type { Caller } from '../access/caller.ts';
import type { Read, TokenRecord } from '../access/tokens/record.ts';
import { identityKey } from '../access/user.ts';
import { defined } from '../base/defined.ts';
import { fail } from '../base/errors.ts';
import { formatTimestamp } from '../base/time.ts';
import { getOrDrop, type Store, type WriteTransaction } from '../store/store.ts';
import { bookIn, closeInBook, personOf, requireWorkingToken } from './asking.ts';
import { type Approval, approvalTable, asEnded, bookTable, type Rejection, type Vote } from './records.ts';
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
    const by = identityKey(person.identity);
    if (approval.votes.some((vote) => identityKey(vote.identity) === by)) return approval;
    const tokens = requireFreshLogin(transaction, store, caller, now);
    const at = formatTimestamp(now);
    const vote: Vote = { ...person, at, roles, tokens };
    if (approval.votes.length >= mostVotes) throw fail('approval-refused', { detail: `A request has at most ${mostVotes} approvals.` });
    const kept: Approval = { ...withoutDecisionOf(approval, by), votes: [...approval.votes, vote] };
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

/** Rejects a request, for good when a rule has as many rejections as end it. Takes an own approval back. Throws as approve. */
export function reject(store: Store, decision: Decision, reason: string): Promise<Approval> {
  const { caller, now, id } = decision;
  const { tenantId } = caller;
  return store.write((transaction) => {
    const { approval, roles, behind } = requireDecidable(transaction, store, decision);
    const read: Read = (table, key) => transaction.get(table, key);
    const tokens = (lineageBy(store, tenantId, caller.accessor, read) ?? []).map(({ accessor }) => accessor);
    const person = { ...personOf(caller), ...defined({ behind }) };
    const rejection: Rejection = { ...person, at: formatTimestamp(now), roles, tokens, reason };
    const others = withoutDecisionOf(approval, identityKey(person.identity));
    const kept: Approval = { ...others, rejections: [...(others.rejections ?? []), rejection] };
    const { isRejected } = standingOf(store, tenantId, kept, rulesIn(transaction, store, tenantId), read);
    if (isRejected) return ended(transaction, store, decision, kept, 'rejected', reason);
    transaction.put(approvalTable(store), [tenantId, id], kept);
    noteTokens(transaction, store, tenantId, id, tokens);
    return kept;
  });
}

/** The request without what a person, as identityKey names them, has decided. */
function withoutDecisionOf(approval: Approval, by: string): Approval {
  const isOthers = ({ identity }: Vote): boolean => identityKey(identity) !== by;
  const { votes, rejections } = approval;
  return { ...approval, votes: votes.filter(isOthers), ...defined({ rejections: rejections?.filter(isOthers) }) };
}

/** Ends a request of the caller, or takes back what the caller has decided. Throws `not-found`, `approval-void`. */
export function withdraw(store: Store, decision: Decision): Promise<Approval> {
  const { caller, now, id } = decision;
  return store.write((transaction) => {
    requireWorkingToken(transaction, store, caller, now);
    const seen = requireSeen(transaction, store, caller, id);
    const { approval, isOwn } = seen;
    requireOpen(seen, now);
    if (isOwn) return ended(transaction, store, decision, approval, 'withdrawn');
    const by = identityKey(personOf(caller).identity);
    const kept = withoutDecisionOf(approval, by);
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
  if (seen.isOwn) throw fail('approval-refused', { detail: 'Nobody decides about their own request, by whichever login.' });
  requireOpen(seen, now);
  return { ...seen, ...defined({ behind }) };
}

function requireOpen({ approval, standing }: Seen, now: Temporal.Instant): void {
  const state = presentState(approval, standing, now);
  if (state !== 'open') throw fail('approval-void', { detail: `This request is over: it is ${state}.` });
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

/** The state of a request by its time and its rejections, which a rule may have come to need fewer of. */
export function presentState(approval: Approval, { until, isRejected }: Standing, now: Temporal.Instant): Approval['state'] {
  if (approval.state !== 'open') return approval.state;
  if (isRejected) return 'rejected';
  return formatTimestamp(now) >= until ? 'expired' : 'open';
}

/**
 * Takes the approvals and rejections out that were given with a token, or a descendant of it: called in the transaction that disables it. A request that does
 * not open ends with it, since it would keep them. Returns whether there was one.
 */
export function voidVotesBy(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): boolean {
  let isVoided = false;
  for (const { id, tokens: known } of bookIn(transaction, store, tenantId)?.open ?? []) {
    if (!known.includes(accessor)) continue;
    const approval = getOrDrop(transaction, approvalTable(store), [tenantId, id]);
    if (approval === undefined) {
      closeInBook(transaction, store, tenantId, id);
      isVoided = true;
      continue;
    }
    const isOthers = ({ tokens }: Vote): boolean => !tokens.includes(accessor);
    const { votes, rejections } = approval;
    if (votes.every(isOthers) && rejections?.every(isOthers) !== false) continue;
    const kept = { ...approval, votes: votes.filter(isOthers), ...defined({ rejections: rejections?.filter(isOthers) }) };
    transaction.put(approvalTable(store), [tenantId, id], kept);
    isVoided = true;
  }
  return isVoided;
}
