// The table of requests: one row is one kind of body.
import { bodyType } from '../message/body.ts';
import { type Failure, encodeCertified, encodeRevoked } from '../message/write.ts';
import { answerTo, enrol, requestIdOf, requireHolder } from './enrol.ts';
import type { Granted, Handler } from './exchange.ts';
import { confirm, poll } from './follow.ts';
import { answerGeneral } from './general.ts';
import { revoke } from './revoke.ts';
import type { Asking } from '../records/records.ts';

export type Operation = {
  readonly name: string;
  /** true: it continues an existing transaction */
  readonly follows?: true;
  readonly run: Handler;
  /** the answer to a request whose sender is known and that is refused; absent: an error */
  refuse?(failure: Failure): Granted;
};

function asking(name: Asking, run: Handler = enrol(name)): Operation {
  return {
    name,
    run,
    refuse: (failure) => ({ type: answerTo[name], body: encodeCertified({ requestId: requestIdOf(name), outcome: failure }) }),
  };
}

export const operations: ReadonlyMap<number, Operation> = new Map<number, Operation>([
  [bodyType.ir, asking('ir')],
  [bodyType.cr, asking('cr')],
  [bodyType.p10cr, asking('p10cr')],
  [
    bodyType.kur,
    asking('kur', (context, call, proven) => {
      requireHolder(proven);
      return enrol('kur')(context, call, proven);
    }),
  ],
  [bodyType.certConf, { name: 'certConf', follows: true, run: confirm }],
  [bodyType.pollReq, { name: 'pollReq', follows: true, run: poll }],
  [bodyType.rr, { name: 'rr', run: revoke, refuse: (failure) => ({ type: bodyType.rp, body: encodeRevoked(failure) }) }],
  [bodyType.genm, { name: 'genm', run: answerGeneral }],
]);
