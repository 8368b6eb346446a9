// The table of operations of SCEP: one row is one operation (RFC 8894 section 4).
import { fail } from '../../../core/base/errors.ts';
import type { ScepAnswer, ScepCall, ScepContext } from '../context.ts';
import { answerCaCaps, answerCaCert } from './ca.ts';
import { pkiOperation } from './pki-operation.ts';

export type ScepOperation = {
  readonly methods: readonly string[];
  run(context: ScepContext, call: ScepCall): ScepAnswer | Promise<ScepAnswer>;
};

const reads = ['GET', 'HEAD'];

export const operations: ReadonlyMap<string, ScepOperation> = new Map<string, ScepOperation>([
  ['GetCACaps', { methods: reads, run: answerCaCaps }],
  ['GetCACert', { methods: reads, run: answerCaCert }],
  ['GetNextCACert', { methods: reads, run: refuseNextCaCert }],
  ['PKIOperation', { methods: ['GET', 'POST'], run: pkiOperation }],
]);

/** A CA uses a new key as soon as it has one: there is no next certificate to announce. */
function refuseNextCaCert(): never {
  throw fail('not-found', { detail: 'The CA has no next certificate: ask for GetCACert.' });
}
