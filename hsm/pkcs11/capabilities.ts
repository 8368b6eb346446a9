// Matches the mechanisms of a token with those that the key types need.
import type { KeyType } from '../api.ts';
import { keyRows, keyTypes } from './mechanisms.ts';

/** The key types a token with these mechanisms can make and use. */
export function findKeyTypes(mechanisms: ReadonlySet<number>): KeyType[] {
  return keyTypes.filter((type) => mechanisms.has(keyRows[type].generate) && mechanisms.has(keyRows[type].use));
}
