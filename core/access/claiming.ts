// Claim of an appliance without a root token: an approle of tenant `system` with which a person makes that token, and its end.
import { approleTable, dropRoleId, type Approle } from './approles/approles.ts';
import { dropSecretIds } from './approles/secret-ids.ts';
import { endGrant } from './logins/grants.ts';
import { openTenants, systemTenantName, type Tenant } from './tenants.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import type { Store, Table, WriteTransaction } from '../store/store.ts';

/** Name and role-id of that approle. */
export const claimingRole = 'bootstrap';

/**
 * ['bootstrap']: the id of that approle; another approle of that name, made later, is left alone. ['offered-by']: the appliance of a cluster that
 * has the credential.
 */
export const claimTable = (store: Store): Table<string> => store.table<string>('bootstrap');
/** One credential for all: the record names the appliance that has it. */
export const claimTableKinds: TableKinds = {
  bootstrap: { of: 'all', fills: true },
  approles: { of: 'all', fills: claimingRole },
  'approle-role-ids': { of: 'all', fills: true },
};
export const offeredByKey = ['offered-by'];

/** Reads from the snapshot, or as a transaction sees it. */
export type Read = Pick<WriteTransaction, 'get'>;

/** Tells whether the appliance waits for a person to claim it. */
export function isUnclaimed(store: Store): boolean {
  const system = openTenants(store).findByName(systemTenantName);
  return system?.rootTokenIssued === false && approleTable(store).has([system.uuid, claimingRole]);
}

export function findClaim(read: Read, store: Store): { readonly tenant: Tenant; readonly approle: Approle } | undefined {
  const tenant = read.get(openTenants(store).table, [systemTenantName]);
  const approle = tenant === undefined ? undefined : read.get(approleTable(store), [tenant.uuid, claimingRole]);
  if (tenant === undefined || approle === undefined || approle.id !== read.get(claimTable(store), [claimingRole])) return undefined;
  return { tenant, approle };
}

/** Ends the approle with all its credentials and sessions, as of the commit. */
export function endClaim(transaction: WriteTransaction, store: Store): void {
  const found = findClaim(transaction, store);
  if (found === undefined) return;
  const { tenant, approle } = found;
  transaction.delete(approleTable(store), [tenant.uuid, claimingRole]);
  endGrant(transaction, store, tenant.uuid, approle.grantId);
  dropRoleId(transaction, store, [tenant.uuid, claimingRole], approle);
  dropSecretIds(transaction, store, tenant.uuid, approle.id);
  transaction.delete(claimTable(store), [claimingRole]);
  transaction.delete(claimTable(store), offeredByKey);
}
