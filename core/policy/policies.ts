// The policies of a tenant: its own and the built-in ones, by name.
import type { Store, Table } from '../store/store.ts';
import { builtInPolicies, defaultPolicy } from './built-in.ts';
import type { Policy } from './policy.ts';

export type Policies = {
  /** tenant uuid and name to policy; built-in ones are not in it */
  readonly table: Table<Policy>;
  /** The policy a tenant means by a name; case counts. */
  find(tenantId: string, name: string): Policy | undefined;
  /** The policies behind names, and `default`; names that no longer exist grant nothing. */
  behind(tenantId: string, names: readonly string[]): Policy[];
};

export function openPolicies(store: Store): Policies {
  const table = store.table<Policy>('policies');
  const find = (tenantId: string, name: string): Policy | undefined => builtInPolicies.get(name) ?? table.get([tenantId, name]);
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
