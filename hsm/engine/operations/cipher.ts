// AES-GCM in the token. Decides whether a failed decryption is a fault of the ciphertext or of the token.
import { createCipheriv, randomBytes } from 'node:crypto';
import { HsmError } from '../../api.ts';
import { ModuleBroken, type Engine, type LoadedKey } from '../engine.ts';
import { gcmMechanism, keyRows, nonceBytes, tagBytes } from '../../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { accepts, CKR_OK, kindOf, remedyOf, TokenError } from '../../pkcs11/return-values.ts';

/** Encrypts; returns nonce(12, or 16 where the token makes it so long) ‖ ciphertext ‖ tag(16). `unsupported` for a given nonce where the token makes them. */
export function encrypt(engine: Engine, key: LoadedKey, plaintext: Buffer, associatedData?: Buffer, nonce?: Buffer): Buffer {
  requireAes(key);
  const sealed = engine.gcm.seal(key.handle, plaintext, associatedData, () => engine.random.nonce(), nonce);
  if (engine.checksAnswers && !opensTo(engine, key, sealed, associatedData, plaintext)) throw new TokenError(CKR_OK, 'C_Encrypt');
  return sealed;
}

/**
 * Reverses encrypt; `decryption-failed` for everything that does not decrypt in two attempts: an octet that changed on its way to the token
 * does not make a ciphertext damaged.
 */
export function decrypt(engine: Engine, key: LoadedKey, sealed: Buffer, associatedData?: Buffer): Buffer {
  requireAes(key);
  if (sealed.length < nonceBytes + tagBytes) throw decryptionFailed();
  const opened = twice(() => judged(engine, () => engine.gcm.open(key.handle, sealed, associatedData)));
  if (engine.checksAnswers && !opensTo(engine, key, sealed, associatedData, opened)) throw new TokenError(CKR_OK, 'C_Decrypt');
  return opened;
}

function opensTo(engine: Engine, key: LoadedKey, sealed: Buffer, associatedData: Buffer | undefined, plaintext: Buffer): boolean {
  try {
    return judged(engine, () => engine.gcm.open(key.handle, sealed, associatedData)).equals(plaintext);
  } catch (error) {
    if (isDecryptionFailed(error)) return false;
    throw error;
  }
}

/** Repeats a decryption that failed as if its input were wrong. */
export function twice(decryption: () => Buffer): Buffer {
  try {
    return decryption();
  } catch (error) {
    if (!isDecryptionFailed(error)) throw error;
    return decryption();
  }
}

/** Runs a decryption; throws its error as judgeDecryption converts it. */
export function judged(engine: Engine, decryption: () => Buffer): Buffer {
  try {
    return decryption();
  } catch (error) {
    throw judgeDecryption(engine, error);
  }
}

/**
 * The error for a failed C_Decrypt. Some tokens report a wrong tag as CKR_GENERAL_ERROR, which also means "broken"; a canary decides (design
 * hsm 15). It also shows that no operation stayed active in the session, which is then kept: to close one, SoftHSM walks all loaded keys.
 */
export function judgeDecryption(engine: Engine, error: unknown): unknown {
  if (!(error instanceof TokenError) || error.fn !== 'C_Decrypt') return error;
  const remedy = remedyOf(error);
  const isClear = kindOf(error) === 'decryption-failed';
  if (!isClear && remedy !== 'none' && remedy !== 'doubt') return error;
  if (engine.canaryWorks()) return decryptionFailed();
  engine.sessions.renewWork();
  return isClear || engine.canaryWorks() ? decryptionFailed() : new ModuleBroken('the token no longer decrypts what it encrypts');
}

/** Error for every input that does not decrypt, always the same so that it reveals nothing. */
export function decryptionFailed(): HsmError {
  return new HsmError('decryption-failed', 'the ciphertext does not open with this key');
}

/** Tells whether it is the error of an input that does not decrypt. */
export function isDecryptionFailed(error: unknown): boolean {
  return error instanceof HsmError && error.kind === 'decryption-failed';
}

/** Tells whether an object is the AES key with these octets: it must seal as node:crypto does, or open what that has sealed where the token makes the IV. */
export function isAesKey({ sessions: { module, work }, gcm }: Engine, handle: ObjectHandle, octets: Buffer): boolean {
  const [nonce, text] = [randomBytes(nonceBytes), randomBytes(32)];
  const cipher = createCipheriv(`aes-${(octets.length * 8) as 128 | 192 | 256}-gcm`, octets, nonce);
  const expected = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  if (gcm.source !== 'own') return accepts(() => gcm.open(handle, Buffer.concat([nonce, expected]), undefined).equals(text));
  return module.encrypt(work, gcmMechanism(nonce, undefined), handle, text, Buffer.alloc(expected.length)).equals(expected);
}

function requireAes(key: LoadedKey): void {
  if (keyRows[key.type].family !== 'aes') throw new HsmError('refused', `keys of type ${key.type} do not encrypt`);
}
