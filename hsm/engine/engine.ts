// One thread's view of a token: its sessions, the token's own keys, the loaded keys, and what heals them. Synchronous throughout.
import { existsSync } from 'node:fs';
import { HsmError, type HashName, type KeyType, type PinSource, type TokenAddress } from '../api.ts';
import { findKeyTypes } from '../pkcs11/capabilities.ts';
import * as ck from '../pkcs11/constants.ts';
import { Custody, keyAttributes } from './custody.ts';
import { KeyCache } from './key-cache.ts';
import { decodeKeyReference, type DecodedReference, type KeyIdentity } from '../protocol/key-encoding.ts';
import { readMaterial } from '../pkcs11/key-material.ts';
import { gcmMechanism, nonceBytes, plainMechanism, tagBytes } from '../pkcs11/mechanisms.ts';
import { mechanismName, PkcsModule, type ObjectHandle } from '../pkcs11/module.ts';
import { findReturnValue, TokenError } from '../pkcs11/return-values.ts';
import { findTokenDirectory, hasTokenObjects, listObjectFiles, type ObjectFiles, ownKeysGone } from '../files/softhsm.ts';
import { findSlot, login, Sessions } from './sessions.ts';
import { withStartLock } from '../files/start-lock.ts';

/** A key ready for use. `transient`: a session object that is destroyed when it is evicted. */
export type LoadedKey = { readonly handle: ObjectHandle; readonly type: KeyType; readonly transient: boolean };

/** `pin`: only for the main thread of a host. The other threads never log in, so that a PIN is tried in one place and once. */
export type EngineOptions = { readonly token: TokenAddress; readonly cacheKeys: number; readonly pin?: PinSource };

/** The work needs a login, which only the main thread of the host may make. */
export class LoginNeeded extends Error {}

/** The module does not work any more, and only a new host process helps. */
export class ModuleBroken extends Error {}

/** Some tokens give 64 KiB at most per call. */
const randomPieceBytes = 32_768;
const derivedKeysKept = 1_000;
/** One call to the token fills the pool for 341 encryptions. */
const noncePoolBytes = 341 * nonceBytes;

export class Engine {
  readonly sessions: Sessions;
  readonly custody: Custody;
  readonly mechanisms: ReadonlySet<number>;
  readonly keyTypes: readonly KeyType[];
  /** the token cannot wrap Ed25519 keys; found out at the first one */
  seedWrap = false;
  /** hashes whose HMAC this token does only with keys as long as the hash; found out at the first one */
  readonly paddedHashes = new Set<HashName>();
  /** where a SoftHSM token keeps its files */
  readonly directory: string | undefined;
  readonly #token: TokenAddress;
  readonly #keys: KeyCache<LoadedKey>;
  readonly #derived: KeyCache<LoadedKey>;
  #canary: ObjectHandle;
  #nonces: Buffer = Buffer.alloc(0);
  #noncesUsed = 0;
  /** of a SoftHSM token, when its own keys were last seen */
  #files: ObjectFiles | undefined;
  /** identity of the key used last: the one that is gone when the token says an object is gone */
  #lastUsed = '';

  constructor({ token, cacheKeys, pin }: EngineOptions) {
    this.#token = token;
    const module = PkcsModule.load(token.module, token.libraryParameters);
    const slot = findSlot(module, token);
    this.sessions = new Sessions(module, slot, (owner) => {
      if (pin === undefined) throw new LoginNeeded();
      login(module, slot, owner, { ...token, pin });
    });
    this.directory = findTokenDirectory(token);
    this.mechanisms = new Set(module.mechanisms(slot));
    this.keyTypes = findKeyTypes(this.mechanisms);
    this.custody = new Custody(this.sessions, this.mechanisms, (work) => this.changeToken(work));
    const release = (key: LoadedKey): void => {
      if (key.transient) this.destroyObject(key.handle);
    };
    this.#keys = new KeyCache(cacheKeys, release);
    this.#derived = new KeyCache(Math.min(derivedKeysKept, cacheKeys), release);
    this.#canary = this.#makeCanary();
    this.#noteFiles();
  }

  get loadedKeys(): number {
    return this.#keys.size + this.#derived.size;
  }

  /** The token as it describes itself. */
  describe() {
    const { module, slot } = this.sessions;
    const { label, serial, manufacturer, model } = module.tokenInfo(slot);
    const info = { label, serial, manufacturer, model };
    return { ...info, keyTypes: this.keyTypes, mechanisms: [...this.mechanisms].map(mechanismName) };
  }

  /** A key by its reference, loaded if need be after its binding was checked. */
  key(identity: KeyIdentity): LoadedKey {
    this.#lastUsed = identity;
    return this.#keys.find(identity) ?? this.#load(identity);
  }

  /** The same key in another shape, made by `make` from its wrapped form and kept beside it. */
  keyVariant(identity: KeyIdentity, variant: string, make: (type: KeyType, blob: Buffer) => ObjectHandle): LoadedKey {
    const name = `${variant}|${identity}`;
    this.#lastUsed = name;
    const known = this.#keys.find(name);
    if (known !== undefined) return known;
    const decoded = this.reference(identity);
    const key = { handle: make(decoded.type, this.#wrapped(decoded)), type: decoded.type, transient: true };
    this.#keys.add(name, key);
    return key;
  }

  /** What a key's reference says, after its binding was checked. */
  reference(identity: KeyIdentity): DecodedReference {
    const decoded = decodeKeyReference(Buffer.from(identity, 'latin1'));
    this.custody.checkBinding(decoded);
    return decoded;
  }

  hasDerivedKey(identity: string): boolean {
    return this.#derived.find(identity) !== undefined;
  }

  /** A key derived from another, made by `make` when it is not there. */
  derivedKey(identity: string, make: () => LoadedKey): LoadedKey {
    this.#lastUsed = identity;
    const known = this.#derived.find(identity);
    if (known !== undefined) return known;
    const key = make();
    this.#derived.add(identity, key);
    return key;
  }

  /** Material in clear, for export and backup only; the caller zeroes it. */
  readInClear(identity: KeyIdentity): Buffer {
    const decoded = this.reference(identity);
    const object = this.custody.unwrap(decoded.type, this.#wrapped(decoded), 'clear');
    try {
      return readMaterial(this.sessions.module, this.sessions.owner, object, decoded.type);
    } finally {
      this.destroyObject(object);
    }
  }

  /** Forgets whatever is loaded of a key. */
  forgetKey(identity: KeyIdentity): void {
    this.#keys.removeWhere((known) => known === identity || known.endsWith(`|${identity}`));
    this.#derived.removeWhere((known) => known.startsWith(identity));
  }

  /** Forgets a key, and removes it from the token when the token holds it. */
  destroyKey(identity: KeyIdentity): void {
    this.forgetKey(identity);
    const { type, custody, blob } = this.reference(identity);
    if (custody === 'token') this.removeTokenKey(type, blob);
  }

  /** Removes a persistent key from the token. */
  removeTokenKey(type: KeyType, id: Buffer): void {
    this.changeToken(() => this.sessions.module.destroyObject(this.sessions.owner, this.#findTokenKey(type, id)));
  }

  /** As Custody.findTokenKey; a key is only gone when its token is still in sight. */
  #findTokenKey(type: KeyType, id: Buffer): ObjectHandle {
    try {
      return this.custody.findTokenKey(type, id);
    } catch (error) {
      if (error instanceof HsmError && error.kind === 'key-missing' && !this.custody.seesOwnKeys()) this.#lostSight();
      throw error;
    }
  }

  /**
   * Adds or removes a persistent object, one process at a time. SoftHSM counts changes in a file, and with a change of its own takes
   * over the count without looking: what another process added since its last look it would never see.
   */
  changeToken<T>(work: () => T): T {
    const { module, work: session } = this.sessions;
    return withStartLock(this.#token, () => {
      // Looking for anything makes it read the directory.
      module.findObjects(session, { token: true, id: Buffer.alloc(16) });
      return work();
    });
  }

  /** Destroys an object that may be gone already. */
  destroyObject(object: ObjectHandle): void {
    try {
      this.sessions.module.destroyObject(this.sessions.owner, object);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
  }

  random(bytes: number): Buffer {
    const { module, work } = this.sessions;
    const pieces: Buffer[] = [];
    for (let left = bytes; left > 0; left -= randomPieceBytes) pieces.push(module.random(work, Math.min(left, randomPieceBytes)));
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** Twelve fresh random octets of the token. */
  nonce(): Buffer {
    if (this.#noncesUsed >= this.#nonces.length) {
      this.#nonces = this.random(noncePoolBytes);
      this.#noncesUsed = 0;
    }
    return this.#nonces.subarray(this.#noncesUsed, (this.#noncesUsed += nonceBytes));
  }

  /** Encrypts and decrypts with a throw-away key: whether the token still works at all. */
  canaryWorks(): boolean {
    const { module, work } = this.sessions;
    const text = Buffer.from('canary');
    const mechanism = gcmMechanism(Buffer.alloc(nonceBytes, 1), undefined);
    try {
      const sealed = Buffer.from(module.encrypt(work, mechanism, this.#canary, text, Buffer.alloc(text.length + tagBytes)));
      return module.decrypt(work, mechanism, this.#canary, sealed, Buffer.alloc(sealed.length)).equals(text);
    } catch (error) {
      if (error instanceof TokenError) return false;
      throw error;
    }
  }

  /** Runs work on the token. What can be healed is healed and the work done again, twice at most (reference A6). */
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

  /** Heals what an error says is broken; false when doing the work again would not help. */
  #heal(error: TokenError, attempt: number): boolean {
    const { remedy } = findReturnValue(error.rv);
    if (remedy === 'module') throw new ModuleBroken(error.message);
    if (remedy === 'restore' || (remedy === 'object' && attempt > 1)) this.restore();
    else this.#renewWork();
    if (remedy === 'object' && attempt === 1 && !this.canaryWorks()) this.restore();
    else if (remedy === 'object') this.#forgetLastUsed();
    if (remedy === 'room') this.#makeRoom();
    if (remedy === 'doubt') this.#judge();
    return remedy !== 'none' && remedy !== 'doubt' && remedy !== 'latch' && attempt <= 2;
  }

  /**
   * After an error that may mean anything: returns when the token is well, so that the request was at fault. A process that read SoftHSM's
   * files while another one rewrote them has lost its token for good, and a new one has not; when the files are gone, loaded keys go on.
   */
  #judge(): void {
    if (!this.canaryWorks()) throw new ModuleBroken('the token no longer encrypts and decrypts');
    if (!this.#tokenAnswers()) this.#lostSight();
  }

  /** The files are there and this process does not see them: a new one will. They are gone: loaded keys go on until they are back. */
  #lostSight(): never {
    if (this.directory !== undefined && hasTokenObjects(this.directory)) throw new ModuleBroken('this process has lost sight of its token');
    throw new HsmError('unavailable', 'the token does not answer; keys that are loaded go on working');
  }

  /**
   * Throws when the token's own keys are not in it any more, though this process goes on with its copies: what is wrapped now could not be
   * opened after a restart (`unavailable`). When all files are back a new process sees them again.
   */
  requireKept(): void {
    const { directory } = this;
    if (this.custody.keepsOwnKeys() && (directory === undefined || hasTokenObjects(directory))) return this.#noteFiles();
    if (directory !== undefined && hasTokenObjects(directory) && this.#files?.paths.every((path) => existsSync(path)) === true)
      throw new ModuleBroken('this process has lost sight of its token');
    throw new HsmError('unavailable', ownKeysGone);
  }

  #noteFiles(): void {
    if (this.directory !== undefined) this.#files = listObjectFiles(this.directory, this.#files);
  }

  #tokenAnswers(): boolean {
    try {
      this.sessions.module.tokenInfo(this.sessions.slot);
      return true;
    } catch (error) {
      if (error instanceof TokenError) return false;
      throw error;
    }
  }

  /** New sessions, login if need be, the token's own keys found again; all loaded keys are forgotten. */
  restore(): void {
    try {
      this.#keys.forgetAll();
      this.#derived.forgetAll();
      this.#noncesUsed = this.#nonces.length;
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

  /** Logs in again when something logged this application out. */
  ensureLogin(): void {
    try {
      if (this.sessions.loggedIn()) return;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
    }
    this.restore();
  }

  /** What the simplest call costs, in microseconds: the median of nine. */
  callMicros(): number {
    const times = Array.from({ length: 9 }, () => {
      const start = performance.now();
      this.random(nonceBytes);
      return (performance.now() - start) * 1_000;
    });
    return times.sort((a, b) => a - b)[4] as number;
  }

  close(): void {
    this.sessions.logout();
    this.sessions.close();
  }

  #load(identity: KeyIdentity): LoadedKey {
    const { type, custody, blob } = this.reference(identity);
    const transient = custody === 'wrapped';
    const handle = transient ? this.custody.unwrap(type, blob, 'use') : this.#findTokenKey(type, blob);
    const key = { handle, type, transient };
    this.#keys.add(identity, key);
    return key;
  }

  #wrapped({ type, custody, blob }: DecodedReference): Buffer {
    return custody === 'wrapped' ? blob : this.custody.wrapTokenKey(this.#findTokenKey(type, blob));
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
