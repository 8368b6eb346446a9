// Changes a PIN in the token (C_SetPIN) and in the file it comes from, where that is ours; every other source is a person's to change.
import { HsmError, type PinSource, type TokenConfig } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { PkcsModule } from '../pkcs11/module.ts';
import { readPin } from '../files/pin.ts';
import { dropNextPin, isOwnPinFile, layNextPin, takeNextPin } from '../files/pin-files.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import { findSlot, login, loginWith } from '../engine/sessions.ts';
import { copyTokenObjects, findTokenDirectory, restoreTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { withStartLock } from '../files/start-lock.ts';

/** Whose PIN; `pin` of the token is where the present one of that user comes from. */
export type PinChange = TokenConfig & { readonly user: 'user' | 'so'; readonly newPin: PinSource };

/** CKR_PIN_INVALID and CKR_PIN_LEN_RANGE: the token takes no such PIN, and none was counted as wrong. */
const unacceptable: ReadonlySet<number> = new Set([0xa1, 0xa2]);

/**
 * Changes the PIN in this process. The present one is tried once: `pin-refused` when the token does not take it, or when it is on its last
 * try. `refused` when it does not take the new one. No start happens meanwhile, so nobody meets the files half-changed.
 */
export function changePinHere(change: PinChange): void {
  withStartLock(change, () => {
    const newPin = readPin(change.newPin);
    restoreTokenObjects(findTokenDirectory(change));
    const module = PkcsModule.load(change.module, change.libraryParameters);
    const slot = findSlot(module, change);
    const session = module.openSession(slot, 'read-write');
    try {
      // Settles a change that was cut before, so that the file holds the PIN that is right.
      if (change.user === 'user') login(module, slot, session, change);
      else loginWith(module, slot, session, change, ck.CKU_SO);
      if (isOwnPinFile(change.pin)) layNextPin(change.pin, newPin);
      setPin(change, module, () => module.setPin(session, readPin(change.pin), newPin));
    } finally {
      module.closeSession(session);
    }
    const directory = findTokenDirectory(change);
    if (directory !== undefined) {
      copyTokenObjects(directory);
      syncTokenDirectory(directory);
    }
    if (isOwnPinFile(change.pin)) takeNextPin(change.pin);
  });
}

/** After a refusal the old PIN is right; after any other error nobody knows, and the next login finds out. */
function setPin({ pin, name }: PinChange, module: PkcsModule, set: () => void): void {
  try {
    set();
  } catch (error) {
    if (!(error instanceof TokenError) || !unacceptable.has(error.rv)) throw error;
    if (isOwnPinFile(pin)) dropNextPin(pin);
    throw new HsmError('refused', `token ${name} does not take the new PIN: its length or its characters do not suit ${module.path}`);
  }
}
