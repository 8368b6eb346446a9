// Key material and checks by node:crypto, to hold the token's answers against.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  verify,
  type KeyObject,
} from 'node:crypto';
import {
  type GeneratedKey,
  givesSecrets,
  type Hsm,
  type KeyBinding,
  type KeyReference,
  type KeyType,
  keyUses,
  type SignScheme,
} from '../../hsm/api.ts';

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
  const octets = (
    { 'aes-128': 16, 'aes-192': 24, 'aes-256': 32, 'secret-256': 32, 'cmac-128': 16, 'cmac-256': 32 } as Record<string, number>
  )[type];
  return octets === undefined ? freshKey(type).export({ format: 'der', type: 'pkcs8' }) : randomBytes(octets);
}

const curves: Readonly<Record<string, string>> = { p256: 'P-256', p384: 'P-384', p521: 'P-521', secp256k1: 'secp256k1' };

function freshKey(type: KeyType): KeyObject {
  if (type.startsWith('rsa-')) return generateKeyPairSync('rsa', { modulusLength: Number(type.slice(4)) }).privateKey;
  const curve = curves[type.replace(/^ecd(sa|h)-/, '')];
  if (curve !== undefined) return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
  return generateKeyPairSync(type as 'ed25519').privateKey;
}

/** The signatures a key of this type makes over a message, each with its check by node:crypto; none of a key that gives secrets. */
export function signatures(
  type: KeyType,
  message: Buffer,
  spki: Uint8Array,
): { scheme: SignScheme; check: (signature: Uint8Array) => boolean }[] {
  if (givesSecrets(keyUses[type].use)) return [];
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

/** Encrypts as the token does: nonce (12 octets), ciphertext, tag (16). */
export function sealOutside(key: Uint8Array, plaintext: Buffer, associatedData?: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(`aes-${(key.length * 8) as 256}-gcm`, key, nonce).setAAD(associatedData ?? Buffer.alloc(0));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The reverse. Throws for what does not open. */
export function openOutside(key: Uint8Array, sealed: Uint8Array, associatedData?: Buffer): Buffer {
  const cipher = createDecipheriv(`aes-${(key.length * 8) as 256}-gcm`, key, sealed.subarray(0, 12)).setAAD(
    associatedData ?? Buffer.alloc(0),
  );
  cipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()]);
}

/** The public key of PKCS#8 octets, as SubjectPublicKeyInfo. */
export function publicKeyOf(type: KeyType, material: Buffer): Uint8Array | undefined {
  if (/^(aes|secret|cmac)/.test(type)) return undefined;
  const key = createPublicKey(createPrivateKey({ key: material, format: 'der', type: 'pkcs8' }));
  return key.export({ format: 'der', type: 'spki' });
}

/** Whether two keys are the same: PKCS#8 can be written in several ways. */
export function isSameMaterial(type: KeyType, one: Uint8Array, other: Uint8Array): boolean {
  if (/^(aes|secret|cmac)/.test(type)) return Buffer.compare(one, other) === 0;
  const [first, second] = [one, other].map((key) => createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' }));
  return first !== undefined && second !== undefined && first.equals(second);
}
