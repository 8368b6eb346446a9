// Gives every audit record both the name and the uuid of its tenant, whichever its writer knew: people read the one, readers filter by the other.
import type { Audit, AuditRecord } from './audit.ts';
import type { Tenants } from './tenants.ts';

/** The same trail, with tenants completed. */
export function withTenants(audit: Audit, tenants: Tenants): Audit {
  return {
    write: (record) => audit.write(completed(record, tenants)),
    get writable() {
      return audit.writable;
    },
    get problem() {
      return audit.problem;
    },
  };
}

function completed(record: AuditRecord, tenants: Tenants): AuditRecord {
  const { tenant, tenantId } = record;
  if ((tenant === undefined) === (tenantId === undefined)) return record;
  const found = tenant === undefined ? tenants.findByUuid(tenantId ?? '') : tenants.findByName(tenant);
  return found === undefined ? record : { ...record, tenant: found.name, tenantId: found.uuid };
}
