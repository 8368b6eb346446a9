// The table of EST operations: one row is one operation.
import type { EstCall, EstContext } from '../context.ts';
import { cacerts } from './cacerts.ts';
import { encodeCsrAttributes } from './csrattrs.ts';
import type { EnrolmentSettings } from '../../../core/plugin/services/certificate-authority.ts';
import { simpleEnroll, simpleReenroll } from './enrolment.ts';
import { serverKeygen } from './server-keygen.ts';
import { answerDer, type EstAnswer } from '../listener/transport.ts';

export type EstOperation = {
  readonly method: 'GET' | 'POST';
  run(context: EstContext, call: EstCall): EstAnswer | Promise<EstAnswer>;
  /** absent: wherever EST is served */
  readonly isOffered?: (settings: EnrolmentSettings) => boolean;
};

/** Operations by the last segment of the path. fullcmc is optional in RFC 7030 and absent. */
export const operations: ReadonlyMap<string, EstOperation> = new Map<string, EstOperation>([
  ['cacerts', { method: 'GET', run: cacerts }],
  ['simpleenroll', { method: 'POST', run: simpleEnroll }],
  ['simplereenroll', { method: 'POST', run: simpleReenroll }],
  ['serverkeygen', { method: 'POST', run: serverKeygen, isOffered: ({ makesKeys }) => makesKeys === true }],
  ['csrattrs', { method: 'GET', run: (_context, { ca }) => answerDer('attributes', encodeCsrAttributes(ca)) }],
]);

/** Names that no CA may carry, since they end paths of EST (RFC 7030 3.2.2), served here or not. */
export const operationNames: ReadonlySet<string> = new Set([...operations.keys(), 'fullcmc']);
