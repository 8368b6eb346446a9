// A key as one request uses it: at one instant, each of its versions chosen and each reference made once, however many uses are asked for.
import { type Base64Decoder, decodeBase64 } from '../../../core/base/bytes.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { type Key, type Version, referenceTo } from '../records/keyring.ts';
import type { Purpose } from '../records/records.ts';

/** Made for uses that are planned in one turn: what it has chosen does not follow the store. */
export class UsedKey {
  readonly transit: Transit;
  readonly key: Key;
  /** microseconds */
  readonly now: number;
  /** how base64 of its uses is read */
  readonly decode: Base64Decoder;
  readonly #encrypting = new Map<number | undefined, Version>();
  readonly #decrypting = new Map<number, Version>();
  readonly #references = new Map<Version, Map<Purpose, KeyReference>>();

  constructor(transit: Transit, key: Key, now: number, decode: Base64Decoder = decodeBase64) {
    this.transit = transit;
    this.key = key;
    this.now = now;
    this.decode = decode;
  }

  /** As Keyring.forEncryption. */
  forEncryption(requested: number | undefined): Version {
    return chosen(this.#encrypting, requested, () => this.transit.keyring.forEncryption(this.key, requested, this.now));
  }

  /** As Keyring.forDecryption. */
  forDecryption(number: number): Version {
    return chosen(this.#decrypting, number, () => this.transit.keyring.forDecryption(this.key, number, this.now));
  }

  /** As referenceTo. */
  reference(version: Version, purpose: Purpose): KeyReference {
    const ofVersion = chosen(this.#references, version, () => new Map<Purpose, KeyReference>());
    return chosen(ofVersion, purpose, () => referenceTo(this.key, version, purpose));
  }
}

function chosen<Name, Value>(known: Map<Name, Value>, name: Name, choose: () => Value): Value {
  let value = known.get(name);
  if (value === undefined) known.set(name, (value = choose()));
  return value;
}
