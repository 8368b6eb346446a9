// The answer to a message whose sender is known or not: what the operation grants, or the refusal in the words of CMP, protected.
import { isKeyAway } from '../../../core/http/response/problem.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType } from '../message/body.ts';
import { CmpRefusal } from '../message/refusal.ts';
import { encodeError, type Failure, nobody, type Protector, writeMessage } from '../message/write.ts';
import { makeNonce } from '../records/transactions.ts';
import type { Granted } from './exchange.ts';
import type { Known } from './prove.ts';
import { type Sender, signingProtector } from './sender.ts';
import { isLimit, noteFailure, sentence } from '../../../core/enrolment/refusals.ts';

/** A message that goes out. `pauses`: the device waits before it goes on. */
export type Reply = { readonly octets: Uint8Array; readonly pauses: boolean };

/** Answers what `work` grants or refuses. Throws the ServiceErrors that HTTP answers: limits, and faults of the appliance. */
export async function replyTo(context: CmpContext, call: CmpCall, known: Known, work: () => Promise<Granted | Reply>): Promise<Reply> {
  try {
    const granted = await work();
    return 'octets' in granted ? granted : await replyWith(context, known, granted);
  } catch (error) {
    if (isLimit(error)) await countUnproven(call, known);
    const refusal = refusalOf(error);
    await countUnproven(call, known);
    if (known.sender !== undefined && call.isAccepted()) call.ca.countRefused(call.clientIp, ownNameOf(known.sender));
    // Counted first: a flood beyond the limit is noted nowhere, and costs the store nothing.
    if (known.header !== undefined) await noteFailure(call, 'cmp', refusal.reason);
    call.note({ reason: refusal.reason });
    call.noteRefusal(error instanceof ServiceError ? error.code : `cmp-${refusal.failInfo}`);
    return replyRefusal(context, call, known, refusal);
  }
}

async function replyWith(context: CmpContext, { header, sender }: Known, granted: Granted, protector = sender?.protector): Promise<Reply> {
  const { type, body, info = [], nonceKey } = granted;
  const octets = await writeMessage(
    {
      version: header?.version === 3 ? 3 : 2,
      recipient: header?.sender ?? nobody,
      messageTime: context.clock.now(),
      transactionId: header?.transactionId,
      senderNonce: nonceKey === undefined ? await context.nonces.next() : await makeNonce(context, nonceKey),
      recipientNonce: header?.senderNonce,
      recipientKeyId: header?.senderKeyId,
      ...{ info, type, body },
    },
    protector,
  );
  return { octets, pauses: granted.pauses === true };
}

/**
 * The answer to what is refused: as the request is protected if its sender is known, or else signed. Octets that are not a message get an answer that costs nothing.
 */
async function replyRefusal(context: CmpContext, call: CmpCall, known: Known, refusal: CmpRefusal): Promise<Reply> {
  const failure: Failure = { failInfo: refusal.failInfo, reason: sentence(refusal.reason) };
  const error: Granted = { type: bodyType.error, body: encodeError(failure) };
  if (known.header === undefined) return replyWith(context, known, error, undefined);
  const granted = known.isSound === true && !refusal.ofMessage ? (known.operation?.refuse?.(failure) ?? error) : error;
  const protector: Protector = known.sender?.protector ?? (await signingProtector(call));
  return replyWith(context, known, granted, protector);
}

/**
 * Counts what was refused before its sender was proven: even a refusal costs the token a signature. What is beyond another limit counts too. Throws
 * `rate-limited`.
 */
async function countUnproven(call: CmpCall, { header }: Known): Promise<void> {
  if (header !== undefined && !call.isAccepted()) await call.ca.countUnproven(call.clientIp);
}

/** The name of a sender that nobody else has; undefined for the holders of the shared secret, of whom each names itself as it likes. */
function ownNameOf(sender: Sender): string | undefined {
  return sender.kind === 'mac' && sender.isShared ? undefined : sender.name;
}

/** The refusal in the words of CMP; throws what is not one of the message: HTTP answers that. */
function refusalOf(error: unknown): CmpRefusal {
  if (error instanceof CmpRefusal) return error;
  if (!(error instanceof ServiceError) || isKeyAway(error) || error.status >= 500 || error.status === 429) throw error;
  const failInfo =
    error.code === 'identity-not-allowed' ? 'notAuthorized' : error.code === 'invalid-csr' ? 'badCertTemplate' : 'badRequest';
  return new CmpRefusal(failInfo, error.details.detail ?? error.advice);
}
