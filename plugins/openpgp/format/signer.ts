// Signers made of transit key versions: the OpenPGP key packet of the public key, and the private key in the HSM.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { concat, uint32 } from '../../../core/base/bytes.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import type { OpenpgpDefinition, OpenpgpRecord, OpenpgpVersion, PacketVersion } from '../records.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { type Algorithm, findAlgorithm, type Signed } from './algorithms.ts';
import { fail } from '../errors.ts';
import { fingerprintOf } from './packets.ts';

/** A public key as an OpenPGP packet body, with its fingerprint. */
export type PublicKeyBody = {
  readonly version: PacketVersion;
  readonly algorithm: Algorithm;
  /** whole seconds since 1970 */
  readonly created: number;
  readonly body: Uint8Array;
  readonly fingerprint: Uint8Array;
};

/** A key that can sign: its packet, and its private key in the token. */
export type Signer = PublicKeyBody & {
  sign(signed: Signed): Promise<Uint8Array>;
  /** random octets of the token */
  draw(octets: number): Promise<Uint8Array>;
};

/**
 * The signer of a version. `made`: creation time of the key, in seconds, for a version that has no record yet. Throws `operation-not-supported` when its cipher does not exist in OpenPGP or it has no private key.
 */
export function requireSigner(
  hsm: Hsm,
  { cipher, fields }: Pick<OpenpgpDefinition, 'cipher' | 'fields'>,
  version: OpenpgpVersion,
  made: number = openpgpSeconds(version.created),
): Signer {
  const { key } = version;
  if (version.publicKey !== undefined && isForPss(version.publicKey)) {
    const detail =
      'This version is a key for RSASSA-PSS (RFC 4055), and RSA signatures of OpenPGP are those of PKCS #1 v1.5: use another key.';
    throw fail('operation-not-supported', { detail });
  }
  const body = key?.binding.purpose === 'sign' ? bodyOf(cipher, version, made, fields.openpgpPacketVersion) : undefined;
  if (body === undefined || key === undefined) {
    throw fail('operation-not-supported', { detail: 'An OpenPGP key needs an RSA, Ed25519 or ECDSA cipher and a private key that signs.' });
  }
  const { publicKey } = version;
  const sign = (signed: Signed): Promise<Uint8Array> => {
    const check =
      publicKey === undefined || !hsm.checksAnswers
        ? undefined
        : (raw: Uint8Array): boolean | Promise<boolean> =>
            body.algorithm.verifies(keyObject(publicKey), signed, raw, { tenant: key.binding.tenant, origin: key.binding.keyId });
    return hsm.sign(key, body.algorithm.scheme(signed.digest, signed.hash), check);
  };
  return { ...body, sign, draw: (octets) => hsm.random(octets) };
}

function bodyOf(
  cipher: string,
  { publicKey, attached }: OpenpgpVersion,
  made: number,
  packetVersion: PacketVersion | undefined,
): PublicKeyBody | undefined {
  if (publicKey === undefined) return undefined;
  if (attached === undefined) return publicKeyBody(cipher, publicKey, made, packetVersion);
  const known = bodies.get(attached) ?? publicKeyBody(cipher, publicKey, attached.created, packetVersionOf(attached));
  if (known !== undefined) bodies.set(attached, known);
  return known;
}

// Parsing the public key costs more than the rest of a signature. A record is the same object until it changes.
const bodies = new WeakMap<OpenpgpRecord, PublicKeyBody>();

/** The version that a record's fingerprint is of. */
export function packetVersionOf({ fingerprints }: Pick<OpenpgpRecord, 'fingerprints'>): PacketVersion {
  return (fingerprints[0] ?? '').length > 40 ? 6 : 4;
}

/**
 * version ‖ created(4) ‖ algorithm ‖ material, in version 6 behind its length(4), from a SubjectPublicKeyInfo. Undefined when the cipher does not
 * exist in OpenPGP.
 */
export function publicKeyBody(cipher: string, spki: Uint8Array, created: number, version: PacketVersion = 4): PublicKeyBody | undefined {
  const algorithm = findAlgorithm(cipher, version);
  if (algorithm === undefined || isForPss(spki)) return undefined;
  const jwk = cleanly(() => keyObject(spki).export({ format: 'jwk' }));
  const material = algorithm.publicMaterial(jwk);
  const length = version === 6 ? uint32(material.length) : new Uint8Array(0);
  const body = concat(Uint8Array.of(version), uint32(created), Uint8Array.of(algorithm.id), length, material);
  return { version, algorithm, created, body, fingerprint: fingerprintOf(body) };
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
