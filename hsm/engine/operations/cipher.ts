// AES-GCM in the token, and the decision whether a failed decryption is a fault of the ciphertext or of the token.
import { HsmError } from '../../api.ts';
import { ModuleBroken, type Engine, type LoadedKey } from '../engine.ts';
import { gcmMechanism, keyRows, nonceBytes, tagBytes } from '../../pkcs11/mechanisms.ts';
import { findReturnValue, TokenError } from '../../pkcs11/return-values.ts';

/** Returns nonce(12) ‖ ciphertext ‖ tag(16). */
export function encrypt(engine: Engine, key: LoadedKey, plaintext: Buffer, associatedData?: Buffer, nonce = engine.nonce()): Buffer {
  requireAes(key);
  const sealed = Buffer.allocUnsafe(nonceBytes + plaintext.length + tagBytes);
  sealed.set(nonce);
  const { module, work } = engine.sessions;
  module.encrypt(work, gcmMechanism(nonce, associatedData), key.handle, plaintext, sealed.subarray(nonceBytes));
  return sealed;
}

/** The reverse of encrypt; `decryption-failed` for everything that does not decrypt. */
export function decrypt(engine: Engine, key: LoadedKey, sealed: Buffer, associatedData?: Buffer): Buffer {
  requireAes(key);
  if (sealed.length < nonceBytes + tagBytes) throw decryptionFailed();
  const { module, work } = engine.sessions;
  const input = sealed.subarray(nonceBytes);
  const mechanism = gcmMechanism(sealed.subarray(0, nonceBytes), associatedData);
  try {
    // The token requires an output buffer as long as its input, tag included (reference A4).
    return module.decrypt(work, mechanism, key.handle, input, Buffer.allocUnsafe(input.length));
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
  const { kind, remedy } = findReturnValue(error.rv);
  const isClear = kind === 'decryption-failed';
  if (!isClear && remedy !== 'none' && remedy !== 'doubt') return error;
  if (engine.canaryWorks()) return decryptionFailed();
  engine.sessions.renewWork();
  return isClear || engine.canaryWorks() ? decryptionFailed() : new ModuleBroken('the token no longer decrypts what it encrypts');
}

/** One error for every input that does not decrypt, so that it reveals nothing. */
export function decryptionFailed(): HsmError {
  return new HsmError('decryption-failed', 'the ciphertext does not open with this key');
}

function requireAes(key: LoadedKey): void {
  if (keyRows[key.type].family !== 'aes') throw new HsmError('refused', `keys of type ${key.type} do not encrypt`);
}
