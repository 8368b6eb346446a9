// A transit key of an OpenBao or Vault, as its API and its backups have it.
import { createPrivateKey } from 'node:crypto';
import type { JsonObject } from '../../../core/wire/json.ts';

/** `versions`: numbers of those that still decrypt, in order. */
export type ForeignKey = {
  readonly type: string;
  readonly derived: boolean;
  readonly convergent: boolean;
  /** derivation of keys: `hkdf_sha256`, or that of the first versions of Vault */
  readonly kdf: string;
  readonly exportable: boolean;
  readonly deletionAllowed: boolean;
  readonly leastDecryption: number;
  readonly leastEncryption: number;
  readonly rotationSeconds: number;
  readonly versions: readonly number[];
  /** as they are listed: PEM, or of Ed25519 the octets in base64; none of a secret key */
  readonly publicKeys: ReadonlyMap<number, string>;
};

/** Material of a version as our import takes it, and the key of its HMACs in base64, where that leaves. */
export type ForeignVersion = ({ readonly data: string } | { readonly ciphertext: string }) & { readonly hmac?: string };

/** PKCS#8 of an Ed25519 key that is exported as seed and public key, 64 octets in base64. */
export function pemOfSeed(text: string): string {
  const octets = Buffer.from(text, 'base64');
  const [d, x] = [octets.subarray(0, 32).toString('base64url'), octets.subarray(32).toString('base64url')];
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
  return key.export({ type: 'pkcs8', format: 'pem' });
}

export function textIn(data: JsonObject, field: string): string {
  return typeof data[field] === 'string' ? data[field] : '';
}

export function numberIn(data: JsonObject, field: string): number {
  return typeof data[field] === 'number' ? data[field] : 0;
}

export function flagIn(data: JsonObject, field: string): boolean {
  return data[field] === true;
}
