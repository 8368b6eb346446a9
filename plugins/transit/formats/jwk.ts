// Keys of transit as JSON Web Keys (RFC 7517).
import { createPrivateKey } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { publicJwk, thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { plainRsa } from '../../../core/der/rsa-pss.ts';
import type { Cipher } from '../ciphers.ts';
import { hashOfCurve } from './hash-of-curve.ts';
import { keyObjectOf } from './public-keys.ts';
import { pssRuleOf } from './rsa-pss.ts';
import { encodeBase64url } from '../../../core/base/bytes.ts';

// Remembered by the stored octets: the store returns the same object until the record changes.
const keyIds = new WeakMap<Uint8Array, string>();

/** `kid` of a stored public key (SubjectPublicKeyInfo): its thumbprint (RFC 7638). */
export function keyIdOf(publicKey: Uint8Array): string {
  let id = keyIds.get(publicKey);
  if (id === undefined) keyIds.set(publicKey, (id = cleanly(() => thumbprintOf(plainRsa(keyObjectOf(publicKey))))));
  return id;
}

/** A public key as JWK, with what it is for. */
export function publicJwkOf(cipher: Cipher, publicKey: Uint8Array): Readonly<Record<string, unknown>> {
  const members = cleanly(() => publicJwk(plainRsa(keyObjectOf(publicKey))));
  return {
    ...members,
    kid: keyIdOf(publicKey),
    use: cipher.kind === 'signing' ? 'sig' : 'enc',
    ...algorithmOf(cipher, publicKey),
  };
}

/** The one algorithm of a key; RSA keys may have several. */
function algorithmOf(cipher: Cipher, publicKey: Uint8Array): { readonly alg?: string } {
  if (cipher.kind !== 'signing') return {};
  if (cipher.keyType === 'ecdsa-secp256k1') return { alg: 'ES256K' };
  if (cipher.family === 'ecdsa') return { alg: `ES${hashOfCurve(cipher)?.slice(3)}` };
  if (cipher.family === 'ed25519') return { alg: 'EdDSA' };
  if (cipher.family === 'ml-dsa') return { alg: cipher.keyType.toUpperCase() };
  const rule = pssRuleOf(publicKey);
  return defined({ alg: rule?.hash === undefined ? undefined : `PS${rule.hash.slice(3)}` });
}

/** A private key (PKCS#8) as JWK in JSON; of a symmetric key its octets. */
export function privateJwkText(cipher: Cipher, material: Uint8Array, publicKey: Uint8Array | undefined): string {
  if (publicKey === undefined) return JSON.stringify({ kty: 'oct', k: encodeBase64url(material) });
  const key = cleanly(() =>
    createPrivateKey({ key: Buffer.from(material.buffer, material.byteOffset, material.length), format: 'der', type: 'pkcs8' }),
  );
  const members = cleanly(() => plainRsa(key).export({ format: 'jwk' }));
  return JSON.stringify({ ...members, kid: keyIdOf(publicKey), ...algorithmOf(cipher, publicKey) });
}
