// Initialises a token: C_InitToken on a free slot with the SO PIN, then C_InitPIN with the user PIN.
import { HsmError, type PinSource, type TokenConfig } from './api.ts';
import * as ck from './constants.ts';
import { PkcsModule, type SlotHandle, type TokenInfo } from './module.ts';
import { readPin } from './pin.ts';
import { copyTokenObjects, findTokenDirectory, syncTokenDirectory } from './softhsm.ts';
import { withStartLock } from './start-lock.ts';

/**
 * A token to be made. `pin` is where its user PIN comes from, now and later. Without `soPin` the labelled token is there already, has an
 * empty SO PIN and lacks only its user PIN (NSS softoken).
 */
export type NewToken = TokenConfig & { readonly label: string; readonly soPin?: PinSource };

/** Initialises the token in this process. `configuration` when the label is taken or no slot is free. */
export function initialiseTokenHere(token: NewToken): void {
  withStartLock(token, () => {
    const module = PkcsModule.load(token.module, token.libraryParameters);
    const soPin = token.soPin === undefined ? '' : readPin(token.soPin);
    const userPin = readPin(token.pin);
    const slots = module.slots().map((slot) => ({ slot, info: module.tokenInfo(slot) }));
    if (slots.some(({ info }) => info.label === token.label && (info.flags & ck.CKF_USER_PIN_INITIALIZED) !== 0)) {
      throw new HsmError('configuration', `a token labelled "${token.label}" with a PIN exists in ${module.path}`);
    }
    if (token.soPin !== undefined) module.initToken(findFreeSlot(module, slots), soPin, token.label);
    // A token may move to another slot when it is initialised.
    const slot = module.slots().find((candidate) => module.tokenInfo(candidate).label === token.label);
    if (slot === undefined) throw new HsmError('configuration', `${module.path} has no token labelled "${token.label}"`);
    const session = module.openSession(slot, 'read-write');
    try {
      module.login(session, ck.CKU_SO, soPin);
      module.initPin(session, userPin);
      module.logout(session);
    } finally {
      module.closeSession(session);
    }
    const directory = findTokenDirectory(token);
    if (directory === undefined) return;
    copyTokenObjects(directory);
    syncTokenDirectory(directory);
  });
}

function findFreeSlot(module: PkcsModule, slots: readonly { slot: SlotHandle; info: TokenInfo }[]): SlotHandle {
  const free = slots.find(({ info }) => (info.flags & ck.CKF_TOKEN_INITIALIZED) === 0);
  if (free === undefined) throw new HsmError('configuration', `${module.path} has no slot with an uninitialised token`);
  return free.slot;
}
