// The EST operations we serve, and what each is given. One row is one operation.
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Audit } from '../../core/audit/record.ts';
import type { CaHouse } from '../ca/context.ts';
import type { FoundCa } from '../ca/authority/lookup.ts';
import { requireNewestGeneration } from '../ca/records/records.ts';
import { cacerts } from './cacerts.ts';
import { encodeCsrAttributes } from './csrattrs.ts';
import { simpleEnroll, simpleReenroll } from './enrolment.ts';
import type { FailureLimit } from './failure-limit.ts';
import { answerDer, type EstAnswer } from './transport.ts';

/** What operations work with. */
export type EstDesk = { readonly house: CaHouse; readonly audit: Audit; readonly limit: FailureLimit };

/** One request to an operation of a CA that exists and has EST enabled. */
export type EstCall = {
  readonly ca: FoundCa;
  readonly headers: IncomingHttpHeaders;
  readonly socket: TLSSocket;
  readonly clientIp: string;
  /** the whole body; throws `payload-too-large`. Read only after the sender was accepted. */
  readBody(): Promise<Uint8Array>;
  /** adds to the audit record */
  note(parameters: Readonly<Record<string, unknown>>): void;
};

export type EstOperation = {
  readonly method: 'GET' | 'POST';
  run(desk: EstDesk, call: EstCall): EstAnswer | Promise<EstAnswer>;
};

/** Operations by the last segment of the path. fullcmc and serverkeygen are optional in RFC 7030 and absent. */
export const operations: ReadonlyMap<string, EstOperation> = new Map<string, EstOperation>([
  ['cacerts', { method: 'GET', run: cacerts }],
  ['simpleenroll', { method: 'POST', run: simpleEnroll }],
  ['simplereenroll', { method: 'POST', run: simpleReenroll }],
  ['csrattrs', { method: 'GET', run: (_desk, { ca }) => answerDer('attributes', encodeCsrAttributes(requireNewestGeneration(ca.record))) }],
]);

/** Names that no CA may carry, since they end paths of EST (RFC 7030 3.2.2), served here or not. */
export const operationNames: ReadonlySet<string> = new Set([...operations.keys(), 'fullcmc', 'serverkeygen']);
