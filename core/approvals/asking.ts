// Asking for approval, and spending one: the transactions between which other people agree.
import { counted } from '../base/texts/counted.ts';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../access/caller.ts';
import { isWorking, tokenTable, type Read, type TokenRecord } from '../access/tokens/record.ts';
import { identityKey } from '../access/user.ts';
import { defined } from '../base/defined.ts';
import { fail } from '../base/errors.ts';
import { formatTimestamp, parseDuration } from '../base/time.ts';
import { getOrDrop, type Store, type WriteTransaction } from '../store/store.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Act } from './acts.ts';
import type { Outside } from './narrowing.ts';
import { type Approval, approvalTable, type Book, bookTable, emptyBook, asEnded, type Person } from './records.ts';
import { type NamedRule, rulesIn } from './rules.ts';
import { standingOf } from './standing.ts';

/** A request that needs approval, as far as approvals know it. */
export type Guarded = {
  readonly caller: Caller;
  readonly clientIp: string;
  readonly now: Temporal.Instant;
  readonly method: string;
  readonly endpoint: string;
  readonly path: string;
  readonly concerns: readonly (readonly string[])[];
  readonly acts: readonly Act[];
  /** rules that are not about it because of its values */
  readonly outside: readonly Outside[];
  readonly digest: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** Open requests of a person and of a tenant, and those that a person may make in an hour: a flood hides the one that matters. */
const mostOfPerson = 10;
const mostOfTenant = 200;
const mostInHour = 60;
/** So many are left to each login when those of its maker have used that up; all of one maker have four times as many as a person. */
const leftToLogin = { open: 2, inHour: 12 } as const;
const loginsOfMaker = 4;
const hourMs = 3_600_000;

/** The identity of a caller. Throws `approval-refused` for tokens of versions before identities were recorded. */
export function personOf({ identity, user, accessor }: Caller): Person {
  if (identity === undefined)
    throw fail('approval-refused', {
      detail: 'This token does not say who its holder is, because an earlier version issued it: log in again.',
    });
  return { identity, user, accessor };
}

/**
 * Records a request for approval; the same request of the same person, while it is open, is the one that is there. Throws `approval-refused` and
 * `quota-exceeded`.
 */
export function ask(store: Store, guarded: Guarded, rules: readonly NamedRule[], reason: string): Promise<Approval> {
  const { caller, now, digest, clientIp } = guarded;
  const { tenantId } = caller;
  const person = personOf(caller);
  const by = identityKey(person.identity);
  return store.write((transaction) => {
    const { behind } = requireWorkingToken(transaction, store, caller, now);
    const requester = { ...person, ...defined({ behind }), clientIp };
    const book = livingBook(bookIn(transaction, store, tenantId) ?? emptyBook, now);
    const same = book.open.find((one) => one.digest === digest && one.by === by);
    const present = same && getOrDrop(transaction, approvalTable(store), [tenantId, same.id]);
    if (present?.state === 'open' && isLiving(transaction, store, tenantId, present, now))
      return withPresentValues(transaction, store, present, guarded);
    if (present?.state === 'open') {
      const end = { at: formatTimestamp(now) };
      transaction.put(approvalTable(store), [tenantId, present.id], asEnded(present, 'expired', end));
    }
    const others = { ...book, open: book.open.filter((one) => one.id !== same?.id) };
    const approval = approvalOf(guarded, requester, rules, reason);
    transaction.put(bookTable(store), [tenantId], entered(others, approval, peopleOf(requester), now));
    transaction.put(approvalTable(store), [tenantId, approval.id], approval);
    return approval;
  });
}

function isLiving(transaction: WriteTransaction, store: Store, tenantId: string, approval: Approval, now: Temporal.Instant): boolean {
  const rules = rulesIn(transaction, store, tenantId);
  const { until, isRejected } = standingOf(store, tenantId, approval, rules, (table, key) => transaction.get(table, key));
  return !isRejected && formatTimestamp(now) < until && !isBefore(now, approval.from);
}

/** The same request, by the present values of the rules: those of a rule may have changed since. */
function withPresentValues(transaction: WriteTransaction, store: Store, present: Approval, { caller, outside }: Guarded): Approval {
  const judged: Approval = { ...present, ...outsideNoted(outside) };
  if (!isDeepStrictEqual(judged.outside ?? [], present.outside ?? []))
    transaction.put(approvalTable(store), [caller.tenantId, present.id], judged);
  return judged;
}

const outsideNoted = (outside: Guarded['outside']): Pick<Approval, 'outside'> => ({
  outside: outside.map(({ name, values }) => ({ name, values })),
});

function approvalOf(
  { now, digest, method, endpoint, path, concerns, acts, outside, parameters }: Guarded,
  requester: Approval['requester'],
  rules: readonly NamedRule[],
  reason: string,
): Approval {
  const secondsOf = (field: 'approveWithin' | 'useWithin'): number =>
    Math.min(...rules.map((rule) => parseDuration(rule[field], field).seconds));
  return {
    ...{ id: randomUUID(), digest, requester, method, endpoint, path, concerns, acts, parameters, reason },
    ...(outside.length === 0 ? {} : outsideNoted(outside)),
    rules: rules.map(({ name, needed, approvers, distinctGroups = [], rejections = 1 }) => ({
      ...{ name, needed, rejections, approvers: approvers.map(({ id }) => id) },
      ...(distinctGroups.length === 0 ? {} : { distinctGroups: distinctGroups.map((group) => group.map(({ id }) => id)) }),
    })),
    from: formatTimestamp(now),
    approveUntil: formatTimestamp(now.add({ seconds: secondsOf('approveWithin') })),
    useWithinSeconds: secondsOf('useWithin'),
    votes: [],
    state: 'open',
  };
}

/** The book without requests whose time is over, and without the counts of earlier hours. */
function livingBook({ open, asked }: Book, now: Temporal.Instant): Book {
  // Timestamps of this form sort chronologically.
  const present = formatTimestamp(now);
  const hour = hourOf(now);
  return { open: open.filter(({ until }) => until > present), asked: asked.filter((one) => one.hour === hour) };
}

function hourOf(now: Temporal.Instant): number {
  return Math.floor(now.epochMilliseconds / hourMs);
}

/** The people behind a request: the one who asks, first, and the makers of the login, who could fill the room by many. Root tokens set up every login. */
function peopleOf({ identity, behind = [] }: Person): readonly string[] {
  return [...new Set([identity, ...behind.filter(({ kind }) => kind !== 'root-token')].map(identityKey))];
}

/** Throws `quota-exceeded`. */
function entered(
  book: Book,
  { id, digest, approveUntil, useWithinSeconds }: Approval,
  people: readonly string[],
  now: Temporal.Instant,
): Book {
  const [by = ''] = people;
  const hour = hourOf(now);
  const askedOf = (person: string) => book.asked.find((one) => one.by === person);
  const timesOf = (person: string): number => askedOf(person)?.times ?? 0;
  const ownTimes = askedOf(by)?.own ?? timesOf(by);
  const ownOpen = book.open.filter((one) => one.by === by).length;
  const times = Math.max(...people.map(timesOf));
  const open = Math.max(...people.map((person) => book.open.filter((one) => (one.people ?? [one.by]).includes(person)).length));
  if (
    isOver({ all: times, own: ownTimes, most: mostInHour, left: leftToLogin.inHour }) ||
    isOver({ all: open, own: ownOpen, most: mostOfPerson, left: leftToLogin.open }) ||
    book.open.length >= mostOfTenant
  )
    throw fail('quota-exceeded', {
      detail: `At most ${mostOfPerson} requests for approval of a person and ${mostOfTenant} of a tenant are open at once, and a person makes ${mostInHour} in an hour: withdraw some, or wait.`,
      retryAfterSeconds: Math.ceil(((hour + 1) * hourMs - now.epochMilliseconds) / 1_000),
    });
  return {
    open: [...book.open, { id, digest, by, people, until: untilOf({ approveUntil, useWithinSeconds }), tokens: [] }],
    asked: [
      ...book.asked.filter((one) => !people.includes(one.by)),
      ...people.map((one) => ({ by: one, hour, times: timesOf(one) + 1, own: (askedOf(one)?.own ?? 0) + (one === by ? 1 : 0) })),
    ],
  };
}

/** `all`: of the person or of a maker with all logins; `own`: of the one who asks. One login must not use up what the others of its maker have. */
function isOver({
  all,
  own,
  most,
  left,
}: {
  readonly all: number;
  readonly own: number;
  readonly most: number;
  readonly left: number;
}): boolean {
  return own >= most || (all >= most && own >= left) || all >= loginsOfMaker * most;
}

/** The time at which a request is over in any case. */
function untilOf({ approveUntil, useWithinSeconds }: Pick<Approval, 'approveUntil' | 'useWithinSeconds'>): string {
  return formatTimestamp(Temporal.Instant.from(approveUntil).add({ seconds: useWithinSeconds }));
}

/** The book of a tenant. Of one that does not open the requests are gathered again, so that tokens still take their approvals with them. */
export function bookIn(transaction: WriteTransaction, store: Store, tenantId: string): Book | undefined {
  if (!transaction.deleteUnreadable(bookTable(store), [tenantId])) return transaction.get(bookTable(store), [tenantId]);
  const open = Array.from(transaction.entries(approvalTable(store), [tenantId]), ([, approval]) => approval).filter(
    ({ state }) => state === 'open',
  );
  const book: Book = {
    ...emptyBook,
    open: open.map(({ id, digest, requester, votes, rejections = [], ...times }) => {
      const people = peopleOf(requester);
      return {
        id,
        digest,
        by: people[0] ?? '',
        people,
        until: untilOf(times),
        tokens: [...new Set([...votes, ...rejections].flatMap(({ tokens }) => tokens))],
      };
    }),
  };
  transaction.put(bookTable(store), [tenantId], book);
  return book;
}

/** Takes a request that is over out of the book of its tenant. */
export function closeInBook(transaction: WriteTransaction, store: Store, tenantId: string, id: string): void {
  const book = bookIn(transaction, store, tenantId);
  if (book?.open.some((one) => one.id === id) !== true) return;
  transaction.put(bookTable(store), [tenantId], { ...book, open: book.open.filter((one) => one.id !== id) });
}

/**
 * Spends an approval for a request: from its commit on it is used, whatever becomes of the request. Of many at once one gets it. Throws `approval-void`,
 * `approval-missing`, `approval-refused` and `invalid-token`.
 */
export function spend(store: Store, guarded: Guarded, id: string): Promise<Approval> {
  const { caller, now, digest } = guarded;
  const { tenantId } = caller;
  const by = identityKey(personOf(caller).identity);
  return store.write((transaction) => {
    const { behind = [] } = requireWorkingToken(transaction, store, caller, now);
    const asked = transaction.get(approvalTable(store), [tenantId, id]);
    // A caller who guesses ids must not learn which ones there are.
    if (asked === undefined || identityKey(asked.requester.identity) !== by)
      throw fail('approval-void', { detail: 'There is no approval of yours with this id.' });
    requireOfRequest(asked, digest, now);
    // Another login of the same approle may be that of another maker.
    const requester = { ...asked.requester, behind: [...(asked.requester.behind ?? []), ...behind] };
    const approval: Approval = { ...asked, requester, ...outsideNoted(guarded.outside) };
    const read: Read = (table, key) => transaction.get(table, key);
    const standing = standingOf(store, tenantId, approval, rulesIn(transaction, store, tenantId), read);
    const { requirements, isRejected, grantedAt, until } = standing;
    if (isRejected) throw fail('approval-void', { detail: stateTexts.rejected });
    const lacking = requirements.find(({ isMet }) => !isMet);
    if (lacking !== undefined)
      throw fail('approval-missing', {
        detail: `The rule "${lacking.name}" needs ${counted(lacking.needed, 'approval')}, and ${lacking.have} count at present${lacking.groupsLacking === 0 ? '' : `; ${lacking.groupsLacking} of its groups lack one of their people`}.`,
      });
    if (grantedAt === undefined || formatTimestamp(now) >= until || isBefore(now, grantedAt))
      throw fail('approval-void', { detail: overText });
    const end = { at: formatTimestamp(now), by: personOf(caller) };
    const used = asEnded(approval, 'used', end);
    transaction.put(approvalTable(store), [tenantId, id], used);
    closeInBook(transaction, store, tenantId, id);
    return used;
  });
}

/** Throws `approval-void` unless an approval is open, for this request, and not of a time to come: the clock may have been set back. */
function requireOfRequest(approval: Approval, digest: string, now: Temporal.Instant): void {
  if (approval.state !== 'open') throw fail('approval-void', { detail: stateTexts[approval.state] });
  if (approval.digest !== digest)
    throw fail('approval-void', {
      detail:
        'The approval is for another request: its method, path, query, body and the present state of what it changes must be as they were when approval was asked for.',
    });
  if (isBefore(now, approval.from)) throw fail('approval-void', { detail: overText });
}

const overText = 'The time of this approval is over: ask again.';
const stateTexts: Readonly<Record<Exclude<Approval['state'], 'open'>, string>> = {
  used: 'This approval is used: each is for one request.',
  rejected: 'This request was rejected.',
  withdrawn: 'This request was withdrawn.',
  expired: overText,
  restored: 'The appliance was restored from a backup after this request: ask again.',
};

/** Small corrections of the clock do not end an approval. */
const clockToleranceSeconds = 300;

function isBefore(now: Temporal.Instant, timestamp: string): boolean {
  return formatTimestamp(now.add({ seconds: clockToleranceSeconds })) < timestamp;
}

/** Returns the token's record. It may have been disabled since the checks: throws `invalid-token`. */
export function requireWorkingToken(
  transaction: WriteTransaction,
  store: Store,
  { tenantId, accessor }: Caller,
  now: Temporal.Instant,
): TokenRecord {
  const read: Read = (table, key) => transaction.get(table, key);
  const token = transaction.get(tokenTable(store), [tenantId, accessor]);
  if (token === undefined || !isWorking(store, token, now, read)) throw fail('invalid-token');
  return token;
}
