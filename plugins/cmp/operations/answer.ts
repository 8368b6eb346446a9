// A message from its octets to the protected answer: read, its sender proven, its transaction found, decided by the CA.
import { answerMessage, type CmpAnswer, type CmpCall, type CmpContext } from '../context.ts';
import { answerNested } from './nested.ts';
import { type Known, prove } from './prove.ts';
import { replyTo } from './reply.ts';

/** Throws the ServiceErrors that HTTP answers: limits, and faults of the appliance. */
export async function answerPkiMessage(context: CmpContext, call: CmpCall): Promise<CmpAnswer> {
  const octets = await call.readMessage();
  const known: Known = {};
  const { octets: body, pauses } = await replyTo(context, call, known, async () => {
    const proven = await prove(context, call, octets, known);
    return known.operation === undefined ? answerNested(context, call, proven) : known.operation.run(context, call, proven);
  });
  return answerMessage(body, pauses);
}
