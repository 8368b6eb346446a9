// Public keys as JSON Web Keys (RFC 7517), and the thumbprints that name them (RFC 7638).
import { hash, type KeyObject } from 'node:crypto';

/**
 * The members that a thumbprint covers, by key type, in the order in which they are hashed: RFC 7638 section 3.2, RFC 8037 section 2 (OKP),
 * and the required members of the ML-DSA keys of JOSE (AKP).
 */
const covered: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  RSA: ['e', 'kty', 'n'],
  OKP: ['crv', 'kty', 'x'],
  AKP: ['alg', 'kty', 'pub'],
};

/** A public key as JWK: the members that its thumbprint covers, and no others. Throws TypeError for a type of key that has none. */
export function publicJwk(key: KeyObject): Readonly<Record<string, string>> {
  const jwk: Readonly<Record<string, unknown>> = { ...key.export({ format: 'jwk' }) };
  const members = covered[String(jwk['kty'])];
  if (members === undefined) throw new TypeError(`a JWK of type ${String(jwk['kty'])} has no thumbprint here`);
  return Object.fromEntries(members.map((name) => [name, String(jwk[name])]));
}

/** RFC 7638 with SHA-256, in base64url. */
export function thumbprintOf(key: KeyObject): string {
  return hash('sha256', JSON.stringify(publicJwk(key)), 'base64url');
}
