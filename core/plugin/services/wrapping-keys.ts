// Service with which plugins that store keys take part in the rotation of the token's wrapping keys.
import type { KeyReference, StoredKey } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const wrappingKeysService = defineService<WrappingKeyRotation>('wrapping-keys');

export type WrappingKeyRotation = {
  /**
   * Admits new stored keys, inside the transaction that commits them. A key that is still wrapped under the old wrapping key is noted, and
   * the rotation keeps the old one until this key has been rewrapped. Throws `conflict` when the old wrapping key is gone already.
   */
  admit(transaction: WriteTransaction, stored: readonly StoredKey[]): void;
};

/** A record with stored keys, presented by a plugin to the rotation. */
export type KeyHolder = {
  readonly keys: readonly KeyReference[];
  /** Inside a transaction: replaces the keys that the record still has by the rewrapped ones. Returns their number. */
  replace(transaction: WriteTransaction, rewrapped: ReadonlyMap<StoredKey, StoredKey>): number;
};
