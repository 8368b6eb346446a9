// Changes a PIN in the token (C_SetPIN) and, if the source has `next`, in its file; other sources must be changed by a person.
import { HsmError, type PinSource, type Secret, type TokenConfig } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { PkcsModule, type SessionHandle } from '../pkcs11/module.ts';
import { readPin } from '../files/pin.ts';
import { dropNextPin, isOwnPinFile, writeNextPin, acceptNextPin } from '../files/pin-files.ts';
import { accepts, TokenError } from '../pkcs11/return-values.ts';
import { findSlot, login, loginWith } from '../engine/sessions.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';

/** A change of a PIN. `pin` is the source of the present PIN of `user`. */
export type PinChange = TokenConfig & { readonly user: 'user' | 'so'; readonly newPin: PinSource };

/** CKR_PIN_INVALID and CKR_PIN_LEN_RANGE: the token does not accept such a PIN, and counts no failed try. */
const unacceptable: ReadonlySet<number> = new Set([0xa1, 0xa2]);

/**
 * Changes the PIN in this process. The present one is tried once: `pin-refused` when the token refuses it or has one
 * try left; `refused` when the token does not accept the new PIN. The start lock keeps other processes from reading half-changed files.
 */
export function changePinHere(change: PinChange): void {
  withStartLock(change, () => {
    const newPin = readPin(change.newPin);
    restoreTokenObjects(findTokenDirectory(change));
    const module = PkcsModule.load(change.module, change.libraryParameters);
    const slot = findSlot(module, change);
    const session = module.openSession(slot, 'read-write');
    try {
      // The login completes a change that was interrupted before, so that the file holds the valid PIN.
      if (change.user === 'user') login(module, slot, session, change);
      else loginWith(module, slot, session, change, ck.CKU_SO);
      if (isOwnPinFile(change.pin)) writeNextPin(change.pin, newPin);
      setPin(change, module, session, newPin);
    } finally {
      module.closeSession(session);
    }
    const directory = findTokenDirectory(change);
    if (directory !== undefined) {
      copyTokenObjects(directory);
      syncTokenDirectory(directory);
    }
    if (isOwnPinFile(change.pin)) acceptNextPin(change.pin);
  });
}

/**
 * Sets the PIN. After a refusal a login proves that the old PIN is valid before the new one is forgotten: the token may have accepted it
 * anyway. After any other error either may be valid, and the next login finds out.
 */
function setPin({ pin, name, user }: PinChange, module: PkcsModule, session: SessionHandle, newPin: Secret<string>): void {
  try {
    module.setPin(session, readPin(pin), newPin);
  } catch (error) {
    if (!(error instanceof TokenError) || !unacceptable.has(error.rv)) throw error;
    if (isOwnPinFile(pin) && isValid(module, session, user, pin)) dropNextPin(pin);
    throw new HsmError('refused', `token ${name} does not accept the new PIN: its length or its characters do not suit ${module.path}`);
  }
}

function isValid(module: PkcsModule, session: SessionHandle, user: PinChange['user'], pin: PinSource): boolean {
  return accepts(() => {
    module.logout(session);
    module.login(session, user === 'user' ? ck.CKU_USER : ck.CKU_SO, readPin(pin));
    return true;
  });
}
