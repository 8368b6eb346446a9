// Signers made of transit key versions: the OpenPGP key packet of the public key, and the private key in the HSM.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { concat, uint32 } from '../../../core/base/bytes.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import type { OpenpgpDefinition, OpenpgpRecord, OpenpgpVersion } from '../records.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { type Algorithm, findAlgorithm, type Signed } from './algorithms.ts';
import { fail } from '../errors.ts';
import { fingerprintOf } from './packets.ts';

/** A public key as an OpenPGP packet body, with its fingerprint. */
export type PublicKeyBody = {
  readonly algorithm: Algorithm;
  /** whole seconds since 1970 */
  readonly created: number;
  readonly body: Uint8Array;
  readonly fingerprint: Uint8Array;
};

/** A key that can sign: its packet, and its private key in the token. */
export type Signer = PublicKeyBody & { sign(signed: Signed): Promise<Uint8Array> };

/** The signer of a version. Throws `operation-not-supported` when its cipher does not exist in OpenPGP or it has no private key. */
export function requireSigner(hsm: Hsm, { cipher }: Pick<OpenpgpDefinition, 'cipher'>, version: OpenpgpVersion): Signer {
  const { key } = version;
  if (version.publicKey !== undefined && isForPss(version.publicKey)) {
    const detail =
      'This version is a key for RSASSA-PSS (RFC 4055), and RSA signatures of OpenPGP are those of PKCS #1 v1.5: use another key.';
    throw fail('operation-not-supported', { detail });
  }
  const body = key?.binding.purpose === 'decrypt' ? undefined : bodyOf(cipher, version);
  if (body === undefined || key === undefined) {
    throw fail('operation-not-supported', { detail: 'An OpenPGP key needs an RSA, Ed25519 or ECDSA cipher and a private key that signs.' });
  }
  const { publicKey } = version;
  const sign = (signed: Signed): Promise<Uint8Array> => {
    const check =
      publicKey === undefined || !hsm.checksAnswers
        ? undefined
        : (raw: Uint8Array): boolean => body.algorithm.verifies(keyObject(publicKey), signed, raw);
    return hsm.sign(key, body.algorithm.scheme(signed.digest), check);
  };
  return { ...body, sign };
}

function bodyOf(cipher: string, { publicKey, attached, created }: OpenpgpVersion): PublicKeyBody | undefined {
  if (publicKey === undefined) return undefined;
  if (attached === undefined) return publicKeyBody(cipher, publicKey, openpgpSeconds(created));
  const known = bodies.get(attached) ?? publicKeyBody(cipher, publicKey, attached.created);
  if (known !== undefined) bodies.set(attached, known);
  return known;
}

// Parsing the public key costs more than the rest of a signature. A record is the same object until it changes.
const bodies = new WeakMap<OpenpgpRecord, PublicKeyBody>();

/** 04 ‖ created(4) ‖ algorithm ‖ material, from a SubjectPublicKeyInfo. Undefined when the cipher does not exist in OpenPGP. */
export function publicKeyBody(cipher: string, spki: Uint8Array, created: number): PublicKeyBody | undefined {
  const algorithm = findAlgorithm(cipher);
  if (algorithm === undefined || isForPss(spki)) return undefined;
  const jwk = cleanly(() => keyObject(spki).export({ format: 'jwk' }));
  const body = concat(Uint8Array.of(4), uint32(created), Uint8Array.of(algorithm.id), algorithm.publicMaterial(jwk));
  return { algorithm, created, body, fingerprint: fingerprintOf(body) };
}

function isForPss(spki: Uint8Array): boolean {
  return keyObject(spki).asymmetricKeyType === 'rsa-pss';
}

function keyObject(spki: Uint8Array): KeyObject {
  return cleanly(() => createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }));
}

/** Whole seconds, rounded down: most verifiers refuse a signature dated even half a second in the future. */
export function openpgpSeconds(instant: Temporal.Instant): number {
  return Math.floor(instant.epochMilliseconds / 1000);
}
