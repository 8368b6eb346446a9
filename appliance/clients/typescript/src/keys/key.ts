// One transit key: its actions with octets in and out, for one item, for many, and for more than fit in memory.
import { decodeBase64, encodeBase64 } from '../base64.ts';
import { wrapKey } from '../importing/wrapping.ts';
import { type CallOptions, segment, type Sender } from '../sender.ts';
import type { DataKeyCache, DataKeySource } from '../sealing/data-keys.ts';
import type { Source } from '../sealing/format.ts';
import { signOpenpgp } from '../openpgp/signing.ts';
import { open, rewrapHeader, seal } from '../sealing/sealing.ts';
import * as actions from './actions.ts';
import type { Action, Octets, WireResult } from './actions.ts';
import { Batches, type BatchOptions, type BatchResult, type Items } from './batches.ts';

/** A key to encrypt much data with: keep `ciphertext` with the data, forget `plaintext` after use. */
export type DataKey = { readonly plaintext: Uint8Array; readonly ciphertext: string; readonly keyVersion: number };

/** `dataKeys`: takes data keys from there, and keeps them there. */
type Sealing = { readonly dataKeys?: DataKeyCache | undefined };

type VerifyItems = Iterable<actions.VerifyItem> | AsyncIterable<actions.VerifyItem>;

/**
 * `…Batch` splits items into requests of at most 1,000 items and 3 MiB and joins the results; `…Stream` does the same for any number of
 * items. Both answer a result for each item, in order, and reject only when a whole request is refused. An item is an object, or just its
 * text or octets; TypeError says which item is neither.
 */
export class Key {
  readonly name: string;
  readonly #sender: Sender;

  constructor(name: string, sender: Sender) {
    this.name = name;
    this.#sender = sender;
  }

  encrypt(plaintext: Octets, options: actions.EncryptOptions & CallOptions = {}): Promise<string> {
    return this.#one(actions.encrypt, { plaintext, ...options }, options);
  }

  /** Rejects with Problem `decryption-failed` for every ciphertext that does not open, whatever the reason. */
  decrypt(ciphertext: string, options: actions.DecryptOptions & CallOptions = {}): Promise<Uint8Array> {
    return this.#one(actions.decrypt, { ciphertext, ...options }, options);
  }

  /** The ciphertext under the newest version of the key. The plaintext stays in the appliance. */
  rewrap(ciphertext: string, options: actions.RewrapOptions & CallOptions = {}): Promise<string> {
    return this.#one(actions.rewrap, { ciphertext, ...options }, options);
  }

  sign(data: Octets, options: actions.SignOptions & CallOptions = {}): Promise<string> {
    return this.#one(actions.sign, { data, ...options }, options);
  }

  /** Tells whether the signature fits. Use the options with which it was made. */
  verify(data: Octets, signature: string, options: actions.VerifyOptions & CallOptions = {}): Promise<boolean> {
    return this.#one(actions.verify, { data, signature, ...options }, options);
  }

  hmac(data: Octets, options: actions.HmacOptions & CallOptions = {}): Promise<string> {
    return this.#one(actions.hmac, { data, ...options }, options);
  }

  /** A new data key of 128, 256 (default) or 512 bits, in clear and encrypted by this key. */
  async generateDataKey(
    options: actions.EncryptOptions & CallOptions & { readonly bits?: 128 | 256 | 512 | undefined } = {},
  ): Promise<DataKey> {
    const { bits = 256 } = options;
    const body = { type: 'plaintext', bits, ...actions.wireOptions(options) };
    const path = `${this.#path}/generate-data-key`;
    const answer = await this.#sender.json<WireResult>({ method: 'POST', path, body, isIdempotent: true }, options);
    const { plaintext, ciphertext, 'key-version': keyVersion } = answer;
    return { plaintext: decodeBase64(String(plaintext)), ciphertext: String(ciphertext), keyVersion: Number(keyVersion) };
  }

  /**
   * Encrypts any amount of data in constant memory, under a data key of its own: a header of 1,024 octets, then authentic pieces of 64 KiB.
   * `open` of every client library reads it. `context` and `associatedData` are those of the data key.
   */
  seal(source: Source, options: actions.EncryptOptions & CallOptions & Sealing = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return seal(source, this.#dataKeys(options), options.dataKeys);
  }

  /**
   * Yields the sealed data, piece by piece, each authentic and in its place. That nothing is missing is known when the iteration has ended
   * without an error: until then, keep what came as unfinished. Rejects with SealedDataError for data that was changed, and with Problem
   * `decryption-failed` when this key did not wrap the data key.
   */
  open(source: Source, options: actions.DecryptOptions & CallOptions & Sealing = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return open(source, this.#dataKeys(options), options.dataKeys);
  }

  /**
   * The header of sealed data, its first 1,024 octets, with the data key under the newest version of this key: write it over the old one.
   */
  rewrapSealed(header: Uint8Array, options: actions.RewrapOptions & CallOptions = {}): Promise<Uint8Array> {
    return rewrapHeader(header, (wrappedKey) => this.rewrap(wrappedKey, options));
  }

  /**
   * Signs any amount of data with an OpenPGP key, hashed here in constant memory: the detached signature, in armor. `expiresAfter` is a
   * duration such as `90d`. The token needs `execute` of openpgp-trailer and openpgp-sign-digest, and of certify-subkey for a primary key.
   */
  signOpenpgp(
    source: Source,
    options: CallOptions & { readonly keyVersion?: number | undefined; readonly expiresAfter?: string | undefined } = {},
  ): Promise<string> {
    const { keyVersion, expiresAfter } = options;
    const ask = (action: string, body: object): Promise<WireResult> =>
      this.#sender.json<WireResult>({ method: 'POST', path: `${this.#path}/${action}`, body, isIdempotent: true }, options);
    return signOpenpgp(source, ask, { 'key-version': keyVersion, 'expires-after': expiresAfter });
  }

  /**
   * Imports a key as a new version, wrapped here under a key of the appliance that opens this import alone: nobody on the way sees it. `material` is the
   * PKCS#8 (DER) of a private key, or the octets of a symmetric key; it is not zeroed.
   */
  async importWrapped(material: Uint8Array, options: CallOptions = {}): Promise<void> {
    const asked = { method: 'POST', path: `${this.#path}/import-wrapping-key`, body: {}, isIdempotent: false };
    const made = await this.#sender.json<WireResult>(asked, options);
    const ciphertext = encodeBase64(await wrapKey(String(made['wrapping-key']), material));
    const body = { ciphertext, 'import-id': made['import-id'] };
    await this.#sender.nothing({ method: 'POST', path: `${this.#path}/import`, body, isIdempotent: false }, options);
  }

  encryptBatch(items: Items<actions.EncryptItem>, options: BatchOptions = {}): Promise<BatchResult<string>[]> {
    return this.#many(actions.encrypt).all(items, options);
  }

  decryptBatch(items: Items<actions.DecryptItem>, options: BatchOptions = {}): Promise<BatchResult<Uint8Array>[]> {
    return this.#many(actions.decrypt).all(items, options);
  }

  rewrapBatch(items: Items<actions.RewrapItem>, options: BatchOptions = {}): Promise<BatchResult<string>[]> {
    return this.#many(actions.rewrap).all(items, options);
  }

  signBatch(items: Items<actions.SignItem>, options: BatchOptions = {}): Promise<BatchResult<string>[]> {
    return this.#many(actions.sign).all(items, options);
  }

  verifyBatch(items: VerifyItems, options: BatchOptions = {}): Promise<BatchResult<boolean>[]> {
    return this.#many(actions.verify).all(items, options);
  }

  hmacBatch(items: Items<actions.HmacItem>, options: BatchOptions = {}): Promise<BatchResult<string>[]> {
    return this.#many(actions.hmac).all(items, options);
  }

  encryptStream(items: Items<actions.EncryptItem>, options: BatchOptions = {}): AsyncGenerator<BatchResult<string>, void, undefined> {
    return this.#many(actions.encrypt).each(items, options);
  }

  decryptStream(items: Items<actions.DecryptItem>, options: BatchOptions = {}): AsyncGenerator<BatchResult<Uint8Array>, void, undefined> {
    return this.#many(actions.decrypt).each(items, options);
  }

  rewrapStream(items: Items<actions.RewrapItem>, options: BatchOptions = {}): AsyncGenerator<BatchResult<string>, void, undefined> {
    return this.#many(actions.rewrap).each(items, options);
  }

  signStream(items: Items<actions.SignItem>, options: BatchOptions = {}): AsyncGenerator<BatchResult<string>, void, undefined> {
    return this.#many(actions.sign).each(items, options);
  }

  verifyStream(items: VerifyItems, options: BatchOptions = {}): AsyncGenerator<BatchResult<boolean>, void, undefined> {
    return this.#many(actions.verify).each(items, options);
  }

  hmacStream(items: Items<actions.HmacItem>, options: BatchOptions = {}): AsyncGenerator<BatchResult<string>, void, undefined> {
    return this.#many(actions.hmac).each(items, options);
  }

  #dataKeys(options: actions.EncryptOptions & CallOptions): DataKeySource {
    const { context, associatedData, keyVersion, signal, timeoutMs } = options;
    const bound = { context, associatedData };
    return {
      id: JSON.stringify([this.name, actions.wireOptions({ ...bound, keyVersion })]),
      owner: this.#sender,
      make: () => this.generateDataKey({ ...bound, keyVersion, signal, timeoutMs }),
      open: (ciphertext) => this.decrypt(ciphertext, { ...bound, signal, timeoutMs }),
    };
  }

  get #path(): string {
    return `/v1/state/keystore/transit-keys/${segment(this.name)}`;
  }

  async #one<Item, Result>(action: Action<Item, Result>, item: Item, options: CallOptions): Promise<Result> {
    const request = { method: 'POST', path: `${this.#path}/${action.path}`, body: action.toWire(item), isIdempotent: true };
    return action.read(await this.#sender.json<WireResult>(request, options));
  }

  #many<Item extends { readonly reference?: string | undefined }, Result>(action: Action<Item, Result>): Batches<Item, Result> {
    return new Batches(this.#sender, `${this.#path}/${action.path}`, action);
  }
}
