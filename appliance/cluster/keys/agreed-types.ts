// A cluster with a token in each appliance has the key types that all of its tokens have: a key of another type would open in some of them
// only, and no rotation of the wrapping key would end.
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import type { Job } from '../../../core/base/context.ts';
import { fail } from '../../../core/base/errors.ts';
import { ownKey, type Store, type Table } from '../../../core/store/store.ts';
import type { Hsm, KeyReference, KeyType } from '../../../hsm/api.ts';
import { joiningTable } from './transfer-records.ts';

/** ['types', id of the appliance]: those of its token */
const typesTable = (store: Store): Table<readonly string[]> => store.table<readonly string[]>('token-types');
export const typeTableKinds: TableKinds = { 'token-types': { of: 'each' } };

/** From now on this process makes no key whose type another token lacks, that of one that is about to join among them. */
export function followAgreedTypes(store: Store, hsm: Hsm): void {
  hsm.agreeOn((type) => {
    const others = Iterator.from(typesTable(store).entries([])).map(([, types]) => types);
    const joining = Iterator.from(joiningTable(store).entries([])).map(([, { types }]) => types);
    return others.every((types) => types.includes(type)) && joining.every((types) => types.includes(type));
  });
}

const lookEverySeconds = 2;

/** Of each appliance: says which types its token has. */
export function tokenTypesJob({ store, hsm }: { readonly store: Store; readonly hsm: Hsm }): Job {
  const key = ownKey(store, 'types');
  return {
    name: 'token-types',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      store.refresh();
      const types = hsm.status()[0]?.keyTypes ?? [];
      const known = typesTable(store).get(key) ?? [];
      // A token that is away has no types at the moment.
      if (types.length === 0 || types.join() === known.join()) return;
      await store.write((transaction) => transaction.put(typesTable(store), key, [...types]));
    },
  };
}

/** Throws `operation-refused` when there are keys that a token with these types could not use. */
export function requireTypesOf(keys: Iterable<KeyReference>, types: readonly string[], hsm: Pick<Hsm, 'mechanismFor'>): void {
  const lacking = new Map<KeyType, number>();
  for (const { stored } of keys) if (!types.includes(stored.type)) lacking.set(stored.type, (lacking.get(stored.type) ?? 0) + 1);
  if (lacking.size === 0) return;
  const kinds = Array.from(lacking, ([type, count]) => `${count} of type ${type} (${hsm.mechanismFor(type)})`).join(', ');
  throw fail('operation-refused', {
    detail: `The token of the new appliance could not use every key of this cluster: it lacks ${kinds}. Give it a token that has these types, or delete the keys.`,
  });
}
