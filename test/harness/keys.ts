// Key material and checks by node:crypto, to hold the token's answers against.
import { constants, createHash, createPublicKey, generateKeyPairSync, randomBytes, verify, type KeyObject } from 'node:crypto';
import type { GeneratedKey, Hsm, KeyBinding, KeyReference, KeyType, SignScheme } from '../../hsm/api.ts';

/** A binding for tests; every key id of one test is another key. */
export function bindingOf(keyId: string, purpose = 'test'): KeyBinding {
  return { tenant: 'tenant', keyId, version: 1, purpose };
}

/** Generates a key and gives the reference to it along. */
export async function makeKey(
  hsm: Hsm,
  type: KeyType,
  keyId: string,
  options?: Parameters<Hsm['generate']>[2],
): Promise<GeneratedKey & { key: KeyReference }> {
  const binding = bindingOf(keyId);
  const made = await hsm.generate(type, binding, options);
  return { ...made, key: { stored: made.stored, binding } };
}

/** Fresh material of a type as importKey takes it. */
export function freshMaterial(type: KeyType): Buffer {
  const octets = ({ 'aes-128': 16, 'aes-192': 24, 'aes-256': 32, 'secret-256': 32 } as Record<string, number>)[type];
  return octets === undefined ? freshKey(type).export({ format: 'der', type: 'pkcs8' }) : randomBytes(octets);
}

const curves: Readonly<Record<string, string>> = { 'ecdsa-p256': 'P-256', 'ecdsa-p384': 'P-384', 'ecdsa-p521': 'P-521' };

function freshKey(type: KeyType): KeyObject {
  if (type.startsWith('rsa-')) return generateKeyPairSync('rsa', { modulusLength: Number(type.slice(4)) }).privateKey;
  if (type.startsWith('ecdsa-')) return generateKeyPairSync('ec', { namedCurve: curves[type] ?? '' }).privateKey;
  return generateKeyPairSync(type as 'ed25519').privateKey;
}

/** The signatures a key of this type makes over a message, each with its check by node:crypto. */
export function signatures(
  type: KeyType,
  message: Buffer,
  spki: Uint8Array,
): { scheme: SignScheme; check: (signature: Uint8Array) => boolean }[] {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const hashes = ['sha256', 'sha384', 'sha512'] as const;
  if (type.startsWith('rsa-')) {
    return hashes.flatMap((hash) => {
      const digest = createHash(hash).update(message).digest();
      const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: digest.length };
      return [
        { scheme: { scheme: 'rsa-pkcs1v15', hash, digest }, check: (signature: Uint8Array) => verify(hash, message, key, signature) },
        { scheme: { scheme: 'rsa-pss', hash, digest }, check: (signature: Uint8Array) => verify(hash, message, pss, signature) },
      ];
    });
  }
  if (type.startsWith('ecdsa-')) {
    return hashes.map((hash) => ({
      scheme: { scheme: 'ecdsa', digest: createHash(hash).update(message).digest() },
      check: (signature) => verify(hash, message, { key, dsaEncoding: 'ieee-p1363' }, signature),
    }));
  }
  const scheme = type === 'ed25519' ? 'ed25519' : 'ml-dsa';
  return [{ scheme: { scheme, message }, check: (signature) => verify(null, message, key, signature) }];
}
