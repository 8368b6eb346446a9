// Loads a PKCS#11 module and wraps its calls: every mechanism, template and buffer is checked before it reaches the binding.
import pkcs11js from 'pkcs11js';
import { HsmError, revealSecret, type Secret } from '../api.ts';
import { namesMontgomeryEdwards } from './capabilities.ts';
import * as ck from './constants.ts';
import { padded, unpadded } from './fixed-text.ts';
import { type Mechanism, plainMechanism } from './mechanisms.ts';
import { asTokenError, CKR_OK, kindOf, TokenError } from './return-values.ts';
import { attributeName, template, templateAsking, type AttributeName, type Attributes, type Template } from './template.ts';

declare const kind: unique symbol;

/** Handles are buffers in the binding; brands keep sessions, objects and slots apart. */
export type SlotHandle = Buffer & { readonly [kind]: 'slot' };
export type SessionHandle = Buffer & { readonly [kind]: 'session' };
export type ObjectHandle = Buffer & { readonly [kind]: 'object' };

/** The result of C_GetInfo, without padding; versions as `major.minor`. */
type ModuleInfo = {
  readonly manufacturer: string;
  readonly description: string;
  readonly version: string;
  readonly cryptoki: string;
};

/** The result of C_GetTokenInfo, without padding. */
export type TokenInfo = {
  readonly label: string;
  readonly serial: string;
  readonly manufacturer: string;
  readonly model: string;
  /** versions as `major.minor` */
  readonly hardware: string;
  readonly firmware: string;
  readonly flags: number;
  /** allowed lengths of a PIN; some vendors leave zeros or arbitrary numbers */
  readonly pinBytes: { readonly least: number; readonly most: number };
};

/** Octets of the label of a token. */
export const tokenLabelBytes = 32;

const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191;
/**
 * Receives wrapped keys, whose length is unknown beforehand: enough for an ML-DSA-87 or RSA-4096 key. One for all calls, because they are
 * synchronous.
 */
const longOutput = Buffer.alloc(16_384);

/** Keeps loaded modules referenced: the binding unloads the library when its object is collected. */
const loaded: PkcsModule[] = [];

/** A loaded and initialised module. All calls are synchronous and throw TokenError. */
export class PkcsModule {
  readonly path: string;
  readonly #lib: pkcs11js.PKCS11;
  /** true where keys of Montgomery curves have the names of Edwards ones */
  #montgomeryAsEdwards = false;

  private constructor(path: string, lib: pkcs11js.PKCS11) {
    this.path = path;
    this.#lib = lib;
  }

  /** Loads and initialises a library, which another thread may have initialised before. `configuration` when it does not load. */
  static load(path: string, libraryParameters?: string): PkcsModule {
    const lib = new pkcs11js.PKCS11();
    try {
      lib.load(path);
    } catch (cause) {
      throw new HsmError('configuration', `PKCS#11 module ${path} cannot be loaded: ${firstLine(cause)}`, { cause });
    }
    const module = new PkcsModule(path, lib);
    try {
      module.initialise(libraryParameters);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      const { rv, fn } = error;
      const why = `PKCS#11 module ${path} does not start: ${error.message}; check its environment and library-parameters`;
      throw new HsmError(kindOf(error), why, { rv, fn, cause: error });
    }
    loaded.push(module);
    return module;
  }

  /** C_Initialize with operating-system locking, for calls from several threads. */
  initialise(libraryParameters?: string): void {
    try {
      // The binding drops the last character of the parameter string.
      const parameters = libraryParameters === undefined ? {} : { libraryParameters: `${libraryParameters} ` };
      this.#lib.C_Initialize({ flags: ck.CKF_OS_LOCKING_OK, ...parameters });
    } catch (error) {
      const known = asTokenError('C_Initialize', error);
      if (!(known instanceof TokenError) || known.rv !== CKR_CRYPTOKI_ALREADY_INITIALIZED) throw known;
    }
  }

  /** C_Finalize. Only while no thread has a call in flight: the binding crashes otherwise. */
  finalise(): void {
    this.#call('C_Finalize', () => this.#lib.C_Finalize());
  }

  info(): ModuleInfo {
    const info = this.#call('C_GetInfo', () => this.#lib.C_GetInfo());
    return {
      manufacturer: unpadded(info.manufacturerID),
      description: unpadded(info.libraryDescription),
      version: versionText(info.libraryVersion),
      cryptoki: versionText(info.cryptokiVersion),
    };
  }

  slots(): SlotHandle[] {
    return this.#call('C_GetSlotList', () => this.#lib.C_GetSlotList(true)) as SlotHandle[];
  }

  tokenInfo(slot: SlotHandle): TokenInfo {
    const info = this.#call('C_GetTokenInfo', () => this.#lib.C_GetTokenInfo(slot));
    return {
      label: unpadded(info.label),
      serial: unpadded(info.serialNumber),
      manufacturer: unpadded(info.manufacturerID),
      model: unpadded(info.model),
      hardware: versionText(info.hardwareVersion),
      firmware: versionText(info.firmwareVersion),
      flags: info.flags,
      pinBytes: { least: info.minPinLen, most: info.maxPinLen },
    };
  }

  /** Lists the mechanisms; asks twice, because keys of a type could not be made until the next start if its mechanism were left out. */
  mechanisms(slot: SlotHandle): number[] {
    const [list, again] = [this.#mechanisms(slot), this.#mechanisms(slot)];
    if (list.join() !== again.join()) throw new TokenError(CKR_OK, 'C_GetMechanismList');
    return list;
  }

  /**
   * The largest key that a mechanism takes or makes, in its own unit; asks twice, as for the mechanisms. Undefined if the token does not say.
   */
  largestKey(slot: SlotHandle, mechanism: number): number | undefined {
    const ask = (): number | undefined => {
      try {
        return this.#call('C_GetMechanismInfo', () => this.#lib.C_GetMechanismInfo(slot, mechanism)).maxKeySize;
      } catch (error) {
        if (error instanceof TokenError) return undefined;
        throw error;
      }
    };
    const [largest, again] = [ask(), ask()];
    return largest === again ? largest : undefined;
  }

  #mechanisms(slot: SlotHandle): number[] {
    return this.#call('C_GetMechanismList', () => this.#lib.C_GetMechanismList(slot));
  }

  openSession(slot: SlotHandle, access: 'read-only' | 'read-write'): SessionHandle {
    const flags = ck.CKF_SERIAL_SESSION | (access === 'read-write' ? ck.CKF_RW_SESSION : 0);
    return this.#call('C_OpenSession', () => this.#lib.C_OpenSession(slot, flags)) as SessionHandle;
  }

  closeSession(session: SessionHandle): void {
    this.#call('C_CloseSession', () => this.#lib.C_CloseSession(session));
  }

  sessionState(session: SessionHandle): number {
    return this.#call('C_GetSessionInfo', () => this.#lib.C_GetSessionInfo(session)).state;
  }

  login(session: SessionHandle, userType: number, pin: Secret<string>): void {
    this.#call('C_Login', () => this.#lib.C_Login(session, userType, revealSecret(pin)));
  }

  logout(session: SessionHandle): void {
    this.#call('C_Logout', () => this.#lib.C_Logout(session));
  }

  /** Initialises a token. The module always reads 32 octets of the label. */
  initToken(slot: SlotHandle, soPin: Secret<string>, label: string): void {
    this.#call('C_InitToken', () => this.#lib.C_InitToken(slot, revealSecret(soPin), padded(label, tokenLabelBytes)));
  }

  initPin(session: SessionHandle, pin: Secret<string>): void {
    this.#call('C_InitPIN', () => this.#lib.C_InitPIN(session, revealSecret(pin)));
  }

  /** Changes the PIN of the user who is logged in. */
  setPin(session: SessionHandle, oldPin: Secret<string>, newPin: Secret<string>): void {
    this.#call('C_SetPIN', () => this.#lib.C_SetPIN(session, revealSecret(oldPin), revealSecret(newPin)));
  }

  createObject(session: SessionHandle, attributes: Attributes): ObjectHandle {
    return this.#call('C_CreateObject', () => this.#lib.C_CreateObject(session, this.#template(attributes))) as ObjectHandle;
  }

  copyObject(session: SessionHandle, object: ObjectHandle, attributes: Attributes): ObjectHandle {
    return this.#call('C_CopyObject', () => this.#lib.C_CopyObject(session, object, this.#template(attributes))) as ObjectHandle;
  }

  destroyObject(session: SessionHandle, object: ObjectHandle): void {
    this.#call('C_DestroyObject', () => this.#lib.C_DestroyObject(session, object));
  }

  /** The first 100 objects that match. Slow on tokens with many objects, so not for the hot path. */
  findObjects(session: SessionHandle, attributes: Attributes): ObjectHandle[] {
    this.#call('C_FindObjectsInit', () => this.#lib.C_FindObjectsInit(session, this.#template(attributes)));
    try {
      return this.#call('C_FindObjects', () => this.#lib.C_FindObjects(session, 100)) as ObjectHandle[];
    } finally {
      this.#call('C_FindObjectsFinal', () => this.#lib.C_FindObjectsFinal(session));
    }
  }

  /** As findObjects, but repeats a search without a result: for callers that would make the object again or treat it as lost. */
  findForSure(session: SessionHandle, attributes: Attributes): ObjectHandle[] {
    const found = this.findObjects(session, attributes);
    return found.length > 0 ? found : this.findObjects(session, attributes);
  }

  /** All objects that match, for inspections. */
  allObjects(session: SessionHandle, attributes: Attributes): ObjectHandle[] {
    this.#call('C_FindObjectsInit', () => this.#lib.C_FindObjectsInit(session, this.#template(attributes)));
    try {
      const found: ObjectHandle[] = [];
      for (;;) {
        const more = this.#call('C_FindObjects', () => this.#lib.C_FindObjects(session, 100)) as ObjectHandle[];
        if (more.length === 0) return found;
        found.push(...more);
      }
    } finally {
      this.#call('C_FindObjectsFinal', () => this.#lib.C_FindObjectsFinal(session));
    }
  }

  attribute(session: SessionHandle, object: ObjectHandle, name: AttributeName): Buffer {
    try {
      return this.#attribute(session, object, name);
    } catch (error) {
      throw asTokenError('C_GetAttributeValue', error, `${attributeName(name)}${this.#whose(session, object, name)}`);
    }
  }

  #attribute(session: SessionHandle, object: ObjectHandle, name: AttributeName): Buffer {
    return this.#lib.C_GetAttributeValue(session, object, templateAsking(name))[0]?.value ?? Buffer.alloc(0);
  }

  /** Describes an object by its label, for the message that another attribute of it was not answered. */
  #whose(session: SessionHandle, object: ObjectHandle, asked: AttributeName): string {
    if (asked === 'label') return '';
    try {
      return ` of "${this.#attribute(session, object, 'label').toString()}"`;
    } catch {
      return '';
    }
  }

  generateKey(session: SessionHandle, mechanism: Mechanism, attributes: Attributes): ObjectHandle {
    return this.#call('C_GenerateKey', () => this.#lib.C_GenerateKey(session, mechanism, this.#template(attributes))) as ObjectHandle;
  }

  generateKeyPair(session: SessionHandle, mechanism: Mechanism, publicKey: Attributes, privateKey: Attributes) {
    const pair = this.#call('C_GenerateKeyPair', () =>
      this.#lib.C_GenerateKeyPair(session, this.#pairMechanism(mechanism), this.#template(publicKey), this.#template(privateKey)),
    );
    return { publicKey: pair.publicKey as ObjectHandle, privateKey: pair.privateKey as ObjectHandle };
  }

  wrapKey(session: SessionHandle, mechanism: Mechanism, wrappingKey: ObjectHandle, key: ObjectHandle): Buffer {
    return Buffer.from(this.#call('C_WrapKey', () => this.#lib.C_WrapKey(session, mechanism, wrappingKey, key, longOutput)));
  }

  unwrapKey(
    session: SessionHandle,
    mechanism: Mechanism,
    wrappingKey: ObjectHandle,
    wrapped: Buffer,
    attributes: Attributes,
  ): ObjectHandle {
    return this.#call('C_UnwrapKey', () =>
      this.#lib.C_UnwrapKey(session, mechanism, wrappingKey, wrapped, this.#template(attributes)),
    ) as ObjectHandle;
  }

  /** Derives a key from another one. */
  deriveKey(session: SessionHandle, mechanism: Mechanism, base: ObjectHandle, attributes: Attributes): ObjectHandle {
    return this.#call('C_DeriveKey', () => this.#lib.C_DeriveKey(session, mechanism, base, this.#template(attributes))) as ObjectHandle;
  }

  /** One-shot encryption into `out`, which it fills. */
  encrypt(session: SessionHandle, mechanism: Mechanism, key: ObjectHandle, input: Buffer, out: Buffer): Buffer {
    let fn = 'C_EncryptInit';
    try {
      this.#lib.C_EncryptInit(session, mechanism, key);
      fn = 'C_Encrypt';
      return whole(fn, out.length, this.#lib.C_Encrypt(session, nonNull(input), out));
    } catch (error) {
      throw asTokenError(fn, error);
    }
  }

  /** One-shot decryption into `out`, which must be as long as the input; returns the part of it that was written. */
  decrypt(session: SessionHandle, mechanism: Mechanism, key: ObjectHandle, input: Buffer, out: Buffer): Buffer {
    let fn = 'C_DecryptInit';
    try {
      this.#lib.C_DecryptInit(session, mechanism, key);
      fn = 'C_Decrypt';
      return this.#lib.C_Decrypt(session, nonNull(input), out);
    } catch (error) {
      throw asTokenError(fn, error);
    }
  }

  /** One-shot signature or MAC of `bytes` octets. */
  sign(session: SessionHandle, mechanism: Mechanism, key: ObjectHandle, input: Buffer, bytes: number): Buffer {
    let fn = 'C_SignInit';
    try {
      this.#lib.C_SignInit(session, mechanism, key);
      fn = 'C_Sign';
      return whole(fn, bytes, this.#lib.C_Sign(session, nonNull(input), Buffer.allocUnsafe(bytes)));
    } catch (error) {
      throw asTokenError(fn, error);
    }
  }

  random(session: SessionHandle, bytes: number): Buffer {
    return this.#call('C_GenerateRandom', () => this.#lib.C_GenerateRandom(session, Buffer.alloc(bytes)));
  }

  /** Follows what a token with these mechanisms differs in from PKCS#11 3.2. */
  adaptTo(mechanisms: ReadonlySet<number>): void {
    this.#montgomeryAsEdwards = namesMontgomeryEdwards(mechanisms);
  }

  #template(attributes: Attributes): Template {
    const isRenamed = this.#montgomeryAsEdwards && attributes.keyType === ck.CKK_EC_MONTGOMERY;
    return template(isRenamed ? { ...attributes, keyType: ck.CKK_EC_EDWARDS } : attributes);
  }

  #pairMechanism(mechanism: Mechanism): Mechanism {
    const isRenamed = this.#montgomeryAsEdwards && mechanism.mechanism === ck.CKM_EC_MONTGOMERY_KEY_PAIR_GEN;
    return isRenamed ? plainMechanism(ck.CKM_EC_EDWARDS_KEY_PAIR_GEN) : mechanism;
  }

  #call<T>(fn: string, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw asTokenError(fn, error);
    }
  }
}

/** The name of a mechanism (`CKM_AES_GCM`); unknown ones as hexadecimal. */
export function mechanismName(mechanism: number): string {
  return ck.newerMechanismNames[mechanism] ?? bindingNames.get(mechanism) ?? `0x${mechanism.toString(16)}`;
}

const bindingNames = new Map(
  Object.entries(pkcs11js as unknown as Record<string, unknown>)
    .filter((entry): entry is [string, number] => entry[0].startsWith('CKM_') && typeof entry[1] === 'number')
    .reverse()
    .map(([name, value]) => [value, name]),
);

/** Refuses a short result: the rest of the buffer would be uninitialised memory. */
function whole(fn: string, bytes: number, written: Buffer): Buffer {
  if (written.length !== bytes) throw new TokenError(CKR_OK, fn);
  return written;
}

const empty = Buffer.alloc(1).subarray(0, 0);

/** Gives empty input a non-null pointer: a null one gives CKR_ARGUMENTS_BAD and blocks the session. */
function nonNull(input: Buffer): Buffer {
  return input.length === 0 ? empty : input;
}

function versionText({ major, minor }: pkcs11js.Version): string {
  return `${major}.${minor}`;
}

function firstLine(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
}
