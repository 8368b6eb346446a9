// ir, cr, p10cr and kur: decided by the CA; the transaction is recorded with the certificate.
import { hash } from 'node:crypto';
import { refusalOf } from '../../../core/audit/record.ts';
import { defined } from '../../../core/base/defined.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { NotProven } from '../../../core/enrolment/not-proven.ts';
import type { EnrolmentOutcome, Transaction, VerifiedRequest } from '../../../core/plugin/services/certificate-authority.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType, type CertificateId, readCertificateRequest } from '../message/body.ts';
import { readCertificate } from '../message/certificate.ts';
import { wantsImplicitConfirm } from '../message/message.ts';
import { infoType } from '../message/oids.ts';
import { CmpRefusal, reading } from '../message/refusal.ts';
import { encodeCertified, information } from '../message/write.ts';
import { nullValue } from '../../../core/der/der.ts';
import { isSameName } from '../../../core/der/name.ts';
import { type Asking, type CmpTransaction, placeOf } from '../records/records.ts';
import { putTransaction } from '../records/transactions.ts';
import type { Granted, Handler, Proven } from './exchange.ts';
import { rootsOf } from './sender.ts';

/** The body that answers each kind of request. */
export const answerTo: Readonly<Record<Asking, number>> = { ir: bodyType.ip, cr: bodyType.cp, p10cr: bodyType.cp, kur: bodyType.kup };

/** certReqId of answers (RFC 9483 section 4.1.4). */
export const requestIdOf = (asking: Asking): number => (asking === 'p10cr' ? -1 : 0);

/** Throws CmpRefusal, and ServiceError as the CA does. */
export function enrol(asking: Asking): Handler {
  return async (context, call, proven) => {
    const { header, sender, message } = proven;
    const place = placeOf(call.ca, header.transactionId);
    const known = context.tables.transactions.get(place);
    const begunBy = Buffer.from(header.senderNonce).toString('hex');
    requireSame(known, { sender: sender.name, begunBy });
    const { request, oldCertificate } = readRequest(call, asking, message.body, sender.kind === 'authority');
    const { subject, names, keyName, publicKey } = request;
    call.note({ subject, names, 'key-type': keyName });
    // A certificate whose issue could not be recorded is refused before it is signed, not after.
    const refusal = refusalOf(context.audit);
    if (refusal !== undefined) throw refusal;
    const isImplicit = wantsImplicitConfirm(header);
    const transaction = Buffer.from(header.transactionId).toString('hex');
    const begun: Begun = {
      ...{ asking, begunBy, sender: sender.name, ca: call.ca.name, transaction, publicKey, isImplicit },
      nonceKey: known?.nonceKey ?? (await context.nonces.next()),
    };
    const outcome = await decide(call, asking, proven, request, oldCertificate, {
      ...{ protocol: 'cmp', transaction, message: `${sender.name}\0${transaction}\0${begunBy}` },
      keep(writing, { serial }) {
        requireSame(writing.get(context.tables.transactions, place), begun);
        putTransaction(context, writing, place, { ...begun, state: stateOf(begun), serial });
        if (!isImplicit) call.ca.noteConfirmation(writing, serial, false);
      },
    });
    return answerOutcome(context, call, { place, begun }, outcome);
  };
}

/** The transaction in the store, if there is one, was begun by this very message and has not ended. Throws transactionIdInUse. */
function requireSame(known: CmpTransaction | undefined, { sender, begunBy }: Pick<CmpTransaction, 'sender' | 'begunBy'>): void {
  if (known !== undefined && (known.sender !== sender || known.begunBy !== begunBy || known.state === 'rejected')) throw inUse();
}

type Begun = Omit<CmpTransaction, 'state' | 'serial' | 'until' | 'confirmedBy'>;

const stateOf = ({ isImplicit }: Pick<Begun, 'isImplicit'>): 'confirmed' | 'unconfirmed' => (isImplicit ? 'confirmed' : 'unconfirmed');

export const inUse = () =>
  new CmpRefusal('transactionIdInUse', 'the transactionID belongs to another request: begin a new transaction with a new one', true);

function readRequest(
  { ca }: CmpCall,
  asking: Asking,
  body: Uint8Array,
  takesRaVerified: boolean,
): { readonly request: VerifiedRequest; readonly oldCertificate: CertificateId | undefined } {
  try {
    if (asking === 'p10cr') return { request: ca.readRequest(body), oldCertificate: undefined };
    const { message, oldCertificate } = readCertificateRequest(body, takesRaVerified);
    return { request: ca.readTemplate(message, takesRaVerified), oldCertificate };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid-csr') throw error;
    throw new CmpRefusal(error.details.cause instanceof NotProven ? 'badPOP' : 'badCertTemplate', error.details.detail ?? error.advice);
  }
}

function decide(
  call: CmpCall,
  asking: Asking,
  { sender }: Proven,
  request: VerifiedRequest,
  oldCertificate: CertificateId | undefined,
  transaction: Transaction,
): Promise<EnrolmentOutcome> {
  const { clientIp, settings } = call;
  if (sender.kind === 'held') {
    if (!settings.renewsHeldCertificates)
      throw new CmpRefusal('notAuthorized', 'the CA does not let certificates that it has issued be renewed: enrol for the first time');
    requireSigner(sender.held.certificate, oldCertificate);
    return request.enrolAgain(transaction, sender.held);
  }
  if (oldCertificate !== undefined)
    throw new CmpRefusal('badCertId', 'a certificate is updated with a message that its own key signs, and this one is not signed so');
  if (sender.kind === 'trusted' && asking === 'cr')
    throw new CmpRefusal('notAuthorized', 'cr is for the holders of certificates of this CA, and of secrets: send ir');
  if (sender.kind === 'trusted') return request.enrol({ ...transaction, secret: undefined, vouched: 'trusted-certificate', clientIp });
  if (sender.kind === 'authority') return request.enrol({ ...transaction, secret: undefined, vouched: 'registration-authority', clientIp });
  return request.enrol({ ...transaction, secret: revealSecret(sender.secret), clientIp });
}

/** The certificate that is updated is the one that signs. */
function requireSigner(der: Uint8Array, old: CertificateId | undefined): void {
  const { issuer, serial } = readCertificate(der);
  if (old === undefined || (old.serial === serial && reading('oldCertID', () => isSameName(old.issuer, issuer)))) return;
  throw new CmpRefusal('badCertId', 'oldCertID does not name the certificate that signs the message, which alone can be updated');
}

/** kur is for holders alone. */
export function requireHolder({ sender }: Proven): void {
  if (sender.kind !== 'held')
    throw new CmpRefusal(
      'notAuthorized',
      'sign the message with the certificate that it is about, which this CA has issued: a secret or another certificate is not enough',
    );
}

type Here = { readonly place: StoreKey; readonly begun: Begun };

/** The answer to what the CA has decided; a refusal is thrown. */
export async function answerOutcome(
  context: CmpContext,
  call: CmpCall,
  { place, begun }: Here,
  outcome: EnrolmentOutcome,
): Promise<Granted> {
  if (outcome.status === 'refused') {
    if (outcome.why === 'transaction') throw inUse();
    throw new CmpRefusal(outcome.why === 'full' ? 'badRequest' : 'notAuthorized', outcome.detail);
  }
  const { asking } = begun;
  const type = answerTo[asking];
  if (outcome.status === 'pending') {
    const { nonceKey } = await keepWaiting(context, { place, begun });
    return { type, nonceKey, body: encodeCertified({ requestId: requestIdOf(asking), outcome: 'waiting' }), pauses: true };
  }
  const { serial, certificate, subject, names, isRepetition } = outcome;
  if (isRepetition) call.ca.countRepeated(call.clientIp);
  else await call.ca.forgetFailures(call.clientIp);
  // A certificate that a person has approved, or that was issued long ago, is recorded when it is handed out.
  const { state, nonceKey } = isRepetition ? await handOut(context, call, { place, begun }, serial) : { ...begun, state: stateOf(begun) };
  call.note({
    subject,
    names,
    serial,
    'certificate-sha256': hash('sha256', certificate),
    ...defined({ repetition: isRepetition ? true : undefined }),
  });
  const trusted = asking === 'ir' ? rootsOf(call) : [];
  const info = begun.isImplicit && state === 'confirmed' ? [information(infoType.implicitConfirm, nullValue)] : [];
  return { type, nonceKey, info, body: encodeCertified({ requestId: requestIdOf(asking), outcome: { certificate, trusted } }) };
}

type Kept = Pick<CmpTransaction, 'state' | 'nonceKey'>;

/** Records that a request waits for a person. Copies of a message, answered at once, have nonces of one key. */
function keepWaiting(context: CmpContext, { place, begun }: Here): Promise<Kept> {
  return context.store.write((transaction) => {
    const present = transaction.get(context.tables.transactions, place);
    requireSame(present, begun);
    if (present !== undefined) return present;
    const record = { ...begun, state: 'waiting' } as const;
    putTransaction(context, transaction, place, record);
    return record;
  });
}

/** Records that a certificate that was issued before goes out. */
function handOut(context: CmpContext, { ca }: CmpCall, { place, begun }: Here, serial: string): Promise<Kept> {
  return context.store.write((transaction) => {
    const present = transaction.get(context.tables.transactions, place);
    requireSame(present, begun);
    if (present !== undefined && present.state !== 'waiting' && !(present.state === 'unconfirmed' && begun.isImplicit)) return present;
    const record = { ...begun, nonceKey: present?.nonceKey ?? begun.nonceKey, state: stateOf(begun), serial };
    putTransaction(context, transaction, place, record);
    ca.noteConfirmation(transaction, serial, begun.isImplicit);
    return record;
  });
}
