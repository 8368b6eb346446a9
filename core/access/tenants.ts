// Tenants: who they are, how they are found by name and by uuid, and how the first one comes to be.
import { randomUUID } from 'node:crypto';
import type { Hsm } from '../../hsm/api.ts';
import type { Clock } from '../base/context.ts';
import { issueToken, drawToken, type IssuedToken } from './tokens/tokens.ts';
import { makeEntityTagKey } from '../http/response/entity-tag.ts';
import type { Secret } from '../base/secret.ts';
import type { Store, Table, WriteTransaction } from '../store/store.ts';
import { formatTimestamp } from '../base/time.ts';

export const tenantKinds = ['system', 'site-provider', 'application-owner'] as const;
export type TenantKind = (typeof tenantKinds)[number];

/** The tenant made at first start; it alone sees tenants and the appliance itself. */
export const systemTenantName = 'system';

export type Tenant = {
  readonly uuid: string;
  readonly name: string;
  readonly descriptiveName: string;
  readonly kind: TenantKind;
  /** names of built-in policies or of policies of the system tenant: what the tenant may do at all */
  readonly policies: readonly string[];
  readonly creationTime: string;
  /** stays true for ever: a tenant gets one root token, once (api 50) */
  readonly rootTokenIssued: boolean;
};

export type Tenants = {
  /** by name; shared by all tenants */
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
  fields: Pick<Tenant, 'name' | 'descriptiveName' | 'kind' | 'policies'>,
): Tenant {
  const tenant: Tenant = { uuid: randomUUID(), ...fields, creationTime: formatTimestamp(clock.now()), rootTokenIssued: false };
  transaction.put(store.table<Tenant>('tenants'), [tenant.name], tenant);
  transaction.put(store.table<string>('tenant-names'), [tenant.uuid], tenant.name);
  return tenant;
}

/** Forgets how to find a tenant by uuid; part of its removal. */
export function dropTenantUuid(transaction: WriteTransaction, store: Store, uuid: string): void {
  transaction.delete(store.table<string>('tenant-names'), [uuid]);
}

/**
 * First start: makes the tenant `system` with its root token, in one transaction, so that a crash leaves both or neither (api 52).
 * `keep` is told the token before that: a crash after it leaves a token that opens nothing and is drawn anew, never a tenant whose
 * token nobody has. Undefined when the tenant exists already.
 */
export async function createSystemTenant(
  store: Store,
  hsm: Hsm,
  clock: Clock,
  keep?: (token: Secret<string>) => void,
): Promise<{ tenant: Tenant; rootToken: IssuedToken } | undefined> {
  if (openTenants(store).findByName(systemTenantName) !== undefined) return undefined;
  const token = await drawToken(hsm);
  keep?.(token);
  return foundSystemTenant(store, hsm, clock, (transaction, founded) => {
    const tenant = { ...founded, rootTokenIssued: true };
    transaction.put(openTenants(store).table, [systemTenantName], tenant);
    const grant = { tenantId: tenant.uuid, user: 'root', policies: ['root'] };
    return { tenant, rootToken: issueToken(transaction, store, clock, token, grant) };
  });
}

/** Makes the tenant `system` and, in the same transaction, a way in: `open` says which. Undefined when the tenant exists already. */
export async function foundSystemTenant<T>(
  store: Store,
  hsm: Hsm,
  clock: Clock,
  open: (transaction: WriteTransaction, tenant: Tenant) => T,
): Promise<T | undefined> {
  if (openTenants(store).findByName(systemTenantName) !== undefined) return undefined;
  const tagKey = await hsm.random(32);
  return store.write((transaction) => {
    if (transaction.get(openTenants(store).table, [systemTenantName]) !== undefined) return undefined;
    makeEntityTagKey(transaction, store, tagKey);
    const fields = { name: systemTenantName, descriptiveName: 'System', kind: 'system', policies: ['root'] } as const;
    return open(transaction, addTenant(transaction, store, clock, fields));
  });
}
