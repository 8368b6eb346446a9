// JSON Web Keys (RFC 7517) that come in: one key, as a JSON object.
import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { isJsonObject, type JsonObject } from '../../../core/wire/json.ts';
import { unusable } from '../errors.ts';

/** The JWK in a text; undefined for a text that is not JSON. Throws invalid-key-data for JSON that is not one JWK. `what` names the text. */
export function readJwkText(given: string, what: string): JsonObject | undefined {
  if (!given.trimStart().startsWith('{')) return undefined;
  let jwk: unknown;
  try {
    jwk = JSON.parse(given);
  } catch {
    throw unusable(`${what} begins like a JWK, and is not JSON.`);
  }
  if (isJsonObject(jwk) && Array.isArray(jwk['keys'])) throw unusable(`${what} is a set of keys; give one of them.`);
  if (!isJsonObject(jwk) || typeof jwk['kty'] !== 'string') throw unusable(`${what} is JSON without "kty", so not a JWK.`);
  return jwk;
}

/** The private key of a JWK. Throws invalid-key-data. */
export function privateKeyOfJwk(jwk: JsonObject | JsonWebKey): KeyObject {
  if (jwk['kty'] === 'oct') throw unusable('"data" is a JWK of a symmetric key.');
  const key = keyOf(jwk, createPrivateKey);
  if (key === undefined) throw unusable('"data" cannot be read as the JWK of a private key; an RSA key needs p, q, dp, dq and qi as well.');
  return key;
}

/** The public key of a JWK. Throws invalid-key-data; also for a private key, which does not belong there. */
export function publicKeyOfJwk(jwk: JsonObject, what: string): KeyObject {
  if (['d', 'k', 'priv'].some((member) => jwk[member] !== undefined))
    throw unusable(`${what} is a JWK with a private part: give the public one alone.`);
  const key = keyOf(jwk, createPublicKey);
  if (key === undefined) throw unusable(`${what} cannot be read as the JWK of a public key.`);
  return key;
}

/** The octets of the JWK of a symmetric key; undefined for another one. */
export function octetsOfJwk(jwk: JsonObject): Uint8Array | undefined {
  if (jwk['kty'] !== 'oct' || typeof jwk['k'] !== 'string' || !/^[\w-]*$/.test(jwk['k'])) return undefined;
  return new Uint8Array(Buffer.from(jwk['k'], 'base64url'));
}

function keyOf(jwk: JsonObject | JsonWebKey, make: (input: { key: JsonWebKey; format: 'jwk' }) => KeyObject): KeyObject | undefined {
  try {
    return cleanly(() => make({ key: jwk, format: 'jwk' }));
  } catch {
    return undefined;
  }
}
