// AES-GCM in the token: encryption, decryption, and the judgement whether a failure is the ciphertext's fault or the token's.
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

/** The reverse; `decryption-failed` for everything that does not open. */
export function decrypt(engine: Engine, key: LoadedKey, sealed: Buffer, associatedData?: Buffer): Buffer {
  requireAes(key);
  if (sealed.length < nonceBytes + tagBytes) throw decryptionFailed();
  const { module, work } = engine.sessions;
  const input = sealed.subarray(nonceBytes);
  const mechanism = gcmMechanism(sealed.subarray(0, nonceBytes), associatedData);
  try {
    // The token wants room for as many octets as it is given, tag included (reference A4).
    return module.decrypt(work, mechanism, key.handle, input, Buffer.allocUnsafe(input.length));
  } catch (error) {
    throw judgeDecryption(engine, error);
  }
}

/** What a failed C_Decrypt is: a failed tag is CKR_GENERAL_ERROR on some tokens, which also means "broken"; a canary tells (design hsm 15). */
export function judgeDecryption(engine: Engine, error: unknown): unknown {
  if (!(error instanceof TokenError) || error.fn !== 'C_Decrypt') return error;
  const row = findReturnValue(error.rv);
  if (row.kind === 'decryption-failed') {
    engine.sessions.renewWork();
    return decryptionFailed();
  }
  if (row.remedy !== 'none' && row.remedy !== 'doubt') return error;
  engine.sessions.renewWork();
  return engine.canaryWorks() ? decryptionFailed() : new ModuleBroken('the token no longer decrypts what it encrypts');
}

/** The one error for everything that does not open. */
export function decryptionFailed(): HsmError {
  return new HsmError('decryption-failed', 'the ciphertext does not open with this key');
}

function requireAes(key: LoadedKey): void {
  if (keyRows[key.type].family !== 'aes') throw new HsmError('refused', `keys of type ${key.type} do not encrypt`);
}
