// Records that the appliances of a cluster exchange during a transfer of the next own keys from one token to all: public keys, and keys
// wrapped for one token each, so that another token could not open them.
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import { fail } from '../../../core/base/errors.ts';
import type { Store, StoreKey, Table, WriteTransaction } from '../../../core/store/store.ts';
import type { WrappedForAll, WrappedKeys, Transport } from '../../../hsm/setup/setup.ts';

/** The appliance whose token takes part, by id and name. */
type Receiver = { readonly id: string; readonly name: string };

export type Carrying = {
  /** drawn for each attempt */
  readonly id: string;
  /** every appliance of the cluster */
  readonly receivers: readonly Receiver[];
  /** once every receiver has a transport key; the wrapped keys are in the order of the receivers */
  readonly gift?: WrappedForAll;
};

/** Progress of a receiver, or the reason for its failure. */
export type CarryingPart = {
  readonly transport?: Transport;
  readonly hasTaken?: true;
  readonly problem?: string;
};

/** An appliance that was invited and whose token gets the keys before it comes in. */
export type JoiningMember = {
  readonly name: string;
  /** id of the transport key of its token */
  readonly transport: string;
  /** the wrapping key that its token has, or takes */
  readonly number: number;
  readonly carrying: string;
  /** those of its token */
  readonly types: readonly string[];
  /** absent when its token had the key already */
  readonly sent?: { readonly marks: WrappedForAll['marks']; readonly parcel: WrappedKeys };
  /** Until then no other wrapping key is made, because it would have to take that one too. */
  readonly until: string;
};

/** [group of tokens] */
export const carryingTable = (store: Store): Table<Carrying> => store.table<Carrying>('wrapping-carryings');
/** [id of the carrying, id of the appliance] */
export const partTable = (store: Store): Table<CarryingPart> => store.table<CarryingPart>('wrapping-carrying-parts');
/** [id of the appliance] */
export const joiningTable = (store: Store): Table<JoiningMember> => store.table<JoiningMember>('cluster-guests');
export const transferTableKinds: TableKinds = {
  'wrapping-carryings': { of: 'cluster' },
  'wrapping-carrying-parts': { of: 'cluster' },
  // About appliances that are about to come in.
  'cluster-guests': { of: 'cluster' },
};

/** The carrying of a group, if it is still this one. Throws `conflict` when it was withdrawn. */
export function requireSame(transaction: WriteTransaction, store: Store, group: string, id: string): Carrying {
  const carrying = transaction.get(carryingTable(store), [group]);
  if (carrying?.id === id) return carrying;
  throw fail('conflict', { detail: 'The carrying of the next wrapping key was withdrawn meanwhile; try again.' });
}

/** Removes a carrying and its parts; no error when it is another one by now. */
export function endCarrying(transaction: WriteTransaction, store: Store, group: string, id: string): void {
  if (transaction.get(carryingTable(store), [group])?.id !== id) return;
  transaction.delete(carryingTable(store), [group]);
  const parts: StoreKey[] = Array.from(transaction.keys(partTable(store), [id]));
  for (const key of parts) transaction.delete(partTable(store), key);
}
