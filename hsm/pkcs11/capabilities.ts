// Matches the mechanisms of a token with those that the key types need.
import type { KeyType } from '../api.ts';
import { keyRows, keyTypes } from './mechanisms.ts';

/** Least plausible size of the largest RSA key: a module that names less counts octets, or answers nothing useful. */
const fewestBits = 1024;

/**
 * Finds the key types that a token with these mechanisms can make and use. `mostBits`: the largest key that a mechanism makes, from the token; a TPM
 * makes no RSA keys of 4096 bits.
 */
export function findKeyTypes(mechanisms: ReadonlySet<number>, mostBits: (mechanism: number) => number | undefined): KeyType[] {
  return keyTypes.filter((type) => {
    const { family, generate, use, bytes } = keyRows[type];
    if (!mechanisms.has(generate) || !mechanisms.has(use)) return false;
    const most = family === 'rsa' ? (mostBits(generate) ?? 0) : 0;
    return most < fewestBits || 8 * bytes <= most;
  });
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
