// Messages that a registration authority passes on inside one of its own (RFC 9483 section 5.2.2): one, answered as it would be alone, or a batch of them.
// The registration authority says only that it has seen them: each is judged by its own protection.
import { sequence } from '../../../core/der/der.ts';
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType, readNested } from '../message/body.ts';
import { CmpRefusal } from '../message/refusal.ts';
import type { Granted, Proven } from './exchange.ts';
import { type Known, prove } from './prove.ts';
import { type Reply, replyTo } from './reply.ts';

type Inner = { readonly call: CmpCall; readonly known: Known; readonly noted: () => Readonly<Record<string, unknown>> };

/** Throws CmpRefusal and ServiceError. */
export async function answerNested(context: CmpContext, call: CmpCall, outer: Proven): Promise<Granted | Reply> {
  const { sender, message } = outer;
  if (sender.kind === 'mac') throw new CmpRefusal('wrongIntegrity', 'a nested message is signed by its registration authority', true);
  if (sender.kind !== 'authority')
    throw new CmpRefusal('notAuthorized', 'nested messages are for the registration authorities that the CA names in "cmp/ra-certs"', true);
  const octets = readNested(message.body);
  const inner = octets.map((): Inner => innerOf(call));
  const proven: Proven[] = [];
  // All of them before anything is done: a batch with a message that nobody has sent is refused as a whole.
  for (const [index, one] of octets.entries()) {
    const { call: own, known } = inner[index] as Inner;
    const read = await prove(context, own, one, known);
    if (known.operation === undefined) throw new CmpRefusal('badRequest', 'a nested message is nested in another one', true);
    proven.push(read);
  }
  const isBatch = proven.length > 1;
  if (isBatch) requireUnique(outer, proven);
  else requireCopied(outer, proven);
  const replies: Reply[] = [];
  try {
    for (const [index, one] of proven.entries()) {
      const { call: own, known } = inner[index] as Inner;
      replies.push(
        await replyTo(context, own, known, async () => (known.operation as NonNullable<Known['operation']>).run(context, own, one)),
      );
    }
  } finally {
    const noted = inner.map((one) => one.noted());
    call.note(isBatch ? { messages: noted } : { ...noted[0], 'passed-on-by': sender.serial });
  }
  const [only] = replies;
  if (!isBatch && only !== undefined) return only;
  return {
    type: bodyType.nested,
    body: sequence(...replies.map(({ octets: one }) => one)),
    ...(replies.some(({ pauses }) => pauses) ? { pauses: true } : {}),
  };
}

/** The call of a message inside: what is noted of it stays apart, and what it costs counts for the registration authority. */
function innerOf(call: CmpCall): Inner {
  let noted: Readonly<Record<string, unknown>> = {};
  const note = (parameters: Readonly<Record<string, unknown>>): void => void (noted = { ...noted, ...parameters });
  return {
    known: {},
    noted: () => noted,
    call: {
      ...call,
      note,
      noted: () => noted,
      noteRefusal: (code) => call.noteRefusal(code),
      accept(parameters) {
        call.accept({});
        note(parameters);
      },
    },
  };
}

/** One message alone is named by the same transaction and nonce as the one around it. */
function requireCopied({ header }: Proven, [inner]: readonly Proven[]): void {
  if (inner === undefined) throw new CmpRefusal('badRequest', 'the nested message carries no other one', true);
  if (Buffer.compare(header.transactionId, inner.header.transactionId) !== 0)
    throw new CmpRefusal('badRequest', 'the transactionID is not that of the message inside', true);
  if (Buffer.compare(header.senderNonce, inner.header.senderNonce) !== 0)
    throw new CmpRefusal('badSenderNonce', 'the senderNonce is not that of the message inside', true);
}

function requireUnique(outer: Proven, inner: readonly Proven[]): void {
  const areUnique = (field: 'transactionId' | 'senderNonce'): boolean =>
    new Set([outer, ...inner].map(({ header }) => Buffer.from(header[field]).toString('hex'))).size === inner.length + 1;
  if (!areUnique('transactionId'))
    throw new CmpRefusal('transactionIdInUse', 'two messages of a batch, or one and the batch, have the same transactionID', true);
  if (!areUnique('senderNonce'))
    throw new CmpRefusal('badSenderNonce', 'two messages of a batch, or one and the batch, have the same senderNonce', true);
}
