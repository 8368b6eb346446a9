// Matches the mechanisms of a token with those that the key types need.
import type { KeyType } from '../api.ts';
import { keyRows, keyTypes } from './mechanisms.ts';

/** The key types a token with these mechanisms can make and use. */
export function findKeyTypes(mechanisms: ReadonlySet<number>): KeyType[] {
  return keyTypes.filter((type) => mechanisms.has(keyRows[type].generate) && mechanisms.has(keyRows[type].use));
}

/** What the appliance itself needs of a token, beside the types of keys: each a mechanism, or one of several. */
export const ownNeeds: readonly (readonly string[])[] = [
  ['CKM_AES_KEY_GEN'],
  ['CKM_AES_KEY_WRAP_PAD', 'CKM_AES_KEY_WRAP_KWP'],
  ['CKM_AES_GCM'],
  ['CKM_GENERIC_SECRET_KEY_GEN'],
  ['CKM_SHA256_HMAC'],
];

/** What of that is missing among the names of mechanisms, for people. */
export function findLacks(mechanisms: readonly string[]): readonly string[] {
  return ownNeeds.filter((need) => !need.some((name) => mechanisms.includes(name))).map((need) => need.join(' or '));
}
