// Completes audit records with both name and uuid of the tenant: people read the one, programs filter by the other.
import { type Audit, type AuditRecord, writingBy } from '../../audit/record.ts';
import type { Tenants } from '../../access/tenants.ts';

/** The trail with tenants completed. */
export function withTenants(audit: Audit, tenants: Tenants): Audit {
  return writingBy(audit, (record) => audit.write(completed(record, tenants)));
}

function completed(record: AuditRecord, tenants: Tenants): AuditRecord {
  const { tenant, tenantId } = record;
  if ((tenant === undefined) === (tenantId === undefined)) return record;
  const found = findTenant(tenants, tenant, tenantId);
  return found === undefined ? record : { ...record, tenant: found.name, tenantId: found.uuid };
}

/** Finds a tenant; undefined while the store cannot be read, because a record with half of its tenant is better than none. */
function findTenant(tenants: Tenants, name: string | undefined, id = ''): ReturnType<Tenants['findByName']> {
  try {
    return name === undefined ? tenants.findByUuid(id) : tenants.findByName(name);
  } catch {
    return undefined;
  }
}
