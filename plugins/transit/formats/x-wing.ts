// X-Wing (draft-connolly-cfrg-xwing-kem): one secret of ML-KEM-768 and X25519, for whose private keys a version has two keys in the token.
import { diffieHellman, encapsulate, generateKeyPairSync, hash } from 'node:crypto';
import { concat, encodeUtf8 } from '../../../core/base/bytes.ts';
import { xWingSpki } from '../../../core/der/x-wing.ts';
import { keyUses } from '../../../hsm/api.ts';
import { keyObjectOf } from './public-keys.ts';

const label = encodeUtf8('\\.//^\\');
const kemBytes = keyUses['ml-kem-768'].ciphertextBytes;

/** Octets of a ciphertext: that of ML-KEM-768, then the point of the sender. */
export const xWingCiphertextBytes = kemBytes + 32;

/** Public keys of a version that has both. */
type PublicKeys = { readonly publicKey?: Uint8Array; readonly agreementPublicKey?: Uint8Array };

/** The public key as senders know it: those of ML-KEM and X25519, one after the other, raw. */
export function rawXWingKey({ publicKey, agreementPublicKey }: PublicKeys): Uint8Array {
  return concat(...[publicKey, agreementPublicKey].map((spki) => keyObjectOf(spki as Uint8Array).export({ format: 'raw-public' })));
}

/** SubjectPublicKeyInfo of the public key of a version, whatever its cipher; undefined for a symmetric one. */
export function shownPublicKey(version: PublicKeys): Uint8Array | undefined {
  return version.agreementPublicKey === undefined ? version.publicKey : xWingSpki(rawXWingKey(version));
}

/** The parts of a ciphertext of the right length. */
export function splitXWing(ciphertext: Uint8Array): { readonly ofKem: Uint8Array; readonly point: Uint8Array } {
  return { ofKem: ciphertext.subarray(0, kemBytes), point: ciphertext.subarray(kemBytes) };
}

/** The secret (section 5.3) of those that the two keys give, which it zeroes. */
export function combineXWing(ofKem: Uint8Array, agreed: Uint8Array, point: Uint8Array, version: PublicKeys): Uint8Array {
  const own = keyObjectOf(version.agreementPublicKey as Uint8Array).export({ format: 'raw-public' });
  const joined = concat(ofKem, agreed, point, own, label);
  const secret = new Uint8Array(hash('sha3-256', joined, 'buffer'));
  for (const octets of [joined, ofKem, agreed]) octets.fill(0);
  return secret;
}

/** Encapsulates with the public keys, as everybody can who has them. */
export function encapsulateXWing(version: PublicKeys): { readonly sharedKey: Uint8Array; readonly ciphertext: Uint8Array } {
  const { sharedKey, ciphertext } = encapsulate(keyObjectOf(version.publicKey as Uint8Array));
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const point = publicKey.export({ format: 'raw-public' });
  const agreed = diffieHellman({ privateKey, publicKey: keyObjectOf(version.agreementPublicKey as Uint8Array) });
  return { sharedKey: combineXWing(sharedKey, agreed, point, version), ciphertext: concat(ciphertext, point) };
}
