// Hand-overs: a text that waits, sealed, for the holder of a token that opens it once, so that those who pass the token on cannot read the text
// unnoticed. An opened one stays on record until its end, without the text, to tell that it was opened.
import { randomUUID } from 'node:crypto';
import type { Clock, Job } from '../base/context.ts';
import { defined } from '../base/defined.ts';
import { fail } from '../base/errors.ts';
import { revealSecret, type Secret } from '../base/secret.ts';
import { formatTimestamp } from '../base/time.ts';
import { writeInPieces } from '../store/records/pieces.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import { type Store, type Table, Unreadable, type WriteTransaction } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { hashOf } from '../base/hash.ts';

/** Record of a hand-over: everything but token and text. */
export type HandOver = {
  readonly accessor: string;
  /** SHA-256 of the token's text, hexadecimal */
  readonly hash: string;
  readonly tenantId: string;
  /** user of the token that made it */
  readonly user: string;
  /** owner of that token, as `Caller.origin`; absent in older records */
  readonly origin?: string;
  /** of a token that another has made: as `Caller.branch` */
  readonly branch?: string;
  /** absent: nothing was said */
  readonly purpose?: string;
  /** protocol of the request that made it; absent: our own API */
  readonly via?: string;
  readonly creationTime: string;
  readonly expires: string;
  /** life that a renewal gives, within `longestSeconds` from the creation */
  readonly ttlSeconds: number;
  /** absent: not yet */
  readonly opened?: { readonly time: string; readonly address: string };
  /** tokens that it had before, the oldest first: their holders are told who replaced them */
  readonly replaced?: readonly Replaced[];
};

/** A former token: its hash, and when and from where another one was asked for in its place. */
export type Replaced = { readonly hash: string; readonly time: string; readonly address: string };

/** Longest life, over all renewals. */
export const longestSeconds = 7 * 86_400;
/** Limits of a tenant: texts that wait, of `mostOctets` each, and records with those that were opened. */
const mostWaiting = 1_000;
const mostRecords = 10_000;
/** UTF-8 */
export const mostOctets = 32_768;
/** Tokens of one hand-over, one after another: the former ones stay known, so that nobody can make another one's be forgotten. */
export const mostTokens = 100;

/** [tenant uuid, accessor] */
const handOverTable = (store: Store): Table<HandOver> => store.tenantTable<HandOver>('hand-overs');
/** [tenant uuid, accessor] to the text, while it waits */
const textTable = (store: Store): Table<string> => store.tenantTable<string>('hand-over-texts');
/** [hash]: the only way from a token to its record */
const hashTable = (store: Store): Table<readonly [tenantId: string, accessor: string]> => store.table('hand-over-hashes');
export const handOverTableKinds: TableKinds = {
  'hand-overs': { of: 'all', fills: true },
  'hand-over-texts': { of: 'all', fills: true },
  'hand-over-hashes': { of: 'all', fills: true },
};

type HandOverGrant = Pick<HandOver, 'tenantId' | 'user' | 'ttlSeconds'> & {
  readonly origin?: string | undefined;
  readonly branch?: string | undefined;
  readonly purpose?: string | undefined;
  readonly via?: string | undefined;
  /** at most `mostOctets` */
  readonly text: string;
};

/**
 * Throws `hand-overs-full` for a tenant that has as many as it may have, for the owner of a token with a quarter of them, and for a token that was made by another of
 * that owner, with all that descend from it, with a quarter of that: so that one does not keep the others out. By the snapshot: parallel requests may pass
 * the limit together.
 */
export function requireRoom(
  store: Store,
  { tenantId, user, origin, branch }: Pick<Caller, 'tenantId' | 'user' | 'origin' | 'branch'>,
): void {
  const [waiting, records] = [textTable(store).count([tenantId]), handOverTable(store).count([tenantId])];
  const fits = (count: number, most: number): boolean => count < most;
  if (!fits(waiting, mostWaiting))
    throw fail('hand-overs-full', {
      detail: `${mostWaiting} hand-overs of the tenant wait to be opened: open, end or await some of them.`,
    });
  if (!fits(records, mostRecords))
    throw fail('hand-overs-full', {
      detail: `The tenant has ${mostRecords} hand-overs on record, which stay until their end: make shorter ones.`,
    });
  const shares = [
    ...(branch === undefined ? [] : [{ whose: 'of this token and those made with it', part: 16 }]),
    { whose: 'of yours', part: 4 },
  ];
  const isClose = shares.some(({ part }) => !fits(waiting, mostWaiting / part) || !fits(records, mostRecords / part));
  if (!isClose) return;
  const own = Array.from(handOverTable(store).entries([tenantId]), ([, record]) => record).filter((record) =>
    // Names are not unique: a person may be called as an approle.
    record.origin === undefined ? record.user === user : record.origin === origin,
  );
  for (const { whose, part } of shares) {
    const counted = part === 16 ? own.filter((record) => record.branch === branch) : own;
    const [waitingShare, recordsShare] = [Math.floor(mostWaiting / part), Math.floor(mostRecords / part)];
    if (!fits(counted.filter(({ opened }) => opened === undefined).length, waitingShare))
      throw fail('hand-overs-full', { detail: `${waitingShare} hand-overs ${whose} wait to be opened: open, end or await some of them.` });
    if (!fits(counted.length, recordsShare))
      throw fail('hand-overs-full', {
        detail: `${recordsShare} hand-overs ${whose} are on record, which stay until their end: make shorter ones.`,
      });
  }
}

/** Records one as part of a transaction. `token` was drawn before. */
export function makeHandOver(
  transaction: WriteTransaction,
  store: Store,
  now: Temporal.Instant,
  token: Secret<string>,
  { text, purpose, via, origin, branch, ...grant }: HandOverGrant,
): HandOver {
  const record: HandOver = {
    ...grant,
    ...defined({ purpose, via, origin, branch }),
    accessor: randomUUID(),
    hash: hashOf(revealSecret(token)),
    creationTime: formatTimestamp(now),
    expires: formatTimestamp(now.add({ seconds: grant.ttlSeconds })),
  };
  const key = [record.tenantId, record.accessor];
  transaction.put(handOverTable(store), key, record);
  transaction.put(textTable(store), key, text);
  transaction.put(hashTable(store), [record.hash], [record.tenantId, record.accessor]);
  return record;
}

/** The record of a token, opened or not, that has not ended, also of a former token; undefined for any other text. */
export function findHandOver(read: WriteTransaction['get'], store: Store, now: Temporal.Instant, token: string): HandOver | undefined {
  const place = read(hashTable(store), [hashOf(token)]);
  const record = place === undefined ? undefined : read(handOverTable(store), place);
  return record === undefined || !isInItsTime(record, now) ? undefined : record;
}

/** Returns who replaced a token of the record; undefined for the one in use. */
export function replacementOf({ replaced = [] }: HandOver, token: string): Replaced | undefined {
  const wanted = hashOf(token);
  return replaced.find((one) => one.hash === wanted);
}

/** Opens one: returns its text, which is gone with the transaction. Undefined for one that was opened before. */
export function openHandOver(
  transaction: WriteTransaction,
  store: Store,
  record: HandOver,
  opened: NonNullable<HandOver['opened']>,
): string | undefined {
  const key = [record.tenantId, record.accessor];
  const text = transaction.get(textTable(store), key);
  if (record.opened !== undefined || text === undefined) return undefined;
  transaction.delete(textTable(store), key);
  transaction.put(handOverTable(store), key, { ...record, opened });
  return text;
}

/** Gives one that waits another token, and its life again; the former token opens nothing, and tells `address`. Throws `hand-overs-full`. */
export function renewHandOver(
  transaction: WriteTransaction,
  store: Store,
  { now, address }: { readonly now: Temporal.Instant; readonly address: string },
  record: HandOver,
  token: Secret<string>,
): HandOver {
  const { replaced = [] } = record;
  if (replaced.length + 1 >= mostTokens)
    throw fail('hand-overs-full', { detail: `This hand-over has had ${mostTokens} tokens: open it with the last one, or make another.` });
  const latest = formatTimestamp(Temporal.Instant.from(record.creationTime).add({ seconds: longestSeconds }));
  const wanted = formatTimestamp(now.add({ seconds: record.ttlSeconds }));
  // Timestamps of this form sort chronologically.
  const renewed: HandOver = {
    ...record,
    hash: hashOf(revealSecret(token)),
    expires: wanted < latest ? wanted : latest,
    replaced: [...replaced, { hash: record.hash, time: formatTimestamp(now), address }],
  };
  transaction.put(hashTable(store), [renewed.hash], [record.tenantId, record.accessor]);
  transaction.put(handOverTable(store), [record.tenantId, record.accessor], renewed);
  return renewed;
}

/** Ends one of a tenant. Returns whether it existed. */
export function endHandOver(transaction: WriteTransaction, store: Store, tenantId: string, accessor: string): boolean {
  const record = transaction.get(handOverTable(store), [tenantId, accessor]);
  if (record === undefined) return false;
  drop(transaction, store, record);
  return true;
}

/** Those of a tenant that have not ended, in the order of their accessors. */
export function* listHandOvers(
  store: Store,
  now: Temporal.Instant,
  tenantId: string,
  after?: string,
): Generator<readonly [accessor: string, HandOver]> {
  for (const [, record] of handOverTable(store).entriesFound([tenantId], defined({ after })))
    if (!(record instanceof Unreadable) && isInItsTime(record, now)) yield [record.accessor, record];
}

/** Ends those of all tenants: after a restore it is unknown which of them were opened since the backup. */
export async function endAllHandOvers(store: Store): Promise<void> {
  await dropWhere(store, () => true);
}

/** The job that removes those that have ended, and what is left of a deleted tenant. */
export function handOverSweepJob(store: Store, clock: Clock): Job {
  return {
    name: 'ended-hand-overs',
    everySeconds: 600,
    async run(signal) {
      const now = clock.now();
      await dropWhere(store, (record) => now.epochMilliseconds >= millisecondsOf(record.expires), signal);
      const lost = Array.from(hashTable(store).entries([])).filter(([, place]) => !handOverTable(store).has(place));
      await writeInPieces(store, lost, (transaction, [key]) => transaction.delete(hashTable(store), key), signal);
    },
  };
}

async function dropWhere(store: Store, isOver: (record: HandOver) => boolean, signal?: AbortSignal): Promise<void> {
  store.refresh();
  const over = Array.from(handOverTable(store).entriesFound([])).flatMap(([, record]) =>
    !(record instanceof Unreadable) && isOver(record) ? [record] : [],
  );
  await writeInPieces(store, over, (transaction, record) => drop(transaction, store, record), signal);
}

function drop(transaction: WriteTransaction, store: Store, { tenantId, accessor, hash: place, replaced = [] }: HandOver): void {
  for (const one of [place, ...replaced.map(({ hash: former }) => former)]) transaction.delete(hashTable(store), [one]);
  transaction.delete(textTable(store), [tenantId, accessor]);
  transaction.delete(handOverTable(store), [tenantId, accessor]);
}

/** Small corrections of the clock do not end those that were made shortly before. */
const clockToleranceMs = 300_000;

/** A clock set back to before the creation would prolong the life. */
function isInItsTime({ creationTime, expires }: HandOver, { epochMilliseconds: nowMs }: Temporal.Instant): boolean {
  return nowMs < millisecondsOf(expires) && nowMs + clockToleranceMs >= millisecondsOf(creationTime);
}

function millisecondsOf(timestamp: string): number {
  return Temporal.Instant.from(timestamp).epochMilliseconds;
}
