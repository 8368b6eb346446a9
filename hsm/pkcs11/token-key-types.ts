// Key types of one token: what its mechanisms, its limits and its module's functions make possible.
import type { KeyType } from '../api.ts';
import { findKeyTypes } from './capabilities.ts';
import type { PkcsModule, SlotHandle } from './module.ts';
import { findDecapsulateKey } from './newer-functions.ts';

/** The key types that the token in a slot can make and use. */
export function keyTypesOf(module: PkcsModule, slot: SlotHandle, mechanisms: ReadonlySet<number>): KeyType[] {
  const mostBits = (mechanism: number): number | undefined => module.largestKey(slot, mechanism);
  return findKeyTypes(mechanisms, { mostBits, decapsulates: () => findDecapsulateKey(module.path) !== undefined });
}
