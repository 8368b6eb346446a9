// Identity of the key in a statement: the public key, proven to belong to the private one; of a symmetric key, a check value.
import { constants, createHash, createPublicKey, type KeyObject, publicEncrypt, randomBytes, verify } from 'node:crypto';
import { encodeHex, encodeUtf8 } from '../../core/base/bytes.ts';
import { thumbprintOf } from '../../core/base/public-keys/jwk.ts';
import { plainRsa } from '../../core/der/rsa-pss.ts';
import { type HashName, type Hsm, HsmError, type KeyReference, keyUses, givesSecrets, type SignScheme, trySecret } from '../../hsm/api.ts';

/** `thumbprint`: RFC 7638, of the public key. `checkValue`: hexadecimal, undefined where the token makes the IVs of AES-GCM. */
export type KeyIdentity =
  | { readonly thumbprint: string }
  | { readonly checkValue: undefined }
  | { readonly checkValue: { readonly method: 'aes-gcm' | 'aes-cmac' | 'hmac-sha256'; readonly value: string } };

/** Octets of a check value: enough to tell keys apart. */
const checkValueBytes = 8;
/**
 * AES-GCM of nothing under this nonce: the tag is the cipher of a counter block. The usual check value, the cipher of zeros, is the key
 * of GCM's authentication, and no part of it may be known (NIST SP 800-38D section 6.4). Nonces of ciphertexts have 96 random bits.
 */
const checkNonce = encodeUtf8('keystored kc');
const checkText = encodeUtf8('keystored custody check value');

/** Uses the key once. `publicKey`: SubjectPublicKeyInfo of an asymmetric key. `unavailable` when the two do not belong together. */
export async function identifyKey(
  hsm: Hsm,
  reference: KeyReference,
  publicKey: Uint8Array | undefined,
  requestId: string,
): Promise<KeyIdentity> {
  if (publicKey !== undefined) return { thumbprint: await provenThumbprint(hsm, reference, publicKey, requestId) };
  if (reference.stored.type === 'secret-256')
    return { checkValue: { method: 'hmac-sha256', value: shown(await hsm.hmac(reference, 'sha256', checkText)) } };
  if (keyUses[reference.stored.type].use === 'cmac')
    return { checkValue: { method: 'aes-cmac', value: shown(await hsm.sign(reference, { scheme: 'cmac', message: checkText })) } };
  if (!hsm.takesNonces()) {
    await requireOpensOwn(hsm, reference);
    return { checkValue: undefined };
  }
  const sealed = await hsm.encrypt(reference, new Uint8Array(), { nonce: checkNonce });
  return { checkValue: { method: 'aes-gcm', value: shown(sealed.subarray(checkNonce.length)) } };
}

/** A token that makes the IVs itself gives no value that only the key gives: it shows that the key works. */
async function requireOpensOwn(hsm: Hsm, reference: KeyReference): Promise<void> {
  const opened = await hsm.decrypt(reference, await hsm.encrypt(reference, checkText));
  if (Buffer.compare(opened, checkText) !== 0) throw new HsmError('unavailable', 'the key in the token does not open what it has sealed');
}

/** Only the appliance chooses the text, which begins like no other signed text, and the signature does not leave it. */
async function provenThumbprint(hsm: Hsm, reference: KeyReference, publicKey: Uint8Array, requestId: string): Promise<string> {
  const key = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  if (reference.binding.purpose === 'decrypt') {
    await requireOpens(hsm, reference, key);
    return thumbprintOf(key);
  }
  if (givesSecrets(keyUses[reference.stored.type].use)) {
    await requireSecret(hsm, reference, key);
    return thumbprintOf(key);
  }
  const text = encodeUtf8(`keystored custody statement ${requestId}`);
  await hsm.sign(reference, schemeOf(key, text), (signature) => verify(hashOf(key), text, { key, dsaEncoding: 'ieee-p1363' }, signature));
  return thumbprintOf(plainRsa(key));
}

/** A key for encryption signs nothing: it opens octets that nobody else has seen. */
async function requireOpens(hsm: Hsm, reference: KeyReference, key: KeyObject): Promise<void> {
  const octets = randomBytes(32);
  const sealed = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, octets);
  const opened = await hsm.decryptOaep(reference, 'sha256', sealed);
  if (Buffer.compare(opened, octets) !== 0)
    throw new HsmError('unavailable', 'the private key in the token does not belong to the public key');
}

/** A key that agrees or decapsulates signs nothing: it gives the secret that its public key does. */
async function requireSecret(hsm: Hsm, reference: KeyReference, publicKey: KeyObject): Promise<void> {
  const { use, octets, isRight } = trySecret(reference.stored.type, publicKey);
  if (!isRight(await hsm.use({ use, key: reference, octets })))
    throw new HsmError('unavailable', 'the private key in the token does not belong to the public key');
}

function schemeOf(key: KeyObject, text: Uint8Array): SignScheme {
  if (key.asymmetricKeyType === 'ed25519') return { scheme: 'ed25519', message: text };
  const hash = hashOf(key);
  if (hash === null) return { scheme: 'ml-dsa', message: text };
  const digest = createHash(hash).update(text).digest();
  if (key.asymmetricKeyType === 'rsa-pss') return { scheme: 'rsa-pss', hash, digest };
  return key.asymmetricKeyType === 'rsa' ? { scheme: 'rsa-pkcs1v15', hash: 'sha256', digest } : { scheme: 'ecdsa', digest };
}

/** Null for keys that sign the text itself. */
function hashOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): HashName | null {
  if (asymmetricKeyType === 'rsa-pss') return (asymmetricKeyDetails?.hashAlgorithm ?? 'sha256') as HashName;
  return asymmetricKeyType === 'rsa' || asymmetricKeyType === 'ec' ? 'sha256' : null;
}

function shown(octets: Uint8Array): string {
  return encodeHex(octets.subarray(0, checkValueBytes));
}
