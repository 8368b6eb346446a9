// Matches the mechanisms of a token with those that the key types need.
import type { KeyType } from '../api.ts';
import * as ck from './constants.ts';
import { keyRows, keyTypes } from './mechanisms.ts';

/** Least plausible size of the largest RSA key: a module that names less counts octets, or answers nothing useful. */
const fewestBits = 1024;

/** Abilities of a module beside its mechanisms. `mostBits`: the largest key that a mechanism makes; a TPM makes no RSA keys of 4096 bits. */
type Abilities = { readonly mostBits: (mechanism: number) => number | undefined; readonly decapsulates: () => boolean };

/** Finds the key types that a token with these mechanisms can make and use. */
export function findKeyTypes(mechanisms: ReadonlySet<number>, { mostBits, decapsulates }: Abilities): KeyType[] {
  return keyTypes.filter((type) => {
    const { family, generate, use, bytes } = keyRows[type];
    const isMade = mechanisms.has(generate) || (family === 'montgomery' && namesMontgomeryEdwards(mechanisms));
    if (!isMade || !mechanisms.has(use) || (family === 'ml-kem' && !decapsulates())) return false;
    const most = family === 'rsa' ? (mostBits(generate) ?? 0) : 0;
    return most < fewestBits || 8 * bytes <= most;
  });
}

/**
 * Tells whether a module has keys of Montgomery curves under the names of Edwards ones: SoftHSM2 up to 2.6 makes X25519 keys by
 * CKM_EC_EDWARDS_KEY_PAIR_GEN, as CKK_EC_EDWARDS, which PKCS#11 has separated since. Whether it does is proven like each type.
 */
export function namesMontgomeryEdwards(mechanisms: ReadonlySet<number>): boolean {
  return !mechanisms.has(ck.CKM_EC_MONTGOMERY_KEY_PAIR_GEN) && mechanisms.has(ck.CKM_EC_EDWARDS_KEY_PAIR_GEN);
}

/** Mechanisms that the appliance itself needs, besides those of the key types: each entry is one mechanism, or several of which one is enough. */
export const ownNeeds: readonly (readonly string[])[] = [
  ['CKM_AES_KEY_GEN'],
  ['CKM_AES_KEY_WRAP_PAD', 'CKM_AES_KEY_WRAP_KWP'],
  ['CKM_AES_GCM'],
  ['CKM_GENERIC_SECRET_KEY_GEN'],
  ['CKM_SHA256_HMAC'],
];

/** Lists the missing ones among `ownNeeds`, for people. */
export function findLacks(mechanisms: readonly string[]): readonly string[] {
  return ownNeeds.filter((need) => !need.some((name) => mechanisms.includes(name))).map((need) => need.join(' or '));
}
