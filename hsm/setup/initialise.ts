// Initialises a token: C_InitToken on a free slot with the SO PIN, then C_InitPIN with the user PIN.
import { HsmError, type PinSource, revealSecret, Secret, type TokenConfig } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import { findTokenInfo } from '../engine/sessions.ts';
import { PkcsModule, type SlotHandle, tokenLabelBytes, type TokenInfo } from '../pkcs11/module.ts';
import { readPin } from '../files/pin.ts';
import { findReturnValue, kindOf, TokenError } from '../pkcs11/return-values.ts';
import { findTokenDirectory, listCopies, removeCopies, restoreTokenObjects, syncTokenDirectory } from '../files/softhsm.ts';
import { withPassingStartLock } from '../files/start-lock.ts';

/**
 * A token to initialise. `pin` is the source of its user PIN, now and later. Without `soPin` the labelled token exists already, has an
 * empty SO PIN and lacks only its user PIN (NSS softoken).
 */
export type NewToken = TokenConfig & { readonly label: string; readonly soPin?: PinSource };

/** Result of an initialisation. `finished`: completed an interrupted one. */
export type Initialised = 'made' | 'finished';

/**
 * Initialises the token in this process. A token that has label and SO PIN but no user PIN, because a run was interrupted, gets its user PIN.
 * `configuration` if the label is invalid or taken, or no slot is free; `refused` if the length of a PIN is not accepted; `pin-refused`.
 */
export function initialiseTokenHere(token: NewToken): Initialised {
  requireLabel(token.label);
  // The owner of this directory is unknown here, so neither lock nor copy stays among its tokens.
  return withPassingStartLock(token, () => {
    const directory = findTokenDirectory(token);
    if (directory === undefined) return makeOrFinish(token, directory).made;
    const copies = listCopies(directory);
    let serial = '';
    try {
      const { made, serial: own } = makeOrFinish(token, directory);
      serial = own;
      return made;
    } finally {
      removeCopies(directory, copies, serial);
      syncTokenDirectory(directory);
    }
  });
}

function makeOrFinish(token: NewToken, directory: string | undefined): { readonly made: Initialised; readonly serial: string } {
  restoreTokenObjects(directory);
  const module = PkcsModule.load(token.module, token.libraryParameters);
  const soPin = token.soPin === undefined ? new Secret('') : readPin(token.soPin);
  const userPin = readPin(token.pin);
  const slots = slotsOf(module);
  const begun = slots.find(({ info }) => info.label === token.label && has(info, ck.CKF_TOKEN_INITIALIZED));
  if (begun !== undefined && has(begun.info, ck.CKF_USER_PIN_INITIALIZED)) {
    const complete = `a token labelled "${token.label}" with a PIN exists in ${module.path}`;
    throw new HsmError('configuration', `${complete}: if an earlier run was interrupted, it is complete: prepare the token`);
  }
  if (begun === undefined && token.soPin !== undefined) {
    const { slot, info } = findFreeSlot(module, slots);
    requireLength(token, 'SO', soPin, info);
    requireLength(token, 'user', userPin, info);
    takingPin(token, 'SO', () => module.initToken(slot, soPin, token.label));
  }
  // A token may move to another slot when it is initialised.
  const found = slotsOf(module).find(({ info }) => info.label === token.label);
  if (found === undefined) throw new HsmError('configuration', `${module.path} has no token labelled "${token.label}"`);
  // Each login rewrites the token's file: a kill meanwhile leaves it empty, and the next run restores it from the copy.
  restoreTokenObjects(directory);
  setUserPin(module, found.slot, token, soPin, userPin);
  return { made: begun === undefined ? 'made' : 'finished', serial: found.info.serial };
}

type Seen = { readonly slot: SlotHandle; readonly info: TokenInfo };

/** Lists the slots; one that cannot be read does not hide the others. */
function slotsOf(module: PkcsModule): readonly Seen[] {
  return module.slots().flatMap((slot) => {
    const info = findTokenInfo(() => module.tokenInfo(slot));
    return info === undefined ? [] : [{ slot, info }];
  });
}

function setUserPin(module: PkcsModule, slot: SlotHandle, token: NewToken, soPin: Secret<string>, userPin: Secret<string>): void {
  const session = module.openSession(slot, 'read-write');
  try {
    takingPin(token, 'SO', () => module.login(session, ck.CKU_SO, soPin));
    takingPin(token, 'user', () => module.initPin(session, userPin));
    module.logout(session);
  } finally {
    module.closeSession(session);
  }
}

/** Checks the label: a longer one would be truncated, and blanks at its end would be taken for padding. */
function requireLabel(label: string): void {
  const bytes = Buffer.byteLength(label);
  if (bytes >= 1 && bytes <= tokenLabelBytes && !/\p{Cc}| $/u.test(label)) return;
  throw new HsmError(
    'configuration',
    `a token cannot be labelled ${JSON.stringify(label)}: a label has 1 to ${tokenLabelBytes} octets (this one ${bytes}), no control characters and no blank at its end`,
  );
}

/**
 * Checks the length of a PIN first, because some modules notice a bad PIN only when the token is half-initialised. Modules without limits
 * are not checked.
 */
function requireLength(token: NewToken, who: string, pin: Secret<string>, { pinBytes: { least, most } }: TokenInfo): void {
  const bytes = Buffer.byteLength(revealSecret(pin));
  if (most < Math.max(least, 1) || (bytes >= least && bytes <= most)) return;
  throw new HsmError('refused', `token ${token.label} does not accept a ${who} PIN of ${bytes} octets: it must have ${least} to ${most}`);
}

/** Names the PIN in the error when the token does not accept it. */
function takingPin(token: NewToken, who: string, give: () => void): void {
  try {
    give();
  } catch (error) {
    if (!(error instanceof TokenError) || findReturnValue(error.rv).remedy !== 'latch') throw error;
    throw new HsmError(kindOf(error), `token ${token.label} does not accept the ${who} PIN: ${error.message}`);
  }
}

function has({ flags }: TokenInfo, flag: number): boolean {
  return (flags & flag) !== 0;
}

function findFreeSlot(module: PkcsModule, slots: readonly Seen[]): Seen {
  const free = slots.find(({ info }) => !has(info, ck.CKF_TOKEN_INITIALIZED));
  if (free === undefined) throw new HsmError('configuration', `${module.path} has no slot with an uninitialised token`);
  return free;
}
