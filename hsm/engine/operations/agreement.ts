// Key agreement in the token: ECDH (SEC 1 section 3.3.1) and X25519 (RFC 7748 section 6.1), without a key derivation, which no two modules share.
import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { HsmError, type KeyType, keyUses } from '../../api.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { agreementMechanism, keyRows } from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { CKR_OK, TokenError } from '../../pkcs11/return-values.ts';
import type { Engine } from '../engine.ts';
import { keyAttributes } from '../custody.ts';
import { decryptionFailed } from './cipher.ts';

/**
 * Agrees on a secret with the holder of a raw public point, and returns it: as long as the numbers of the curve. `decryption-failed` for what is not a point
 * of the curve, or one of low order; `refused` for a key of another type.
 */
export function agree(engine: Engine, identity: KeyIdentity, point: Buffer): Buffer {
  const { type } = engine.reference(identity);
  if (keyUses[type].use !== 'agree') throw new HsmError('refused', `keys of type ${type} agree on nothing`);
  if (!isPointOf(type, point)) throw decryptionFailed();
  const one = type === 'x25519' ? canonicalPoint(point) : point;
  return checkedSecret(engine, 'C_DeriveKey', () => deriveSecret(engine, type, engine.key(identity).handle, one));
}

/** A secret that the token gives; where answers are checked, one that it gives twice. `fn`: the function that makes it. */
export function checkedSecret({ checksAnswers }: Engine, fn: string, ask: () => Buffer): Buffer {
  const secret = ask();
  if (!checksAnswers) return secret;
  const again = ask();
  const isSame = secret.equals(again);
  again.fill(0);
  if (isSame) return secret;
  secret.fill(0);
  throw new TokenError(CKR_OK, fn);
}

/** Derives the secret of a loaded key and a point of its curve as an object that can be read, reads it, and destroys it. */
export function deriveSecret(engine: Engine, type: KeyType, key: ObjectHandle, point: Buffer): Buffer {
  const { module, owner } = engine.sessions;
  const { bytes } = keyRows[type];
  const attributes = { ...keyAttributes('secret-256', 'clear'), valueLength: bytes };
  return takeSecret(engine, 'C_DeriveKey', bytes, () => module.deriveKey(owner, agreementMechanism(point), key, attributes));
}

/** Reads a secret of so many octets from the object that a function of the token makes for it, and destroys the object. */
export function takeSecret({ custody }: Engine, fn: string, bytes: number, make: () => ObjectHandle): Buffer {
  const secret = custody.takeValue(make());
  if (secret.length === bytes) return secret;
  secret.fill(0);
  throw new TokenError(CKR_OK, fn);
}

/** The public key at a raw point of the curve of a type. OpenSSL refuses what is not one. */
function publicKeyAt(type: KeyType, point: Buffer): KeyObject {
  const { family, nodeName } = keyRows[type];
  if (family === 'montgomery') return createPublicKey({ key: point, format: 'raw-public', asymmetricKeyType: 'x25519' });
  return createPublicKey({ key: point, format: 'raw-public', asymmetricKeyType: 'ec', namedCurve: nodeName });
}

/** Uncompressed point of an EC key: the octet that says so, and both coordinates. */
const uncompressed = 4;

/**
 * Tells whether octets are a point with which the key may agree. It is public, and modules answer it in three ways, of which one is that the device has
 * failed. A point off the curve, or of low order, would tell the caller about the key.
 */
function isPointOf(type: KeyType, point: Buffer): boolean {
  const { family, bytes } = keyRows[type];
  if (family === 'ec' && (point.length !== 1 + 2 * bytes || point[0] !== uncompressed)) return false;
  if (family === 'montgomery' && point.length !== bytes) return false;
  try {
    const publicKey = publicKeyAt(type, point);
    // X25519 gives zeros for points of low order, which OpenSSL refuses (RFC 7748 section 6.1).
    if (family === 'montgomery') diffieHellman({ privateKey: probe(), publicKey }).fill(0);
    return true;
  } catch {
    return false;
  }
}

/** The prime of Curve25519 (RFC 7748 section 4.1). */
const prime = 2n ** 255n - 19n;

/** The one encoding of a number that a sender may have written in two (RFC 7748 section 5): NSS softoken refuses some of the others. */
function canonicalPoint(point: Buffer): Buffer {
  const digits = Buffer.from(point).reverse().toString('hex');
  const number = (BigInt(`0x${digits}`) % 2n ** 255n) % prime;
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse();
}

let probeKey: KeyObject | undefined;

/** A private key of nobody: whether a point has a low order does not depend on the key. */
function probe(): KeyObject {
  return (probeKey ??= generateKeyPairSync('x25519').privateKey);
}
