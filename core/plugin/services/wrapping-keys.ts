// Where keys that plugins keep meet the rotation of the token's wrapping keys.
import type { KeyReference, StoredKey } from '../../../hsm/api.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { defineService } from '../service.ts';

/** Provided by the appliance. */
export const wrappingKeysService = defineService<WrappingKeyRotation>('wrapping-keys');

export type WrappingKeyRotation = {
  /**
   * Inside the transaction that commits new stored keys: a rotation learns of one that was still wrapped under the old key, and keeps that
   * key until this one is wrapped anew. Throws conflict when the old key is gone already.
   */
  admit(transaction: WriteTransaction, stored: readonly StoredKey[]): void;
};

/** A record with stored keys in it, as a plugin shows it to the rotation. */
export type KeyHolder = {
  readonly keys: readonly KeyReference[];
  /** Inside a transaction: puts newly wrapped keys in place of those the record still has. Answers how many it had. */
  replace(transaction: WriteTransaction, rewrapped: ReadonlyMap<StoredKey, StoredKey>): number;
};
