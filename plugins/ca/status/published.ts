// Revocation status of a CA as its state shows it: where it is, when the list has its next update, and how long an answer holds.
import { defined } from '../../../core/base/defined.ts';
import { publicUrls, type CaContext } from '../context.ts';
import { type CaRecord, newestGeneration } from '../records/records.ts';
import { newestCrl } from './crl.ts';
import { answersHold } from './ocsp.ts';

/** Fields of the state; none for a CA that is only trusted. */
export function publishedStatus(context: CaContext, tenantId: string, record: CaRecord): Readonly<Record<string, unknown>> {
  const newest = newestGeneration(record);
  if (newest === undefined) return {};
  const urls = publicUrls(context, tenantId, record, newest.generation);
  const crlNextUpdate = newestCrl(context, { tenantId, record }, newest)?.nextUpdate;
  return { ...defined({ crlUrl: urls?.crl, deltaCrlUrl: urls?.delta, ocspUrl: urls?.ocsp, crlNextUpdate }), ocspAnswersHold: answersHold };
}
