// Puts on record that somebody wrote to the shared store past every appliance: in health until it is answered, and in the audit trail.
import { randomUUID } from 'node:crypto';
import { systemTenantName } from '../../core/access/tenants.ts';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock } from '../../core/base/context.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Store } from '../../core/store/store.ts';
import type { ForeignReport } from './cluster-way.ts';
import { recordFinding } from '../findings/findings.ts';

export type ForeignWriteParts = { readonly store: Store; readonly clock: Clock; readonly audit: Audit };

/** Rejects if either cannot be written; the report is then repeated. Health is public: only the trail names the records. */
export async function recordForeignWrites({ store, clock, audit }: ForeignWriteParts, report: ForeignReport): Promise<void> {
  const { first, last, records, named } = report;
  const where = first === last ? `at revision ${first}` : `between the revisions ${first} and ${last}`;
  const many = records === 1 ? 'a record of the shared store was changed' : `${records} records of the shared store were changed`;
  await recordFinding(store, clock, { name: 'foreign-writes', message: `${many} by no appliance, ${where}`, isEvent: true });
  await audit.write({
    ...{ kind: 'system', occurredAt: formatTimestamp(clock.now()), requestId: randomUUID(), tenant: systemTenantName },
    code: 'foreign-writes',
    requestParameters: { 'first-revision': first, 'last-revision': last, records, named: [...named] },
  });
}
