// From the octets of a message to its proven sender: read, protection verified, header sound.
import type { CmpCall, CmpContext } from '../context.ts';
import { bodyType } from '../message/body.ts';
import { type Header, type Message, readMessage, requireSender, requireSound, type SignedHeader } from '../message/message.ts';
import { CmpRefusal } from '../message/refusal.ts';
import { placeOf } from '../records/records.ts';
import { inUse } from './enrol.ts';
import type { Proven } from './exchange.ts';
import { type Operation, operations } from './operations.ts';
import { authenticate, type Sender } from './sender.ts';

/** State of the knowledge about a message. */
export type Known = {
  header?: Header;
  operation?: Operation;
  sender?: Sender;
  /** the header is sound: a refusal is one of the request, not of the message */
  isSound?: true;
};

/** Throws CmpRefusal and ServiceError. What is known by then is noted in `known`. */
export async function prove(context: CmpContext, call: CmpCall, octets: Uint8Array, known: Known): Promise<Proven> {
  const message = readMessage(octets);
  const { header } = message;
  known.header = header;
  const operation = operations.get(message.type);
  const isNested = message.type === bodyType.nested;
  call.note({ message: operation?.name ?? (isNested ? 'nested' : `body ${message.type}`), ...transactionOf(header) });
  call.ca.requireFewUnproven(call.clientIp, false);
  requireSender(header);
  const sender = await authenticate(context, call, withHeader(message, header));
  known.sender = sender;
  if (operation === undefined && !isNested)
    throw new CmpRefusal(
      'badRequest',
      'the body is not one that is taken: send ir, cr, p10cr, kur, rr, genm, certConf, pollReq, or one of them nested',
      true,
    );
  if (operation !== undefined) known.operation = operation;
  requireSound(header);
  requireTimely(context, call, header);
  if (operation?.follows !== true) requireFirst(context, call, operation, header);
  known.isSound = true;
  if (sender.kind === 'mac' && sender.problem !== undefined)
    throw new CmpRefusal('notAuthorized', `the credential was not accepted: ${sender.problem}`);
  return { message, header, sender };
}

const withHeader = (message: Message, header: SignedHeader): Message & { readonly header: SignedHeader } => ({ ...message, header });

function transactionOf({ transactionId }: Header): Readonly<Record<string, unknown>> {
  return transactionId === undefined ? {} : { transaction: Buffer.from(transactionId).toString('hex') };
}

/** Within the window that the CA has set, for devices that have a clock. */
function requireTimely({ clock }: CmpContext, { settings: { messageTimeSeconds } }: CmpCall, { messageTime }: Header): void {
  if (messageTimeSeconds === undefined) return;
  if (messageTime === undefined) throw new CmpRefusal('badTime', 'the header has no messageTime, which this CA wants', true);
  const distance = Math.abs(clock.now().since(messageTime).total('seconds'));
  if (distance > messageTimeSeconds)
    throw new CmpRefusal(
      'badTime',
      `the messageTime is more than ${messageTimeSeconds} seconds from the clock here: set that of the device`,
      true,
    );
}

/** A first message continues nothing. One that revokes or asks begins a transaction that nobody has used; a nested one has that of what it carries. */
function requireFirst({ tables }: CmpContext, { ca }: CmpCall, operation: Operation | undefined, header: Header): void {
  if (operation === undefined) return;
  if (header.recipientNonce !== undefined)
    throw new CmpRefusal('badRecipientNonce', 'the first message of a transaction has a recipNonce', true);
  const { transactionId } = header;
  const isAsking = operation.refuse !== undefined && operation.name !== 'rr';
  if (!isAsking && transactionId !== undefined && tables.transactions.has(placeOf(ca, transactionId))) throw inUse();
}
