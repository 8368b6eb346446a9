// A certificate of somebody else as a verification-only key: finds its signing key and the cipher, or refuses the block with a reason.
import type { Config, Key, KeyID, Subkey } from 'openpgp';
import { readJwk } from '../../../core/base/public-keys/public-key.ts';
import type { OpenpgpRecord } from '../records.ts';
import { decodeBase64, encodeBase64url } from '../../../core/base/bytes.ts';
import { unusable } from '../errors.ts';
import { formatArmor } from '../format/keyblock.ts';
import { openpgp } from '../format/library.ts';
import { readCertificate, unarmoredBlock } from '../format/reading.ts';
import { withoutOthers } from './clean.ts';
import { withoutSoftRevocations } from './revoked.ts';

/** Result of importing a block. */
export type ImportedCertificate = {
  readonly cipher: string;
  /** SubjectPublicKeyInfo, DER */
  readonly publicKey: Uint8Array;
  readonly record: OpenpgpRecord;
  /** parts of it that others refuse, for people */
  readonly warnings: readonly string[];
};

const maxSubkeys = 32;

/**
 * Reads a public key block. Cipher and public key are those of the signing key, also when it has expired: what it signed before stays
 * verifiable. `isCleaned`: signatures of other keys are left out first. Throws `invalid-key-data` naming the reason.
 */
export async function importCertificate(given: string, now: Temporal.Instant, isCleaned = false): Promise<ImportedCertificate> {
  const block = isCleaned ? await cleanBlock(armoredBlock(given)) : armoredBlock(given);
  const key = await readCertificate(block);
  // Keys are checked before anything is verified with them: subkeys that break the rule for keys of others are ignored.
  if (!isSound(key)) throw unusable('The primary key of the certificate is weak, or no point of its curve.');
  key.subkeys = key.subkeys.filter(isSound);
  if (key.users.length === 0) throw unusable('The certificate has no User ID. Export it with its User ID.');
  if (key.subkeys.length > maxSubkeys) throw unusable(`The certificate has more than ${maxSubkeys} subkeys.`);
  // Parsed again: keys that signed until they were superseded or retired count too, after the key that signs now.
  const earlier = withoutSoftRevocations(await readCertificate(block), undefined);
  if (await isRevoked(earlier, now)) throw unusable('The certificate is revoked, and not because it was superseded or retired.');
  const signingKey = (await findSigningKey(key)) ?? (await findSigningKey(earlier));
  if (signingKey === undefined) {
    throw unusable(
      'No key of the certificate can sign: it needs a valid self-signature, the sign flag, and an algorithm of RSA, Ed25519 or NIST ECDSA.',
    );
  }
  const { cipher, publicKey } = describeKey(signingKey);
  const created = Math.floor(signingKey.getCreationTime().getTime() / 1000);
  const fingerprints = await signingFingerprints(earlier);
  const record: OpenpgpRecord = {
    fingerprints,
    created,
    notBefore: created,
    certificate: key.write(),
    imported: block,
  };
  return { cipher, publicKey, record, warnings: await warningsOf(earlier, fingerprints) };
}

/** Binary packets, as `gpg --export` writes them, come in base64 and are kept as armor, the form of exported blocks. */
function armoredBlock(given: string): string {
  const packets = given.includes('-----BEGIN ') ? undefined : decodeBase64(given);
  return packets === undefined ? given : formatArmor('public', packets);
}

async function cleanBlock(block: string): Promise<string> {
  const cleaned = withoutOthers(await unarmoredBlock(block));
  if (cleaned === undefined) throw unusable('The block does not begin with a public key, or is torn.');
  return formatArmor('public', cleaned);
}

async function isRevoked(key: Key, now: Temporal.Instant): Promise<boolean> {
  return key.isRevoked(undefined, undefined, new Date(now.epochMilliseconds), undefined).catch(() => true);
}

// With a null date, openpgp.js ignores expiry but not revocation.
async function findSigningKey(key: Key, keyId?: KeyID, config?: Config): Promise<Key | Subkey | undefined> {
  try {
    return await key.getSigningKey(keyId, null, undefined, config);
  } catch {
    return undefined;
  }
}

/** Fingerprints of the keys of a certificate that can sign, including expired ones. */
export async function signingFingerprints(key: Key, config?: Config): Promise<readonly string[]> {
  const fingerprints: string[] = [];
  for (const candidate of key.getKeys()) {
    const found = await findSigningKey(key, candidate.getKeyID(), config);
    if (found?.getFingerprint() === candidate.getFingerprint()) fingerprints.push(candidate.getFingerprint().toUpperCase());
  }
  return fingerprints;
}

/** Keys that sign on the word of SHA-1 alone, which counts here: what else verifies with the certificate may not have it. */
async function warningsOf(certificate: Key, fingerprints: readonly string[]): Promise<readonly string[]> {
  const { config, enums } = openpgp();
  const rejectHashAlgorithms = new Set([...config.rejectHashAlgorithms, enums.hash.sha1]);
  const accepted = new Set(await signingFingerprints(certificate, { ...config, rejectHashAlgorithms }));
  const refused = fingerprints.filter((fingerprint) => !accepted.has(fingerprint));
  return refused.length === 0
    ? []
    : [
        `The self-signatures of ${refused.join(', ')} are made with SHA-1: sqv, apt 3 and rpm refuse what this key signs, and it verifies here. Ask its owner for a certificate with newer self-signatures.`,
      ];
}

/** Public material as openpgp.js keeps it: RSA n, e; ECDSA and EdDSA the point Q; Ed25519 (27) A. */
type PublicParams = { readonly n?: Uint8Array; readonly e?: Uint8Array; readonly Q?: Uint8Array; readonly A?: Uint8Array };

const rsaCiphers: ReadonlyMap<number, string> = new Map([2048, 3072, 4096].map((bits) => [bits, `rsa-${bits}`]));
const curveCiphers: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['nistP256', ['ecdsa-p256', 'P-256']],
  ['nistP384', ['ecdsa-p384', 'P-384']],
  ['nistP521', ['ecdsa-p521', 'P-521']],
]);

function describeKey(key: Key | Subkey): { cipher: string; publicKey: Uint8Array } {
  const { algorithm, bits = 0, curve = '' } = key.getAlgorithmInfo();
  const jwk = jwkOf(key);
  if (jwk === undefined) {
    throw unusable(`The algorithm of the signing key (${algorithm} ${curve}) is not offered; RSA, Ed25519 and NIST ECDSA are.`);
  }
  const cipher = jwk.kty === 'RSA' ? rsaCiphers.get(bits) : (curveCiphers.get(curve)?.[0] ?? 'ed25519');
  if (cipher === undefined) throw unusable(`RSA of ${bits} bits is not offered; 2048, 3072 and 4096 are.`);
  const publicKey = readJwk(jwk, 'verify');
  if (publicKey === undefined) throw unusable('The public key of the signing key is not valid.');
  return { cipher, publicKey: publicKey.export({ format: 'der', type: 'spki' }) };
}

/** Tells whether a key satisfies the rule for keys of others. Types without a cipher here are left to openpgp.js. */
function isSound(key: Key | Subkey): boolean {
  const jwk = jwkOf(key);
  return jwk === undefined || readJwk(jwk, 'verify') !== undefined;
}

/** The public key as node:crypto reads it; undefined for types and curves that no cipher here has. */
function jwkOf(key: Key | Subkey): JsonWebKey | undefined {
  const { algorithm, curve = '' } = key.getAlgorithmInfo();
  const { n, e, Q, A } = key.keyPacket.publicParams as PublicParams;
  if (n !== undefined && e !== undefined) return { kty: 'RSA', n: encodeBase64url(n), e: encodeBase64url(e) };
  const named = curveCiphers.get(curve);
  if (named !== undefined && Q !== undefined) {
    // Q is 04 ‖ X ‖ Y
    const width = (Q.length - 1) / 2;
    return { kty: 'EC', crv: named[1], x: encodeBase64url(Q.subarray(1, 1 + width)), y: encodeBase64url(Q.subarray(1 + width)) };
  }
  // Q of EdDSA (22) is 40 ‖ point; A of Ed25519 (27) the point
  const point = algorithm === 'eddsaLegacy' ? Q?.subarray(1) : algorithm === 'ed25519' ? A : undefined;
  return point?.length === 32 ? { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(point) } : undefined;
}
