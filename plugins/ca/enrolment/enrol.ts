// Enrolment by a protocol in which devices ask again: decision, one issue for a transaction, and what waits for a person.
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp, parseDuration } from '../../../core/base/time.ts';
import type { FailureLimit } from '../../../core/access/failure-limit.ts';
import type { EnrolmentOutcome, FirstEnrolment, Transaction } from '../../../core/plugin/services/certificate-authority.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { Certificate } from '../der/certificate.ts';
import { type ApprovedRequest, approveByPolicy, approveIdentity, approveRenewal } from '../issuing/approval.ts';
import type { VerifiedCsr } from '../issuing/csr.ts';
import { issueCertificate } from '../issuing/issue.ts';
import type { FixedIdentity } from '../records/enrolments.ts';
import { type CaRecord, type RenewalLimits } from '../records/records.ts';
import { type Accepted, endOfSecret, type Judged, judgeSecret, type Rules, spend } from './secrets.ts';
import {
  enrolled,
  findAnswer,
  findNoRoom,
  hashesOf,
  isUsedElsewhere,
  type Place,
  placeBesides,
  placeOf,
  placeOfKey,
  recordedYears,
  recordsOf,
  requesterOf,
  waitingDays,
} from './transactions.ts';

/** First enrolment of a device. Throws `identity-not-allowed`, `rate-limited`, and as issueCertificate. */
export async function enrolFirst(
  context: CaContext,
  limit: FailureLimit,
  ca: FoundCa,
  csr: VerifiedCsr,
  asked: FirstEnrolment,
): Promise<EnrolmentOutcome> {
  const hashes = hashesOf(csr);
  const place = placeOfKey(context, ca, asked, hashes.keyHash);
  const records = recordsOf(context, place);
  const known = findAnswer(context, records, hashes);
  const rules = rulesOf(ca.record, asked.protocol);
  const besides = placeBesides(ca, asked, hashes.keyHash);
  const isOpen = known === undefined || (besides !== undefined && isUsedElsewhere(context, records, hashes.keyHash));
  if (!isOpen) {
    const shared = records.issued?.via.endsWith('-shared-secret') === true ? rules.initialEnrollSecret : undefined;
    const end = asked.vouched === undefined ? endOfSecret(context, ca, shared, asked.secret) : undefined;
    if (end !== undefined) await keepMessage(context, csr, place, known, end === 'without-end' ? endOf(context, {}) : end);
    return known;
  }
  const judged: Judged = asked.vouched === undefined ? await judgeSecret(context, limit, ca, rules, asked) : { credential: asked.vouched };
  if ('refusal' in judged) return { status: 'refused', why: 'credential', detail: `The credential was not accepted: ${judged.refusal}.` };
  asked.onAccepted?.(judged.credential);
  const approved = approveFirst(csr, ca, judged.identity);
  const requester = besides && requesterOf(asked, judged);
  const decide = rules.approvalRequired ? keepPending : issueFirst;
  const outcome = known ?? (await decide(context, ca, { csr, place, asked, judged, approved, requester }));
  if (besides === undefined || place === besides) return outcome;
  // Somebody may have come first meanwhile.
  context.store.refresh();
  if (!isUsedElsewhere(context, recordsOf(context, place), hashes.keyHash, requester)) return outcome;
  return decide(context, ca, { csr, place: besides, asked, judged, approved, requester });
}

/** A first enrolment whose sender was accepted. */
type AcceptedFirst = {
  readonly csr: VerifiedCsr;
  readonly place: Place;
  readonly asked: FirstEnrolment;
  readonly judged: Accepted;
  readonly approved: ApprovedRequest;
  readonly requester: string | undefined;
};

function issueFirst(context: CaContext, ca: FoundCa, { judged, asked, ...wish }: AcceptedFirst): Promise<EnrolmentOutcome> {
  const messageUntil = endOf(context, judged);
  return issueOnce(context, ca, { ...wish, messageUntil, keep: asked.keep }, `${asked.protocol}-${judged.credential}`, (transaction) => {
    spendOrRefuse(context, transaction, judged.oneTime);
  });
}

/** The time until which a message with this credential could be sent again. */
function endOf({ clock }: CaContext, { until }: Pick<Accepted, 'until'>): string {
  return until ?? formatTimestamp(clock.now().add({ hours: recordedYears * 365 * 24 }));
}

/** Records another message that got the certificate of its transaction, and could get a new one when that is revoked. */
async function keepMessage(
  { store, tables }: CaContext,
  csr: VerifiedCsr,
  { message }: Place,
  known: EnrolmentOutcome,
  until: string,
): Promise<void> {
  if (known.status !== 'issued' || message === undefined || tables.enrolments.has(message)) return;
  await store.write((transaction) => transaction.put(tables.enrolments, message, { ...hashesOf(csr), serial: known.serial, until }));
}

/** Rules of a protocol whose devices show secrets; none lets anybody in without one. */
export function rulesOf({ scep, cmp }: CaRecord, protocol: string): Rules {
  return (protocol === 'cmp' ? cmp : scep) ?? { approvalRequired: false };
}

/** Renewal by the holder of a certificate of this CA. `recheck` repeats the check of that certificate in the recording transaction. */
export async function enrolAgain(
  context: CaContext,
  ca: FoundCa,
  csr: VerifiedCsr,
  asked: Transaction,
  renewed: { readonly held: Certificate; readonly limits: RenewalLimits | undefined; recheck(transaction: WriteTransaction): void },
): Promise<EnrolmentOutcome> {
  const place = placeOf(ca, asked, renewed.held.serial);
  const known = findAnswer(context, recordsOf(context, place), hashesOf(csr));
  const messageUntil = formatTimestamp(renewed.held.notAfter);
  if (known !== undefined) {
    await keepMessage(context, csr, place, known, messageUntil);
    return known;
  }
  const approved = approveRenewal(csr, renewed.held, ca.record.est, renewed.limits);
  return issueOnce(context, ca, { approved, csr, place, messageUntil, keep: asked.keep }, `${asked.protocol}-renewal`, (transaction) =>
    renewed.recheck(transaction),
  );
}

/** The approval of a first enrolment; repeated when a person has decided. Throws `identity-not-allowed`. */
export function approveFirst(csr: VerifiedCsr, { record }: FoundCa, identity: FixedIdentity | undefined): ApprovedRequest {
  return identity === undefined ? approveByPolicy(csr, record.est) : approveIdentity(csr, identity, record.est);
}

/** `ttlSeconds`: shorter life than that of the rules. `keep` records more, in the transaction that records the certificate. */
type Wish = {
  readonly approved: ApprovedRequest;
  readonly csr: VerifiedCsr;
  readonly place: Place;
  /** as requesterOf has it, where it is remembered */
  readonly requester?: string | undefined;
  /** end of the record of the message, if it has one */
  readonly messageUntil?: string | undefined;
  readonly ttlSeconds?: number | undefined;
  readonly keep?: ((transaction: WriteTransaction, issued: { readonly serial: string; readonly notAfter: string }) => void) | undefined;
};

/**
 * Issues the certificate of a transaction, once: who comes second gets what the first one has got. `check` runs in the recording transaction and may throw
 * Concluded.
 */
export async function issueOnce(
  context: CaContext,
  ca: FoundCa,
  { approved, csr, place, requester, messageUntil, ttlSeconds = Infinity, keep }: Wish,
  via: string,
  check: (transaction: WriteTransaction) => void,
): Promise<EnrolmentOutcome> {
  const hashes = hashesOf(csr);
  const longest = parseDuration(ca.record.est.ttl, 'est/ttl').seconds;
  try {
    const { serial, record } = await issueCertificate(context, ca, approved, {
      via,
      ttlSeconds: Math.min(longest, ttlSeconds, approved.content.limits?.ttlSeconds ?? longest),
      recheck(transaction) {
        const meanwhile = findAnswer(context, { ...recordsOf(context, place, transaction), pending: undefined }, hashes);
        if (meanwhile !== undefined) throw new Concluded(meanwhile);
        if (isCompromised(context, transaction, ca, hashes.keyHash)) throw new Concluded(compromised);
        check(transaction);
      },
      keep(transaction, made) {
        transaction.put(context.tables.enrolments, place.answered, {
          ...hashes,
          ...defined({ requester }),
          ...{ serial: made.serial, until: made.record.notAfter },
        });
        if (place.message !== undefined && messageUntil !== undefined)
          transaction.put(context.tables.enrolments, place.message, { ...hashes, serial: made.serial, until: messageUntil });
        transaction.delete(context.tables.pendingEnrolments, place.pending);
        keep?.(transaction, { serial: made.serial, notAfter: made.record.notAfter });
      },
    });
    return enrolled(serial, record, false);
  } catch (error) {
    if (!(error instanceof Concluded)) throw error;
    if (messageUntil !== undefined) await keepMessage(context, csr, place, error.outcome, messageUntil);
    return error.outcome;
  }
}

/** Tells whether a certificate for this key was revoked because the key was compromised. */
function isCompromised({ tables }: CaContext, transaction: WriteTransaction, ca: FoundCa, keyHash: string): boolean {
  const own = [ca.tenantId, ca.record.id];
  const revoked = Iterator.from(transaction.keys(tables.certificateKeys, [...own, keyHash])).map(
    (key) => transaction.get(tables.certificates, [...own, String(key.at(-1))])?.revoked,
  );
  return revoked.some((revocation) => revocation?.reason === 'key-compromise');
}

const compromised: EnrolmentOutcome = {
  status: 'refused',
  why: 'credential',
  detail: 'A certificate for this key was revoked because the key was compromised: make a new key.',
};

/** Undoes a transaction whose request has another answer. */
export class Concluded extends Error {
  override readonly name = 'Concluded';
  readonly outcome: EnrolmentOutcome;

  constructor(outcome: EnrolmentOutcome) {
    super('the request was answered meanwhile');
    this.outcome = outcome;
  }
}

function spendOrRefuse(context: CaContext, transaction: WriteTransaction, key: StoreKey | undefined): void {
  const problem = key === undefined ? undefined : spend(context, transaction, key);
  if (problem === undefined) return;
  throw new Concluded({ status: 'refused', why: 'credential', detail: `The credential was not accepted: ${problem}.` });
}

/** Records a request that a person decides about. Its secret is spent with it. */
async function keepPending(
  context: CaContext,
  ca: FoundCa,
  { csr, place, asked, judged, requester }: AcceptedFirst,
): Promise<EnrolmentOutcome> {
  const { store, tables, clock } = context;
  const { protocol, clientIp } = asked;
  const { identity, oneTime, credential } = judged;
  const messageHash = place.message?.at(-1);
  const message = messageHash === undefined ? undefined : { hash: String(messageHash), until: endOf(context, judged) };
  const hashes = hashesOf(csr);
  const now = clock.now();
  const { der, form, subjectText, nameTexts, keyName } = csr.content;
  const via = `${protocol}-${credential}`;
  return store.write((transaction): EnrolmentOutcome => {
    const meanwhile =
      findAnswer(context, recordsOf(context, place, transaction), hashes) ??
      findNoRoom(context, transaction, ca, { via, clientIp, keyHash: hashes.keyHash });
    if (meanwhile !== undefined) return meanwhile;
    const problem = oneTime === undefined ? undefined : spend(context, transaction, oneTime);
    if (problem !== undefined) return { status: 'refused', why: 'credential', detail: `The credential was not accepted: ${problem}.` };
    transaction.put(tables.pendingEnrolments, place.pending, {
      ...hashes,
      ...{ csr: der, ...defined({ form, message, requester }), subject: subjectText, names: nameTexts, keyName, clientIp },
      via,
      requestedAt: formatTimestamp(now),
      until: formatTimestamp(now.add({ hours: waitingDays * 24 })),
      identity: identity && { subject: identity.subject, names: identity.names, beyondPolicy: identity.beyondPolicy },
    });
    return { status: 'pending' };
  });
}
