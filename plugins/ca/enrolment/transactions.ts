// Transactions of enrolment: a request that is repeated, because an answer was lost, gets the same answer again, and nothing new.
import { hash } from 'node:crypto';
import { subscriberOf } from '../../../core/base/addresses.ts';
import type { EnrolmentOutcome, FirstEnrolment, Transaction } from '../../../core/plugin/services/certificate-authority.ts';
import { getIfOpen, getOrDrop, type StoreKey, type WriteTransaction } from '../../../core/store/store.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { VerifiedCsr } from '../issuing/csr.ts';
import type { Enrolment, PendingEnrolment } from '../records/enrolments.ts';
import type { IssuedCertificate } from '../records/records.ts';
import type { Accepted } from './secrets.ts';

/** Days for which a request waits for a person, and for which a refusal is remembered. */
export const waitingDays = 7;

/** Requests of a CA that wait for a person, with a secret and without, and those of them from one subscriber or with one key: anybody can make some. */
const mostPending = 1_000;
const mostPendingOfAddress = 20;

/** The part of the keys of first enrolments; renewals have the serial number of the renewed certificate. */
export const first = 'first';
/** The part of the keys of messages that were answered with a certificate. */
const ofMessage = 'message';

/** Years for which a message is remembered that a credential without an end has vouched for. */
export const recordedYears = 10;

/** Place of a transaction in the store. `isOfKey`: its name is that of a key, which may ask again once its certificate is revoked. */
export type Place = {
  readonly answered: StoreKey;
  readonly pending: StoreKey;
  readonly isOfKey: boolean;
  readonly message?: StoreKey | undefined;
};

export function placeOf(ca: FoundCa, asked: Transaction, scope: string): Place {
  return placeUnder(ca, asked, scope, hash('sha256', `${asked.protocol}\0${asked.transaction}`));
}

/**
 * Place of the first enrolment of a key whose transaction has a name that another requester uses: who knows the key knows the name before the device asks.
 * Undefined for protocols that draw names.
 */
export function placeBesides(ca: FoundCa, asked: Transaction, keyHash: string): Place | undefined {
  if (asked.protocol !== 'scep') return undefined;
  return placeUnder(ca, asked, first, hash('sha256', `${asked.protocol}\0${asked.transaction}\0${keyHash}`));
}

/** Place where the first enrolment of a key is, or would be unless another requester uses its name. */
export function placeOfKey(context: CaContext, ca: FoundCa, asked: Transaction, keyHash: string): Place {
  const own = placeBesides(ca, asked, keyHash);
  if (own === undefined) return placeOf(ca, asked, first);
  const { answered, pending } = recordsOf(context, own);
  return answered === undefined && pending === undefined ? placeOf(ca, asked, first) : own;
}

function placeUnder({ tenantId, record }: FoundCa, { protocol, message }: Transaction, scope: string, id: string): Place {
  // Clients of SCEP name transactions after the key (RFC 8894 section 3.2.1.1).
  const isOfKey = protocol === 'scep';
  return {
    ...{ answered: [tenantId, record.id, scope, id], pending: [tenantId, record.id, id], isOfKey },
    message: message === undefined ? undefined : placeOfMessage([tenantId, record.id], hash('sha256', `${protocol}\0${message}`)),
  };
}

export const placeOfMessage = (ca: StoreKey, messageHash: string): StoreKey => [...ca, ofMessage, messageHash];

/** Hashes of a request: of its key, and of key and names. */
export function hashesOf({ content }: VerifiedCsr): Pick<Enrolment, 'requestHash' | 'keyHash'> {
  const names = content.alternativeNames.map(({ whole }) => Buffer.from(whole).toString('hex')).toSorted();
  const key = Buffer.from(content.publicKey).toString('hex');
  const whole = [key, Buffer.from(content.subject).toString('hex'), ...names].join('\n');
  return { keyHash: hashOfKey(content.publicKey), requestHash: hash('sha256', whole) };
}

/** SHA-256 of a DER SubjectPublicKeyInfo, hexadecimal. */
export function hashOfKey(publicKey: Uint8Array): string {
  return hash('sha256', publicKey);
}

/** The records of a transaction, in the store or as a transaction of it sees them. */
type Records = {
  readonly answered: Enrolment | undefined;
  readonly pending: PendingEnrolment | undefined;
  readonly issued: IssuedCertificate | undefined;
  readonly isOfKey: boolean;
  /** that the very message was answered with a certificate */
  readonly message: Enrolment | undefined;
};

export function recordsOf({ tables }: CaContext, { answered, pending, isOfKey, message }: Place, transaction?: WriteTransaction): Records {
  // Answers and what waits begin again: one that does not open would hold its device out for good. What tells a recorded message must open.
  const found = transaction === undefined ? getIfOpen(tables.enrolments, answered) : getOrDrop(transaction, tables.enrolments, answered);
  const own = message && (transaction === undefined ? tables.enrolments.get(message) : transaction.get(tables.enrolments, message));
  const waiting =
    transaction === undefined ? getIfOpen(tables.pendingEnrolments, pending) : getOrDrop(transaction, tables.pendingEnrolments, pending);
  const serial = found?.serial;
  const key = serial === undefined ? undefined : [...answered.slice(0, 2), serial];
  const issued =
    key === undefined ? undefined : transaction === undefined ? tables.certificates.get(key) : transaction.get(tables.certificates, key);
  return { answered: found, pending: waiting, issued, isOfKey, message: own };
}

/**
 * The answer that a request with these hashes already has; undefined if it is new. The same message once more is refused when its certificate is revoked
 * or has ended: somebody may have recorded it. Only the key decides where `requestHash` is absent, as when a device asks for news.
 */
export function findAnswer(
  { clock }: CaContext,
  records: Records,
  hashes: { readonly keyHash: string; readonly requestHash?: string },
): EnrolmentOutcome | undefined {
  const { issued, message } = records;
  const user = userOf(clock, records, hashes.keyHash);
  if (user === undefined) return message === undefined || isOver(message, clock.now()) ? undefined : replayed;
  if (user.keyHash !== hashes.keyHash || (hashes.requestHash !== undefined && user.requestHash !== hashes.requestHash))
    return usedByAnother;
  if ('csr' in user) return { status: 'pending' };
  if (user.serial === undefined) return rejected;
  if (issued === undefined || !isLiving(issued)) return ended;
  return enrolled(user.serial, issued, true);
}

const isOver = ({ until }: { readonly until: string }, now: Temporal.Instant): boolean => Temporal.Instant.compare(until, now) < 0;

/** The record that uses the name of a transaction when a request with this key comes; undefined if it is free. */
function userOf(
  clock: CaContext['clock'],
  { answered, pending, issued, isOfKey }: Records,
  keyHash: string,
): Enrolment | PendingEnrolment | undefined {
  const now = clock.now();
  // A refusal is remembered for its own key alone: anybody asks under any name.
  const isRefusedOther = answered?.serial === undefined && answered?.keyHash !== keyHash;
  if (
    answered !== undefined &&
    !isRefusedOther &&
    !isOver(answered, now) &&
    (answered.serial === undefined || !isOfKey || isLiving(issued))
  )
    return answered;
  return pending === undefined || isOver(pending, now) ? undefined : pending;
}

/** Tells whether another requester than this one, or any where this one is not known yet, uses the name of a transaction for another key. */
export function isUsedElsewhere({ clock }: CaContext, records: Records, keyHash: string, requester?: string): boolean {
  const user = userOf(clock, records, keyHash);
  return user?.requester !== undefined && user.keyHash !== keyHash && user.requester !== requester;
}

/** Hash that identifies a requester: the device of a one-time secret, or one of an address where many have the same credential, or none is asked for. */
export function requesterOf({ clientIp }: Pick<FirstEnrolment, 'clientIp'>, { credential, oneTime }: Accepted): string {
  return hash('sha256', `${credential}\0${oneTime?.at(-1) ?? subscriberOf(clientIp)}`);
}

/** The answer with a certificate. */
export function enrolled(serial: string, { certificate, subject, names }: IssuedCertificate, isRepetition: boolean): EnrolmentOutcome {
  return { status: 'issued', certificate, serial, subject, names, isRepetition };
}

function isLiving(issued: IssuedCertificate | undefined): boolean {
  return issued !== undefined && issued.revoked === undefined;
}

const usedByAnother: EnrolmentOutcome = {
  status: 'refused',
  why: 'transaction',
  detail: 'The transaction belongs to a request with another key or other names: begin a new one, with a new key.',
};

const ended: EnrolmentOutcome = {
  status: 'refused',
  why: 'transaction',
  detail: 'The certificate of this transaction is revoked: begin a new one.',
};

const replayed: EnrolmentOutcome = {
  status: 'refused',
  why: 'transaction',
  detail: 'This message was answered before, with a certificate that is revoked or has ended: send a new message.',
};

const rejected: EnrolmentOutcome = {
  status: 'refused',
  why: 'rejected',
  detail: 'A person has refused this request: ask the administrator, and begin a new transaction.',
};

/** A request that would wait. `via`: as recorded. */
export type Waiting = Pick<PendingEnrolment, 'via' | 'clientIp' | 'keyHash'>;

/**
 * Refusal of one more request that waits for a person, inside the transaction that would record it; undefined if there is room. Requests without a
 * secret, which anybody makes, take no room of those with one; a subscriber and a key have their part of it.
 */
export function findNoRoom(
  { tables, clock }: Pick<CaContext, 'tables' | 'clock'>,
  transaction: WriteTransaction,
  { tenantId, record }: FoundCa,
  wanted: Waiting,
): EnrolmentOutcome | undefined {
  const now = clock.now();
  const subscriber = subscriberOf(wanted.clientIp);
  // A registration authority has one address for all of its devices.
  const isOfMany = wanted.via.endsWith('-registration-authority');
  let [all, own] = [0, 0];
  for (const [, pending] of transaction.entries(tables.pendingEnrolments, [tenantId, record.id])) {
    if (hasSecret(pending) !== hasSecret(wanted) || Temporal.Instant.compare(pending.until, now) < 0) continue;
    all += 1;
    if (pending.keyHash === wanted.keyHash || (!isOfMany && subscriberOf(pending.clientIp) === subscriber)) own += 1;
  }
  if (all < mostPending && own < mostPendingOfAddress) return undefined;
  return {
    status: 'refused',
    why: 'full',
    detail: 'Too many requests wait for a person already: the administrator decides about them, then try again.',
  };
}

/** Tells whether the device has shown a secret; anybody makes those without one. */
export const hasSecret = ({ via }: Pick<PendingEnrolment, 'via'>): boolean => !via.endsWith('-none');
