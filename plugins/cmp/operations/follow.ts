// The messages that go on with a transaction: confirmation of a certificate, and questions for one that waits for a person.
import { hashNames } from '../../../core/cms/algorithms.ts';
import { hash } from 'node:crypto';
import { formatTimestamp } from '../../../core/base/time.ts';
import { nullValue } from '../../../core/der/der.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType, type Confirmation, readConfirmation, readPollRequest } from '../message/body.ts';
import { readCertificate } from '../message/certificate.ts';
import { CmpRefusal } from '../message/refusal.ts';
import { encodePollReply } from '../message/write.ts';
import { type CmpTransaction, placeOf } from '../records/records.ts';
import { isOwnNonce, putTransaction } from '../records/transactions.ts';
import { answerOutcome, requestIdOf } from './enrol.ts';
import type { Granted, Proven } from './exchange.ts';

type Known = { readonly place: StoreKey; readonly record: CmpTransaction };

/** Finds the transaction that the sender has begun. Throws CmpRefusal, the same for one that is unknown and one of another sender. */
function requireTransaction({ tables }: CmpContext, { ca }: CmpCall, { header, sender }: Proven): Known {
  const place = placeOf(ca, header.transactionId);
  const record = tables.transactions.get(place);
  if (record === undefined || record.sender !== sender.name)
    throw new CmpRefusal('badRequest', 'the sender has no transaction with this transactionID, or its end has passed');
  if (!isOwnNonce(record, header.recipientNonce))
    throw new CmpRefusal('badRecipientNonce', 'the recipNonce is not the senderNonce of the answer that is gone on with');
  return { place, record };
}

const confirmed = ({ nonceKey }: CmpTransaction): Granted => ({ type: bodyType.pkiconf, body: nullValue, nonceKey });

/** certConf: the certificate is what the device wants, or is revoked. */
export async function confirm(context: CmpContext, call: CmpCall, proven: Proven): Promise<Granted> {
  const { place, record } = requireTransaction(context, call, proven);
  const confirmation = readConfirmation(proven.message.body);
  const { serial, asking } = record;
  const nonce = Buffer.from(proven.header.senderNonce).toString('hex');
  if (record.confirmedBy === nonce) return confirmed(record);
  if (record.state === 'confirmed' || record.state === 'rejected')
    throw new CmpRefusal('certConfirmed', 'the certificate was confirmed or rejected before');
  if (record.state === 'waiting' || serial === undefined) throw new CmpRefusal('badRequest', 'there is no certificate to confirm yet');
  call.note({ serial });
  const held = call.ca.findBySerial(serial);
  if (held === undefined || held.problem === 'revoked') throw new CmpRefusal('certRevoked', 'the certificate was revoked meanwhile');
  if (confirmation.isAccepted && confirmation.requestId !== requestIdOf(asking))
    throw new CmpRefusal('badRequest', 'the certReqId of the confirmation is not that of the request');
  if (confirmation.isAccepted && isHashOf(held.certificate, confirmation)) {
    const isDone = await context.store.write((transaction) => {
      const present = transaction.get(context.tables.transactions, place);
      // The job that revokes what nobody confirms comes later than this end.
      if (present?.state !== 'unconfirmed' || present.until < formatTimestamp(context.clock.now())) return false;
      putTransaction(context, transaction, place, { ...present, state: 'confirmed', confirmedBy: nonce });
      call.ca.noteConfirmation(transaction, serial, true);
      return true;
    });
    if (!isDone) throw new CmpRefusal('badRequest', 'the certificate was not confirmed in time');
    return confirmed(record);
  }
  await call.ca.revoke(serial, 'unspecified');
  await context.store.write((transaction) => {
    const present = transaction.get(context.tables.transactions, place);
    if (present !== undefined) putTransaction(context, transaction, place, { ...present, state: 'rejected', confirmedBy: nonce });
  });
  call.note({ revoked: true });
  if (!confirmation.isAccepted) return confirmed(record);
  throw new CmpRefusal('badCertId', 'the certHash is not that of the certificate, which is revoked: begin a new transaction');
}

/** Hashes of certificates by their signature algorithm, where it has one (RFC 9810 section 5.3.18). */
const ownHashes: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
]);

/** The others name no hash: clients disagree which it is (RFC 9481 section 3.3 says SHA-512 of Ed25519, OpenSSL takes SHA-256 for ML-DSA). */
const anyHash = ['sha256', 'sha512'];

function isHashOf(certificate: Uint8Array, { hash: wanted, hashAlgorithm }: Extract<Confirmation, { isAccepted: true }>): boolean {
  const own = ownHashes.get(readCertificate(certificate).signatureAlgorithm);
  const named = hashAlgorithm === undefined ? undefined : hashNames.get(hashAlgorithm);
  if (hashAlgorithm !== undefined && named === undefined)
    throw new CmpRefusal('badAlg', 'the hashAlg of the confirmation is not taken: use SHA-256');
  const names = named !== undefined ? [named] : own !== undefined ? [own] : anyHash;
  return names.some((name) => Buffer.compare(hash(name, certificate, 'buffer'), wanted) === 0);
}

/** Seconds after which a device asks again for news of a person's decision. */
const checkAfterSeconds = 30;

/** pollReq: the answer, once a person has decided. */
export async function poll(context: CmpContext, call: CmpCall, proven: Proven): Promise<Granted> {
  const { place, record } = requireTransaction(context, call, proven);
  const requestId = readPollRequest(proven.message.body);
  const { asking, transaction, publicKey, nonceKey } = record;
  if (requestId !== requestIdOf(asking)) throw new CmpRefusal('badRequest', 'the certReqId is not that of the request');
  if (record.state === 'rejected') throw new CmpRefusal('badRequest', 'the transaction has ended without a certificate');
  const outcome = call.ca.findEnrolment({ protocol: 'cmp', transaction }, publicKey);
  if (outcome === undefined) throw new CmpRefusal('badRequest', 'the request waits no longer: begin a new transaction');
  if (outcome.status === 'pending') {
    call.ca.countRepeated(call.clientIp);
    call.note({ waiting: true });
    return { type: bodyType.pollRep, body: encodePollReply(requestId, checkAfterSeconds), nonceKey, pauses: true };
  }
  return answerOutcome(context, call, { place, begun: record }, outcome);
}
