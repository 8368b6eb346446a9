// The table of operations of SCEP: one row is one operation (RFC 8894 section 4).
import type { ScepAnswer, ScepCall, ScepContext } from '../context.ts';
import { answerCaCaps, answerCaCert, answerNextCaCert } from './ca.ts';
import { pkiOperation } from './pki-operation.ts';

export type ScepOperation = {
  readonly methods: readonly string[];
  run(context: ScepContext, call: ScepCall): ScepAnswer | Promise<ScepAnswer>;
};

const reads = ['GET', 'HEAD'];

export const operations: ReadonlyMap<string, ScepOperation> = new Map<string, ScepOperation>([
  ['GetCACaps', { methods: reads, run: answerCaCaps }],
  ['GetCACert', { methods: reads, run: answerCaCert }],
  ['GetNextCACert', { methods: reads, run: answerNextCaCert }],
  ['PKIOperation', { methods: ['GET', 'POST'], run: pkiOperation }],
]);
