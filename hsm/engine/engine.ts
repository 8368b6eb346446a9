// A token in one thread: its sessions, the token's own keys, the loaded keys, and their recovery after errors. All calls are synchronous.
import { HsmError, type HashName, type KeyType, type PinSource, type SignatureVariant, type TokenAddress } from '../api.ts';
import { keyTypesOf } from '../pkcs11/token-key-types.ts';
import * as ck from '../pkcs11/constants.ts';
import { CheckedReferences } from './checked-references.ts';
import { Custody, handlingFor, isOpening, keyAttributes, tokenKeyLabel } from './custody.ts';
import { Gcm } from './gcm.ts';
import { KeyCache } from './key-cache.ts';
import { RandomSource } from './random-source.ts';
import { decodeKeyReference, type DecodedReference, type KeyIdentity } from '../protocol/key-encoding.ts';
import { readMaterial } from '../pkcs11/key-material.ts';
import { plainMechanism } from '../pkcs11/mechanisms.ts';
import { PkcsModule, type ObjectHandle, type TokenInfo } from '../pkcs11/module.ts';
import { CKR_OK, remedyOf, TokenError } from '../pkcs11/return-values.ts';
import { damageOfFiles, findTokenDirectory, listObjectFiles, type ObjectFiles, ownKeysGone, tokenAway } from '../files/softhsm.ts';
import { askTokenInfo, findSlot, findTokenInfo, login, Sessions } from './sessions.ts';
import { withStartLock } from '../files/start-lock.ts';

/** A loaded key. `transient`: a session object that is destroyed when it is evicted; `opens`: it was made to decrypt. */
export type LoadedKey = { readonly handle: ObjectHandle; readonly type: KeyType; readonly transient: boolean; readonly opens?: true };

/** `pin`: only for the main thread of a host. The other threads never log in, so that a PIN is tried in one place and once. */
export type EngineOptions = {
  readonly token: TokenAddress;
  readonly cacheKeys: number;
  readonly pin?: PinSource;
  /** as HsmConfig.checkAnswers */
  readonly checkAnswers?: boolean | undefined;
  /** those that the main thread has proven, for the other threads */
  readonly signatureVariants?: readonly SignatureVariant[];
};

/** Thrown when a call needs a login, which only the main thread of the host performs. */
export class LoginNeeded extends Error {}

/** Thrown when the module no longer works and only a new host process helps. */
export class ModuleBroken extends Error {}

const derivedKeysKept = 1_000;
/** Number of remembered bindings per loaded key: 640 octets beside its 9 KiB. */
const checkedForEach = 8;

export class Engine {
  readonly sessions: Sessions;
  readonly custody: Custody;
  readonly random: RandomSource;
  readonly gcm: Gcm;
  readonly mechanisms: ReadonlySet<number>;
  readonly keyTypes: readonly KeyType[];
  /** types of keys that the token cannot wrap and that are kept as their seed; detected at the first one */
  readonly keptAsSeeds = new Set<KeyType>();
  /** hashes whose HMAC this token computes only with keys as long as the hash; detected at the first one */
  readonly paddedHashes = new Set<HashName>();
  /** directory of the files of a SoftHSM token */
  readonly directory: string | undefined;
  /** if true, encrypts, decrypts and computes MACs twice, and answers only if both results agree */
  readonly checksAnswers: boolean;
  /** ways of signing that were proven */
  signatureVariants: ReadonlySet<SignatureVariant>;
  readonly #token: TokenAddress;
  readonly #keys: KeyCache<LoadedKey>;
  readonly #derived: KeyCache<LoadedKey>;
  readonly #checked: CheckedReferences;
  /** names of the other forms of keys: a handful */
  readonly #variants = new Set<string>();
  #canary: ObjectHandle;
  /** handles of loaded keys that are session objects */
  readonly #handles = new Set<string>();
  /** object files of a SoftHSM token when its own keys were last seen */
  #files: ObjectFiles | undefined;
  /** identity of the key used last: the one to reload when the token reports an invalid object */
  #lastUsed = '';

  constructor({ token, cacheKeys, pin, checkAnswers, signatureVariants }: EngineOptions) {
    this.signatureVariants = new Set(signatureVariants);
    this.checksAnswers = checkAnswers === true;
    this.#token = token;
    const module = PkcsModule.load(token.module, token.libraryParameters);
    const slot = findSlot(module, token);
    this.sessions = new Sessions(module, slot, (owner) => {
      if (pin === undefined) throw new LoginNeeded();
      login(module, slot, owner, { ...token, pin });
    });
    this.random = new RandomSource(this.sessions);
    this.directory = findTokenDirectory(token);
    this.mechanisms = new Set(module.mechanisms(slot));
    module.adaptTo(this.mechanisms);
    this.keyTypes = keyTypesOf(module, slot, this.mechanisms);
    this.custody = new Custody(this.sessions, this.mechanisms, (work) => this.changeToken(work));
    const release = (key: LoadedKey): void => {
      this.#handles.delete(key.handle.toString('latin1'));
      if (key.transient) this.destroyObject(key.handle);
    };
    this.#keys = new KeyCache(cacheKeys, release);
    this.#checked = new CheckedReferences(checkedForEach * cacheKeys);
    this.#derived = new KeyCache(Math.min(derivedKeysKept, cacheKeys), release);
    this.#canary = this.#makeCanary();
    this.gcm = new Gcm(this.sessions, this.#canary, () => this.#makeCanary());
    if (this.directory !== undefined) this.#files = listObjectFiles(this.directory);
  }

  get loadedKeys(): number {
    return this.#keys.size + this.#derived.size;
  }

  /** Returns a key by its reference. Loads it if necessary, after checking its binding. */
  key(identity: KeyIdentity): LoadedKey {
    this.#lastUsed = identity;
    return this.#keys.find(identity) ?? this.#load(identity);
  }

  /** Returns another form of a key, made by `make` from its wrapped blob and cached separately. */
  keyVariant(identity: KeyIdentity, variant: string, make: (type: KeyType, blob: Buffer) => ObjectHandle): LoadedKey {
    const name = nameOf(variant, identity);
    this.#lastUsed = name;
    const known = this.#keys.find(name);
    if (known !== undefined) return known;
    const decoded = this.reference(identity);
    const key = this.#taken({ handle: make(decoded.type, this.#wrapped(decoded)), type: decoded.type, transient: true });
    this.#variants.add(variant);
    this.#keys.add(name, key);
    return key;
  }

  /** Decodes a key's reference and checks its binding. */
  reference(identity: KeyIdentity): DecodedReference {
    const octets = Buffer.from(identity, 'latin1');
    const decoded = decodeKeyReference(octets);
    this.#checked.check(octets, () => this.custody.checkBinding(decoded));
    return decoded;
  }

  hasDerivedKey(identity: string): boolean {
    return this.#derived.find(identity) !== undefined;
  }

  /** Returns a key derived from another one, made by `make` unless it is cached. */
  derivedKey(identity: string, make: () => LoadedKey): LoadedKey {
    this.#lastUsed = identity;
    const known = this.#derived.find(identity);
    if (known !== undefined) return known;
    const key = this.#taken(make());
    this.#derived.add(identity, key);
    return key;
  }

  /** Reads key material in clear, as the token returns it. The caller zeroes it. */
  readInClear(identity: KeyIdentity): Buffer {
    const decoded = this.reference(identity);
    const object = this.custody.unwrap(decoded.type, this.#wrapped(decoded), 'clear');
    try {
      return readMaterial(this.sessions.module, this.sessions.owner, object, decoded.type);
    } finally {
      this.destroyObject(object);
    }
  }

  /** Drops all loaded objects of a key. */
  forgetKey(identity: KeyIdentity): void {
    this.#keys.remove(identity);
    for (const variant of this.#variants) this.#keys.remove(nameOf(variant, identity));
    this.#derived.removeWhere((known) => known.startsWith(identity));
  }

  /** Drops a key's objects and, in token custody, removes the key from the token. */
  destroyKey(identity: KeyIdentity): void {
    this.forgetKey(identity);
    const { type, custody, binding, blob } = this.reference(identity);
    if (custody === 'token') this.removeTokenKey(type, blob, tokenKeyLabel(binding));
  }

  /** Removes a persistent key from the token; if several have its CKA_ID, those with its label. */
  removeTokenKey(type: KeyType, id: Buffer, label: string): void {
    const { module, owner } = this.sessions;
    this.changeToken(() => {
      const found = this.#findTokenKeys(type, id);
      const isOurs = (object: ObjectHandle): boolean => found.length === 1 || module.attribute(owner, object, 'label').toString() === label;
      for (const object of found.filter(isOurs)) this.sessions.destroyPersistent(object, { id });
    });
  }

  #findTokenKey(type: KeyType, id: Buffer): ObjectHandle {
    const [object, ...more] = this.#findTokenKeys(type, id);
    if (more.length > 0) throw new HsmError('key-not-usable', 'the token has several keys with this id');
    return object as ObjectHandle;
  }

  /** As Custody.findTokenKeys. A key counts as missing only if the token's own keys are still found. */
  #findTokenKeys(type: KeyType, id: Buffer): ObjectHandle[] {
    try {
      return this.custody.findTokenKeys(type, id);
    } catch (error) {
      if (error instanceof HsmError && error.kind === 'key-missing' && !this.custody.seesOwnKeys()) this.#lostSight();
      throw error;
    }
  }

  /**
   * Adds or removes a persistent object, one process at a time. SoftHSM counts changes in a file. A process that makes a change adopts
   * the count without reading the directory, and would never see objects that another process added before.
   */
  changeToken<T>(work: () => T): T {
    const { module, work: session } = this.sessions;
    return withStartLock(this.#token, () => {
      // Any search makes SoftHSM read the directory.
      module.findObjects(session, { token: true, id: Buffer.alloc(16) });
      return work();
    });
  }

  /** Destroys a session object; ignores errors, because it may be gone. */
  destroyObject(object: ObjectHandle): void {
    try {
      this.sessions.destroy(object);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
  }

  /** Tells whether the token still works: encrypts and decrypts with a temporary key. */
  canaryWorks(): boolean {
    return this.gcm.canaryWorks(this.#canary);
  }

  /** Runs work on the token. Repeats it after an error with a remedy, twice at most. */
  run<T>(work: () => T): T {
    for (let attempt = 1; ; attempt++) {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        if (!this.#heal(error, attempt)) throw error;
      }
    }
  }

  /** Applies the remedy of an error; false if repeating the work would not help. */
  #heal(error: TokenError, attempt: number): boolean {
    const remedy = remedyOf(error);
    if (remedy === 'module') throw new ModuleBroken(error.message);
    if (remedy === 'restore' || (remedy === 'object' && attempt > 1)) this.restore();
    else this.#renewWork();
    if (remedy === 'object' && attempt === 1 && !this.canaryWorks()) this.restore();
    else if (remedy === 'object') this.#forgetLastUsed();
    // The key's handle may lead to another object: the next use loads the key again.
    if (remedy === 'none') this.#forgetLastUsed();
    if (remedy === 'room') this.#makeRoom();
    if (remedy === 'doubt') this.#examine();
    return remedy !== 'none' && remedy !== 'doubt' && remedy !== 'latch' && attempt <= 2;
  }

  /**
   * Decides after an ambiguous error: returns if the token works, because then the request was wrong. A process that read SoftHSM's files while
   * another one rewrote them has lost its token permanently, a new process has not. When the files are gone, loaded keys still work.
   */
  #examine(): void {
    if (!this.canaryWorks()) throw new ModuleBroken('the token no longer encrypts and decrypts');
    if (!this.#tokenAnswers()) this.#lostSight();
  }

  /** If the files exist, only a new process sees them again. If they are gone, this process continues with the loaded keys. */
  #lostSight(): never {
    if (this.directory !== undefined && damageOfFiles(this.directory) === undefined)
      throw new ModuleBroken('this process no longer finds its token');
    throw new HsmError('unavailable', 'the token does not answer; loaded keys continue to work');
  }

  /**
   * Throws `unavailable` when the token's own keys are gone or out of reach. This process still has session copies of them, but a key wrapped
   * now could not be unwrapped after a restart. When all files are back, only a new process sees them.
   */
  requireKept(): void {
    const { directory } = this;
    const isKept = this.custody.keepsOwnKeys();
    if (directory === undefined) {
      if (isKept) return;
      throw new HsmError('unavailable', this.#tokenAnswers() ? ownKeysGone : tokenAway);
    }
    const damage = damageOfFiles(directory, isKept ? [] : this.#files?.paths);
    if (damage !== undefined) throw new HsmError('unavailable', damage);
    if (!isKept) throw new ModuleBroken('this process no longer finds its token');
    this.#files = listObjectFiles(directory, this.#files);
  }

  /** As requireKept, for keys made under the own keys: the handles of the own keys must still lead to them. */
  requireMadeWell(): void {
    this.requireKept();
    if (!this.custody.usesOwnKeys()) throw new ModuleBroken("a handle of the token's own keys leads to another key");
  }

  /** As askTokenInfo. */
  tokenInfo(): TokenInfo {
    return askTokenInfo(this.sessions, this.#token);
  }

  #tokenAnswers(): boolean {
    return findTokenInfo(() => this.tokenInfo()) !== undefined;
  }

  /** Opens new sessions, logs in when necessary, and finds the token's own keys again. Drops all loaded keys. */
  restore(): void {
    try {
      this.#keys.forgetAll();
      this.#derived.forgetAll();
      this.#checked.forgetAll();
      this.#handles.clear();
      this.random.forgetNonces();
      withStartLock(this.#token, () => {
        this.sessions.reopen();
        this.custody.reload();
      });
      this.#canary = this.#makeCanary();
    } catch (error) {
      if (error instanceof TokenError || (error instanceof HsmError && error.kind === 'configuration')) {
        throw new ModuleBroken(error.message);
      }
      throw error;
    }
  }

  /** Logs in again if the application was logged out. */
  ensureLogin(): void {
    try {
      if (this.sessions.loggedIn()) return;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
    this.restore();
  }

  close(): void {
    this.sessions.logout();
    this.sessions.close();
  }

  #load(identity: KeyIdentity): LoadedKey {
    return this.loadBound(identity, this.reference(identity));
  }

  /** Loads a key whose binding was checked, or made, by this thread. */
  loadBound(identity: KeyIdentity, { type, custody, blob, binding }: Omit<DecodedReference, 'mac'>): LoadedKey {
    const transient = custody === 'wrapped';
    const handle = transient ? this.custody.unwrap(type, blob, handlingFor(binding)) : this.#findTokenKey(type, blob);
    const key = this.#taken({ handle, type, transient, ...(isOpening(binding) ? { opens: true } : {}) });
    this.#keys.add(identity, key);
    return key;
  }

  /**
   * Refuses a session object with the handle of another loaded key: one of the two would be used in place of the other. It is unknown which
   * of them the handle leads to, so all keys are loaded again.
   */
  #taken(key: LoadedKey): LoadedKey {
    const handle = key.handle.toString('latin1');
    if (key.transient && this.#handles.has(handle)) {
      this.restore();
      throw new TokenError(CKR_OK, 'C_UnwrapKey');
    }
    if (key.transient) this.#handles.add(handle);
    return key;
  }

  #wrapped({ type, custody, blob }: DecodedReference): Buffer {
    return custody === 'wrapped' ? blob : this.custody.wrapTokenKey(type, this.#findTokenKey(type, blob));
  }

  #forgetLastUsed(): void {
    this.#keys.remove(this.#lastUsed);
    this.#derived.remove(this.#lastUsed);
  }

  #makeRoom(): void {
    this.#keys.evictHalf();
    this.#derived.evictHalf();
  }

  #renewWork(): void {
    try {
      this.sessions.renewWork();
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.restore();
    }
  }

  #makeCanary(): ObjectHandle {
    const { module, owner } = this.sessions;
    const { class: _, ...attributes } = keyAttributes('aes-256', 'use');
    return module.generateKey(owner, plainMechanism(ck.CKM_AES_KEY_GEN), { ...attributes, valueLength: 32 });
  }
}

/** The name of another form of a key among the loaded keys. */
function nameOf(variant: string, identity: KeyIdentity): string {
  return `${variant}|${identity}`;
}
