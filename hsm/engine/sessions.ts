// The slot of a configured token, the login, and two sessions per thread: one owns objects, the other runs operations and is replaced after errors.
import { createHmac, randomBytes } from 'node:crypto';
import { HsmError, type PinSource, revealSecret, type TokenAddress, type TokenConfig } from '../api.ts';
import * as ck from '../pkcs11/constants.ts';
import type { ObjectHandle, PkcsModule, SessionHandle, SlotHandle, TokenInfo } from '../pkcs11/module.ts';
import { dropNextPin, findNextPin, isOwnPinFile, acceptNextPin } from '../files/pin-files.ts';
import { findAttribute } from './attributes.ts';
import { readPin } from '../files/pin.ts';
import { withStartLock } from '../files/start-lock.ts';
import { CKR_FUNCTION_FAILED, CKR_OK, findReturnValue, TokenError } from '../pkcs11/return-values.ts';

/** Finds the slot whose token has the configured label or serial. `configuration` unless there is exactly one. */
export function findSlot(module: PkcsModule, config: TokenAddress): SlotHandle {
  const wanted = config.serial === undefined ? `label "${config.label}"` : `serial "${config.serial}"`;
  const tokens = module.slots().flatMap((slot) => {
    const info = findTokenInfo(() => module.tokenInfo(slot));
    return info === undefined ? [] : [{ slot, info }];
  });
  const matching = tokens.filter(({ info }) => (config.serial === undefined ? info.label === config.label : info.serial === config.serial));
  // Another one of the same label may have come beside it.
  const known = matching.filter(({ info }) => info.serial === config.knownSerial);
  const [found, ...more] = known.length === 1 ? known : matching;
  if (found === undefined) {
    const by = config.serial === undefined ? 'label' : 'serial';
    const seen = tokens.map(({ info }) => `"${info[by]}"`).join(', ') || 'none';
    throw new HsmError('configuration', `token ${config.name}: no token with ${wanted} in ${module.path} (${by}s seen: ${seen})`);
  }
  if (more.length > 0) {
    throw new HsmError('configuration', `token ${config.name}: several tokens with ${wanted}; select it by serial`);
  }
  return found.slot;
}

/** Returns the answer of `ask`; undefined if the call fails, so that a broken slot does not hide the others. */
export function findTokenInfo(ask: () => TokenInfo): TokenInfo | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/**
 * Reads the token info. SoftHSM empties the token's file for a moment at each login, in whatever process: a token that refuses is
 * asked again under the start lock, during which no process logs in. Not for callers that hold the start lock. Throws TokenError.
 */
export function askTokenInfo({ module, slot }: Pick<Sessions, 'module' | 'slot'>, token: TokenAddress): TokenInfo {
  try {
    return module.tokenInfo(slot);
  } catch (error) {
    if (!(error instanceof TokenError) || findReturnValue(error.rv).remedy !== 'doubt') throw error;
  }
  return withStartLock(token, () => module.tokenInfo(slot));
}

/**
 * Logs in as user. A process that has logged in before cannot do it again after a PIN change, finished or interrupted, because modules may
 * use what they read at their start: `configuration`, and a new process is started. Otherwise as loginWith.
 */
export function login(module: PkcsModule, slot: SlotHandle, session: SessionHandle, config: TokenConfig): void {
  const token = JSON.stringify({ ...config, pin: undefined });
  const before = prints.get(token);
  if (before !== undefined && (before !== printOf(config) || findNextPin(config.pin) !== undefined)) {
    throw new HsmError('configuration', `the PIN of token ${config.name} was changed`);
  }
  loginWith(module, slot, session, config, ck.CKU_USER);
  prints.set(token, printOf(config));
}

/** MAC of the PIN that this process has logged in with, by token. */
const prints = new Map<string, string>();
const printKey = randomBytes(32);

function printOf({ pin }: TokenConfig): string {
  return createHmac('sha256', printKey)
    .update(revealSecret(readPin(pin)))
    .digest('hex');
}

const pinFlags = {
  [ck.CKU_USER]: { who: 'user', locked: ck.CKF_USER_PIN_LOCKED, finalTry: ck.CKF_USER_PIN_FINAL_TRY },
  [ck.CKU_SO]: { who: 'SO', locked: ck.CKF_SO_PIN_LOCKED, finalTry: ck.CKF_SO_PIN_FINAL_TRY },
} as const;

/**
 * Logs in with one try, after checking the token's PIN flags. A locked PIN, or one with one try left, is not tried:
 * `pin-refused`. Two PINs are tried only after an interrupted PIN change; the file then gets the one that the token accepts.
 */
export function loginWith(
  module: PkcsModule,
  slot: SlotHandle,
  session: SessionHandle,
  { name, pin }: TokenConfig,
  user: keyof typeof pinFlags,
): void {
  const { who, locked, finalTry } = pinFlags[user];
  const { flags } = module.tokenInfo(slot);
  // Read twice: one wrong bit must not require a person to correct a valid PIN.
  if (flags !== module.tokenInfo(slot).flags) throw new TokenError(CKR_OK, 'C_GetTokenInfo');
  const refuse = (why: string): never => {
    throw new HsmError('pin-refused', `token ${name}: ${why}; it is not tried again until a person has corrected it`);
  };
  if ((flags & locked) !== 0) refuse(`the ${who} PIN is locked`);
  if ((flags & finalTry) !== 0) refuse(`the ${who} PIN has one try left`);
  const next = findNextPin(pin);
  if (next !== undefined && isOwnPinFile(pin)) {
    const outcome = tryPin(module, session, user, next);
    if (outcome === 'logged in before') return;
    if (outcome === 'accepted') return acceptNextPin(pin);
  }
  const outcome = tryPin(module, session, user, pin);
  if (outcome === 'logged in before') return;
  if (outcome !== 'accepted') refuse(`the token refused the PIN (${outcome})`);
  if (next !== undefined && isOwnPinFile(pin)) dropNextPin(pin);
}

/** `accepted`, `logged in before` (the PIN was not checked), or the name of the token's refusal. Other errors are thrown. */
function tryPin(module: PkcsModule, session: SessionHandle, user: number, source: PinSource): string {
  try {
    module.login(session, user, readPin(source));
    return 'accepted';
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    if (error.rv === CKR_USER_ALREADY_LOGGED_IN) return 'logged in before';
    const row = findReturnValue(error.rv);
    if (row.remedy !== 'latch') throw error;
    return row.name;
  }
}

const CKR_USER_ALREADY_LOGGED_IN = 0x100;

/** The sessions of one thread. Objects end with the session that made them, so the owner session runs no operation that could block it. */
export class Sessions {
  readonly module: PkcsModule;
  readonly slot: SlotHandle;
  readonly #login: (owner: SessionHandle) => void;
  #owner: SessionHandle;
  #work: SessionHandle;
  #workAccess: 'read-only' | 'read-write' = 'read-only';

  /** Opens both sessions; `login` is called when the application is not logged in. */
  constructor(module: PkcsModule, slot: SlotHandle, login: (owner: SessionHandle) => void) {
    this.module = module;
    this.slot = slot;
    this.#login = login;
    this.#owner = this.#openOwner();
    try {
      this.#work = this.#openWork();
    } catch (error) {
      // A thread that cannot begin leaves no session behind.
      this.#closeQuietly(this.#owner);
      throw error;
    }
  }

  /** Creates and holds objects. */
  get owner(): SessionHandle {
    return this.#owner;
  }

  /** Runs operations. */
  get work(): SessionHandle {
    return this.#work;
  }

  /** Replaces the work session: after an unexpected error an operation may still be active in it. */
  renewWork(): void {
    this.#closeQuietly(this.#work);
    this.#work = this.#openWork();
  }

  /** Replaces both sessions and logs in when necessary. All session objects are gone afterwards. */
  reopen(): void {
    this.close();
    this.#owner = this.#openOwner();
    this.#work = this.#openWork();
  }

  /** Destroys a session object. Does nothing if the handle leads to a persistent one, because the token has mixed them up. */
  destroy(object: ObjectHandle): void {
    const isPersistent = this.module.attribute(this.#owner, object, 'token')[0] === 1;
    if (!isPersistent) this.module.destroyObject(this.#owner, object);
  }

  /** Destroys a persistent object permanently, after checking that it has these attributes. */
  destroyPersistent(object: ObjectHandle, is: { readonly id?: Buffer; readonly label?: string }): void {
    const { id, label } = is;
    const hasId = id === undefined || findAttribute(this, object, 'id')?.equals(id) === true;
    const hasLabel = label === undefined || findAttribute(this, object, 'label')?.toString() === label;
    if (!hasId || !hasLabel) throw new TokenError(CKR_OK, 'C_FindObjects');
    this.module.destroyObject(this.#owner, object);
  }

  /** Asks the token whether the application is logged in. */
  loggedIn(): boolean {
    const state = this.module.sessionState(this.#owner);
    return state === ck.CKS_RW_USER_FUNCTIONS || state === ck.CKS_RO_USER_FUNCTIONS;
  }

  /** Ends the login of the whole application. */
  logout(): void {
    try {
      this.module.logout(this.#owner);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
  }

  close(): void {
    this.#closeQuietly(this.#work);
    this.#closeQuietly(this.#owner);
  }

  /** Some tokens (AWS CloudHSM) have no read-only sessions; there the work session could write, which it never does. */
  #openWork(): SessionHandle {
    try {
      return this.module.openSession(this.slot, this.#workAccess);
    } catch (error) {
      if (!(error instanceof TokenError) || error.rv !== CKR_FUNCTION_FAILED || this.#workAccess === 'read-write') throw error;
      const work = this.module.openSession(this.slot, 'read-write');
      this.#workAccess = 'read-write';
      return work;
    }
  }

  #openOwner(): SessionHandle {
    const owner = this.module.openSession(this.slot, 'read-write');
    try {
      if (this.module.sessionState(owner) !== ck.CKS_RW_USER_FUNCTIONS) this.#login(owner);
    } catch (error) {
      this.#closeQuietly(owner);
      throw error;
    }
    return owner;
  }

  #closeQuietly(session: SessionHandle): void {
    try {
      this.module.closeSession(session);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
  }
}
