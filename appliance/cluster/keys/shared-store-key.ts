// The key of the store during a rotation in a cluster: the shared keys are rewrapped once, and each appliance keeps a copy on its disk.
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import { isWaitedFor } from '../../../core/cluster/validity.ts';
import type { Job } from '../../../core/base/context.ts';
import { ownKey, type Store, type Table } from '../../../core/store/store.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { rewrapClusterKeys, takeClusterKeys, wrappingNumberOf } from './cluster-keys.ts';
import type { ClusterWay } from '../cluster-way.ts';
import { readStoreKey } from '../../data-directory/store-key.ts';
import { wrappingTable } from '../../wrapping-keys/record.ts';

export type SharedKeyParts = { readonly store: Store; readonly hsm: Hsm; readonly cluster: ClusterWay };

/** ['copy', id of the appliance]: number of the wrapping key that its copy is under */
const copyTable = (store: Store): Table<number> => store.table<number>('store-key-copies');
export const copyTableKinds: TableKinds = { 'store-key-copies': { of: 'each' } };

/**
 * Rewraps what the cluster shares under the wrapping key in use, if that is `number` and it is under an older one. Resolves with whether
 * every appliance that may answer keeps a copy under it: then its backups, and its next start, need no older one. Those that are out take
 * it when they come in. Rejects with HsmError and `cluster-unavailable`.
 */
export async function isStoreKeyShared({ store, hsm, cluster }: SharedKeyParts, number: number): Promise<boolean> {
  const keys = await cluster.wrappedKeys();
  if (keys === undefined) return false;
  if (wrappingNumberOf(hsm, keys) < number) {
    await cluster.replaceWrappedKeys(keys, await rewrapClusterKeys(hsm, keys));
    return false;
  }
  // A follower that is being started again knows it later.
  const state = await cluster.state().catch(() => undefined);
  if (state === undefined) return false;
  store.refresh();
  return state.members.filter(isWaitedFor).every(({ id }) => (copyTable(store).get(['copy', id]) ?? 0) >= number);
}

const lookEverySeconds = 2;

/** Job of each appliance: takes the shared key of the cluster when its own copy is under an older wrapping key, and logs it. */
export function storeKeyCopyJob({ store, hsm, cluster }: SharedKeyParts, directory: string): Job {
  const copies = copyTable(store);
  const own = (): { readonly token: string; readonly number: number } => {
    const { stored } = readStoreKey(directory);
    return { token: stored.token, number: hsm.wrappingKeys.numberOf(stored) ?? 1 };
  };
  return {
    name: 'store-key-copy',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      store.refresh();
      const { token, number } = own();
      const keys = number < (wrappingTable(store).get([token])?.number ?? 1) ? await cluster.wrappedKeys() : undefined;
      if (keys !== undefined) await takeClusterKeys(hsm, directory, keys);
      const key = ownKey(store, 'copy');
      const kept = own().number;
      if (copies.get(key) !== kept) await store.write((transaction) => transaction.put(copies, key, kept));
    },
  };
}
