// Proves that a loaded key is the expected one: one use of it in the token, checked outside.
import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  publicEncrypt,
  randomBytes,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { givesSecrets, HsmError, type KeyType, keyUses, trySecret } from '../../api.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { keyRows } from '../../pkcs11/mechanisms.ts';
import { CKR_DEVICE_ERROR, remedyOf, TokenError } from '../../pkcs11/return-values.ts';
import type { Engine, LoadedKey } from '../engine.ts';
import { isOpening } from '../custody.ts';
import { agree } from './agreement.ts';
import { decrypt, encrypt, isAesKey } from './cipher.ts';
import { cmacOutside } from './cmac.ts';
import { decapsulate } from './decapsulation.ts';
import { decryptOaep } from './oaep.ts';
import { hmac, sign } from './signing.ts';

/** Known part of a key: its public key (SPKI, DER), or the octets of an AES key or a secret. */
export type Known = { readonly publicKey?: Buffer | undefined; readonly material?: Buffer | undefined };

/**
 * Proves a key by a use. Without material, an AES key opens its own ciphertext, and a secret computes a MAC. If the first use fails, the key
 * is loaded again, and a second use decides: one wrong answer of the token does not condemn a key.
 */
export function isProven(engine: Engine, type: KeyType, identity: KeyIdentity, known: Known): boolean {
  try {
    if (prove(engine, type, identity, known)) return true;
  } catch (error) {
    if (!mayBeInput(error)) throw error;
    engine.sessions.renewWork();
  }
  engine.forgetKey(identity);
  return prove(engine, type, identity, known);
}

/** Tells whether a failed call may be a fault of the key; a canary then decides between key and token. A signature depends on no other input. */
export function mayBeInput(error: unknown): error is TokenError {
  return error instanceof TokenError && (remedyOf(error) === 'doubt' || error.rv === CKR_DEVICE_ERROR);
}

function prove(engine: Engine, type: KeyType, identity: KeyIdentity, { publicKey, material }: Known): boolean {
  const { family } = keyRows[type];
  const data = randomBytes(32);
  if (family === 'secret') {
    const mac = hmac(engine, identity, 'sha256', data);
    return material === undefined || timingSafeEqual(mac, createHmac('sha256', material).update(data).digest());
  }
  if (family === 'cmac') {
    const mac = sign(engine, identity, { scheme: 'cmac' }, data);
    return mac.equals(material === undefined ? sign(engine, identity, { scheme: 'cmac' }, data) : cmacOutside(material, data));
  }
  if (family === 'aes') {
    const key = engine.key(identity);
    return material === undefined ? opensItsOwn(engine, key) : isAesKey(engine, key.handle, material);
  }
  if (publicKey === undefined) return false;
  const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
  if (givesSecrets(keyUses[type].use)) return givesSecretOf(engine, type, identity, key);
  if (family === 'edwards') return verify(null, data, key, sign(engine, identity, { scheme: 'ed25519' }, data));
  if (family === 'ml-dsa') return verify(null, data, key, sign(engine, identity, { scheme: 'ml-dsa' }, data));
  const digest = createHash('sha256').update(data).digest();
  if (family === 'rsa' && isOpening(engine.reference(identity).binding)) return opensFor(engine, identity, key, data);
  if (family === 'rsa') return verify('sha256', data, key, sign(engine, identity, { scheme: 'rsa-pkcs1v15', hash: 'sha256' }, digest));
  return verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, sign(engine, identity, { scheme: 'ecdsa' }, digest));
}

function opensItsOwn(engine: Engine, key: LoadedKey): boolean {
  const data = randomBytes(32);
  return opensTo(data, () => decrypt(engine, key, encrypt(engine, key, data)));
}

/** Tells whether the key in the token opens what its public key has sealed. */
function opensFor(engine: Engine, identity: KeyIdentity, key: KeyObject, data: Buffer): boolean {
  const sealed = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, data);
  return opensTo(data, () => decryptOaep(engine, identity, 'sha256', sealed));
}

/** Tells whether the key in the token gives the secret that its public key does outside. */
function givesSecretOf(engine: Engine, type: KeyType, identity: KeyIdentity, publicKey: KeyObject): boolean {
  const { use, octets, isRight } = trySecret(type, publicKey);
  return isRight((use === 'agree' ? agree : decapsulate)(engine, identity, Buffer.from(octets)));
}

function opensTo(data: Buffer, open: () => Buffer): boolean {
  try {
    return open().equals(data);
  } catch (error) {
    if (error instanceof HsmError && error.kind === 'decryption-failed') return false;
    throw error;
  }
}
