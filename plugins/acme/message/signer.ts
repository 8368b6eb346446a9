// Keys of accounts (RFC 8555 section 6.2), and the signatures that they make.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { publicJwk, thumbprintOf } from '../../../core/base/public-keys/jwk.ts';
import { readJwk } from '../../../core/base/public-keys/public-key.ts';
import { algorithmNames, isAlgorithm, isSignatureRight, isUsableType, keyTypeOf } from '../../../core/identity/signature-algorithms.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { failAcme } from '../errors.ts';
import { malformed } from './malformed.ts';
import type { Jws } from './jws.ts';

export type SignerKey = { readonly key: KeyObject; readonly jwk: Readonly<Record<string, string>>; readonly thumbprint: string };

/** Members of a JWK that only a private key has (RFC 7518 section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Reads the public key of a JWK. Throws `acme-bad-public-key`. */
export function readKey(jwk: JsonObject): SignerKey {
  if (privateMembers.some((name) => Object.hasOwn(jwk, name)))
    throw failAcme('acme-bad-public-key', '"jwk" has members of a private key, which nobody may see: make another key.');
  const { kty, crv } = jwk;
  if (!isUsableType(kty, crv)) throw failAcme('acme-bad-public-key');
  const members = Object.fromEntries(
    ['kty', 'crv', 'x', 'y', 'n', 'e'].flatMap((name) => (jwk[name] === undefined ? [] : [[name, jwk[name]]])),
  );
  const key = readJwk(members, 'verify');
  if (key === undefined)
    throw failAcme('acme-bad-public-key', '"jwk" is malformed, not on its curve, or an RSA key outside 2048 to 8192 bits.');
  return { key, jwk: publicJwk(key), thumbprint: thumbprintOf(key) };
}

/** Keys of accounts that were used last, by their JWK: reading one takes longer than the check of its signature. */
const known = new Map<string, SignerKey>();
const mostKnown = 1_000;

/** The key of an account, as recorded. */
export function keyOfAccount(jwk: JsonObject): SignerKey {
  const text = JSON.stringify(jwk);
  const key = known.get(text) ?? readKey(jwk);
  known.delete(text);
  known.set(text, key);
  if (known.size > mostKnown) known.delete(known.keys().next().value ?? '');
  return key;
}

/** Requires that a key has signed the message, with an algorithm of its type. Throws `acme-bad-signature-algorithm` or `acme-malformed`. */
export function requireSignedBy({ alg, signed, signature }: Jws, { key, jwk }: SignerKey): void {
  if (!isAlgorithm(alg))
    throw failAcme('acme-bad-signature-algorithm', '"alg" is not one of those that are taken.', {
      members: { algorithms: algorithmNames },
    });
  const wanted = keyTypeOf(alg);
  if (wanted.kty !== jwk['kty'] || (wanted.crv !== undefined && wanted.crv !== jwk['crv']))
    throw failAcme('acme-bad-signature-algorithm', '"alg" is not an algorithm of the key.', { members: { algorithms: algorithmNames } });
  if (!isSignatureRight(alg, key, signed, signature)) throw malformed('The signature of the message does not verify with its key.');
}

/** The thumbprint of a DER SubjectPublicKeyInfo; undefined for a key of a type that accounts do not have. */
export function thumbprintOfDer(publicKey: Uint8Array): string | undefined {
  try {
    return thumbprintOf(cleanly(() => createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })));
  } catch {
    return undefined;
  }
}
