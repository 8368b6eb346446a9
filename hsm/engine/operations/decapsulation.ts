// ML-KEM in the token (FIPS 203 section 7.3): the secret that a sender has encapsulated for the public key.
import { HsmError, type KeyType, keyUses } from '../../api.ts';
import * as ck from '../../pkcs11/constants.ts';
import type { ObjectHandle } from '../../pkcs11/module.ts';
import { findDecapsulateKey } from '../../pkcs11/newer-functions.ts';
import type { KeyIdentity } from '../../protocol/key-encoding.ts';
import { keyAttributes } from '../custody.ts';
import type { Engine } from '../engine.ts';
import { checkedSecret, takeSecret } from './agreement.ts';
import { decryptionFailed } from './cipher.ts';

/** Octets of every secret of ML-KEM. */
const secretBytes = 32;

/**
 * The secret in a ciphertext, 32 octets. A ciphertext of right length always gives one: what was not made with the public key gives a pseudo-random
 * secret, by the token (implicit rejection). `decryption-failed` for another length, which the token is not asked about: modules answer it in ways of
 * their own, of which one is that the device has failed. `refused` for a key of another type.
 */
export function decapsulate(engine: Engine, identity: KeyIdentity, ciphertext: Buffer): Buffer {
  const { type } = engine.reference(identity);
  const usage = keyUses[type];
  if (usage.use !== 'decapsulate') throw new HsmError('refused', `keys of type ${type} do not decapsulate`);
  if (ciphertext.length !== usage.ciphertextBytes) throw decryptionFailed();
  return checkedSecret(engine, 'C_DecapsulateKey', () => rawDecapsulation(engine, type, engine.key(identity).handle, ciphertext));
}

/** Decapsulates with a loaded key into an object that can be read, reads it, and destroys it. */
export function rawDecapsulation(engine: Engine, type: KeyType, key: ObjectHandle, ciphertext: Buffer): Buffer {
  const { module, owner } = engine.sessions;
  const decapsulateKey = findDecapsulateKey(module.path);
  if (decapsulateKey === undefined) throw new HsmError('unsupported', `this process cannot use keys of type ${type}`);
  const attributes = { ...keyAttributes('secret-256', 'clear'), valueLength: secretBytes };
  return takeSecret(engine, 'C_DecapsulateKey', secretBytes, () => decapsulateKey(owner, ck.CKM_ML_KEM, key, ciphertext, attributes));
}
