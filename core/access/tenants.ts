// Tenants: their records, and finding them by name and by UUID.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/context.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import type { Store, Table, WriteTransaction } from '../store/store.ts';
import { formatTimestamp } from '../base/time.ts';

export const tenantKinds = ['system', 'site-provider', 'application-owner'] as const;
export type TenantKind = (typeof tenantKinds)[number];

/** The tenant created at first start. It alone sees tenants and the appliance itself. */
export const systemTenantName = 'system';

export const tenantTableKinds: TableKinds = {
  tenants: { of: 'all', fills: systemTenantName },
  'tenant-names': { of: 'all', fills: true },
};

export type Tenant = {
  readonly uuid: string;
  readonly name: string;
  readonly descriptiveName: string;
  readonly kind: TenantKind;
  /** names of built-in policies or of policies of the system tenant: the bounds of the tenant's tokens */
  readonly policies: readonly string[];
  /** quotas; 0 and absent: none */
  readonly requestsPerMinute?: number;
  readonly tokenSecondsPerMinute?: number;
  readonly creationTime: string;
  /** a tenant gets one root token, once; set back only with the end of that token after a restore (earlier-credentials.ts) */
  readonly rootTokenIssued: boolean;
};

export type Tenants = {
  /** [name]; names are unique among all tenants */
  readonly table: Table<Tenant>;
  findByName(name: string): Tenant | undefined;
  findByUuid(uuid: string): Tenant | undefined;
};

export function openTenants(store: Store): Tenants {
  const table = store.table<Tenant>('tenants');
  const names = store.table<string>('tenant-names');
  return {
    table,
    findByName: (name) => table.get([name]),
    findByUuid(uuid) {
      const name = names.get([uuid]);
      return name === undefined ? undefined : table.get([name]);
    },
  };
}

/** A new tenant's record, and the entry that finds it by uuid. */
export function addTenant(
  transaction: WriteTransaction,
  store: Store,
  clock: Clock,
  fields: Pick<Tenant, 'name' | 'descriptiveName' | 'kind' | 'policies' | 'requestsPerMinute' | 'tokenSecondsPerMinute'>,
): Tenant {
  const tenant: Tenant = { uuid: randomUUID(), ...fields, creationTime: formatTimestamp(clock.now()), rootTokenIssued: false };
  transaction.put(store.table<Tenant>('tenants'), [tenant.name], tenant);
  transaction.put(store.table<string>('tenant-names'), [tenant.uuid], tenant.name);
  return tenant;
}

/** Removes the entry that finds a tenant by uuid; part of its removal. */
export function dropTenantUuid(transaction: WriteTransaction, store: Store, uuid: string): void {
  transaction.delete(store.table<string>('tenant-names'), [uuid]);
}
