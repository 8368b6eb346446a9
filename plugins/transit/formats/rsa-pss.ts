// Rule for signatures of a key under the OID of RSASSA-PSS (RFC 4055 section 3.1). Its public key is stored under that name, and states the
// rule.
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { plainRsa, spkiNamedAs } from '../../../core/der/rsa-pss.ts';
import type { HashName } from '../../../hsm/api.ts';
import { canonicalSpki, keyObjectOf } from './public-keys.ts';

/** `hash`: the only one it signs with, if its parameters name one. */
export type PssRule = { readonly hash?: HashName };

/** The rule of a version's public key (SubjectPublicKeyInfo); undefined for a key that is not under that OID. */
export function pssRuleOf(publicKey: Uint8Array | undefined): PssRule | undefined {
  const key = publicKey === undefined ? undefined : keyObjectOf(publicKey);
  if (key?.asymmetricKeyType !== 'rsa-pss') return undefined;
  const hash = cleanly(() => key.asymmetricKeyDetails?.hashAlgorithm) as HashName | undefined;
  return hash === undefined ? {} : { hash };
}

/** Tells whether two SubjectPublicKeyInfo are of one key, whatever each is named. */
export function isSameKey(one: Uint8Array, other: Uint8Array): boolean {
  const [numbers, others] = [one, other].map((spki) => canonicalSpki(cleanly(() => plainRsa(keyObjectOf(spki)))));
  return Buffer.compare(numbers as Uint8Array, others as Uint8Array) === 0;
}

/** The public key of a new version, named as that of the version before: what verified signatures of the key verifies them still. */
export function namedAsBefore(before: Uint8Array | undefined, publicKey: Uint8Array | undefined): Uint8Array | undefined {
  if (before === undefined || publicKey === undefined || pssRuleOf(before) === undefined) return publicKey;
  return spkiNamedAs(before, publicKey);
}
