// Approles: logins of machines, with a role-id that names the approle and a secret-id that authenticates it.
import { fail } from '../../base/errors.ts';
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import { hashOf } from '../../base/hash.ts';

/** Durations are stored as the user wrote them. */
export type ApproleDocument = {
  readonly tokenPolicies: readonly string[];
  readonly tokenTtl: string;
  readonly tokenMaxTtl: string;
  readonly tokenBoundCidrs: readonly string[];
  /** absent: secret-ids do not expire */
  readonly secretIdTtl?: string | undefined;
  /** 0: any number of uses */
  readonly secretIdNumUses: number;
  readonly secretIdBoundCidrs: readonly string[];
  readonly fixedRoleId?: string | undefined;
};

export type Approle = ApproleDocument & {
  /** never reused, unlike the name */
  readonly id: string;
  /** grant that its tokens name (logins/grants.ts): another one when the approle loses a policy */
  readonly grantId: string;
  /** generated at creation; `roleIdOf` returns the one in use */
  readonly ownRoleId: string;
  readonly creationTime: string;
};

/** [tenant uuid, name] */
export const approleTable = (store: Store): Table<Approle> => store.tenantTable<Approle>('approles');
/** [SHA-256 of the role-id, tenant uuid, name]: two tenants may choose the same role-id, and neither learns of the other. */
const roleIdTable = (store: Store): Table<true> => store.table<true>('approle-role-ids');

/** The role-id that logins name. */
export function roleIdOf({ fixedRoleId, ownRoleId }: Approle): string {
  return fixedRoleId ?? ownRoleId;
}

/** Indexes an approle by its role-id; `before` is its old record. Throws `already-exists` if another approle of the tenant has it. */
export function putRoleId(
  transaction: WriteTransaction,
  store: Store,
  [tenantId, name]: readonly [tenantId: string, name: string],
  approle: Approle,
  before: Approle | undefined,
): void {
  if (before !== undefined) dropRoleId(transaction, store, [tenantId, name], before);
  for (const _ of transaction.keys(roleIdTable(store), [hashOf(roleIdOf(approle)), tenantId]))
    throw fail('already-exists', { detail: 'Another approle of the tenant has this "fixed-role-id"; choose another, or leave it out.' });
  transaction.put(roleIdTable(store), [hashOf(roleIdOf(approle)), tenantId, name], true);
}

export function dropRoleId(
  transaction: WriteTransaction,
  store: Store,
  [tenantId, name]: readonly [tenantId: string, name: string],
  approle: Approle,
): void {
  transaction.delete(roleIdTable(store), [hashOf(roleIdOf(approle)), tenantId, name]);
}

/** Limit of tenants with one role-id that get records of failed logins with it. */
const mostOwners = 100;

/**
 * Finds the approles of a role-id in the snapshot: several if tenants have chosen the same. The index is read without opening its records, so that
 * a role-id that exists takes as long as one that does not.
 */
export function ownersOfRoleId(store: Store, roleId: string): readonly { readonly tenantId: string; readonly name: string }[] {
  const keys = roleIdTable(store).keys([hashOf(roleId)], { limit: mostOwners });
  return Array.from(keys, ([, tenantId, name]) => ({ tenantId: String(tenantId), name: String(name) }));
}
