// The policies of a tenant: its own and the built-in ones, by name.
import type { Store, Table, WriteTransaction } from '../../store/store.ts';
import { builtInPolicies, defaultPolicy } from './built-in.ts';
import type { Policy } from './policy.ts';

export type Policies = {
  /** [tenant uuid, name]; without the built-in policies */
  readonly table: Table<Policy>;
  /** The policy of a tenant by name, case-sensitive. A change that depends on it reads through its transaction. */
  find(tenantId: string, name: string, read?: WriteTransaction['get']): Policy | undefined;
  /** The policies of these names, and `default`. Names that no longer exist grant nothing. */
  behind(tenantId: string, names: readonly string[]): Policy[];
};

export function openPolicies(store: Store): Policies {
  const table = store.tenantTable<Policy>('policies');
  const find: Policies['find'] = (tenantId, name, read = (from, key) => from.get(key)) =>
    builtInPolicies.get(name) ?? read(table, [tenantId, name]);
  return {
    table,
    find,
    behind(tenantId, names) {
      const found: Policy[] = [defaultPolicy];
      for (const name of names) {
        const policy = find(tenantId, name);
        if (policy !== undefined) found.push(policy);
      }
      return found;
    },
  };
}
