// A key as one request uses it: at one instant, each of its versions chosen and each reference made once, however many uses are asked for.
import { type Base64Decoder, decodeBase64 } from '../../../core/base/bytes.ts';
import type { Owner } from '../../../core/base/async/shares.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { microseconds } from '../instants.ts';
import { type Key, type Version, referenceTo } from '../records/keyring.ts';
import type { Purpose } from '../records/records.ts';

/** Made for uses that are planned in one turn: what it has chosen does not follow the store. */
export class UsedKey {
  readonly transit: Transit;
  readonly key: Key;
  /** microseconds */
  readonly now: number;
  /** owner of the request */
  readonly by: Owner;
  /** decoder for base64 of its uses */
  readonly decode: Base64Decoder;
  readonly #access: EndpointCall['access'];
  readonly #encrypting = new Chosen<number | undefined, Version>();
  readonly #allowed = new Chosen<string, boolean>();
  readonly #decrypting = new Chosen<number, Version>();
  readonly #references = new Map<Purpose, Chosen<Version, KeyReference>>();

  constructor(
    transit: Transit,
    key: Key,
    { now, access, caller }: Pick<EndpointCall, 'now' | 'access' | 'caller'>,
    decode: Base64Decoder = decodeBase64,
  ) {
    this.transit = transit;
    this.key = key;
    this.now = microseconds(now);
    this.#access = access;
    this.by = { tenant: caller.tenantId, origin: caller.origin };
    this.decode = decode;
  }

  /** Finds a version as Keyring.forEncryption. */
  forEncryption(requested: number | undefined): Version {
    return (
      this.#encrypting.find(requested) ??
      this.#encrypting.keep(requested, this.transit.keyring.forEncryption(this.key, requested, this.now))
    );
  }

  /** Finds a version as Keyring.forDecryption. */
  forDecryption(number: number): Version {
    return this.#decrypting.find(number) ?? this.#decrypting.keep(number, this.transit.keyring.forDecryption(this.key, number, this.now));
  }

  /** Number of the version in use: the newest that is active, to which others encrypt. */
  inUse(): number {
    return this.transit.keyring.inUse(this.key, this.now);
  }

  /** The public key of a version, by default of the one in use, whatever its state: a wrong request is refused before that is looked at. */
  publicKeyOf(requested: number | undefined): Uint8Array | undefined {
    return this.transit.keyring.version(this.key, requested ?? this.inUse()).record.publicKey;
  }

  /** Tells whether policies allow the caller another action at the key. */
  allows(action: string): boolean {
    const path = ['v1', 'state', 'keystore', 'transit-keys', this.key.name, action];
    return this.#allowed.find(action) ?? this.#allowed.keep(action, this.#access.allowsAt(path, 'execute'));
  }

  /** Makes a reference as referenceTo. */
  reference(version: Version, purpose: Purpose): KeyReference {
    let references = this.#references.get(purpose);
    if (references === undefined) this.#references.set(purpose, (references = new Chosen()));
    return references.find(version) ?? references.keep(version, referenceTo(this.key, version, purpose));
  }
}

/** Chosen values, by name. Most requests have one name, which needs no map. */
class Chosen<Name, Value> {
  #name: Name | undefined;
  #value: Value | undefined;
  #more: Map<Name, Value> | undefined;

  find(name: Name): Value | undefined {
    return this.#value !== undefined && name === this.#name ? this.#value : this.#more?.get(name);
  }

  keep(name: Name, value: Value): Value {
    if (this.#value === undefined) {
      this.#name = name;
      this.#value = value;
    } else (this.#more ??= new Map()).set(name, value);
    return value;
  }
}
