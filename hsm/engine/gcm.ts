// AES-GCM by one thread's sessions: who makes the IV, and where it comes out. Some HSMs make it themselves and refuse any other.
//
// sealed: IV (12 octets, or 16 where a token makes them as long) ‖ ciphertext ‖ tag (16)
import { HsmError, type IvSource } from '../api.ts';
import { gcmMechanism, nonceBytes, tagBytes } from '../pkcs11/mechanisms.ts';
import type { ObjectHandle } from '../pkcs11/module.ts';
import { accepts, CKR_OK, TokenError } from '../pkcs11/return-values.ts';
import type { Sessions } from './sessions.ts';

/** Octets of the IVs that a token with the older firmware of a maker appends (Luna below 7.9.3). */
const longIvBytes = 16;

/** Way of a token to seal. `ivBytes`: of the IVs that it makes. */
type Way = { readonly source: IvSource; readonly ivBytes: number };

const ownWay: Way = { source: 'own', ivBytes: nonceBytes };
/** Tried in this order: each is told from a token that does something else by what comes out. */
const otherWays: readonly Way[] = [
  { source: 'returned', ivBytes: nonceBytes },
  { source: 'appended', ivBytes: nonceBytes },
  { source: 'appended', ivBytes: longIvBytes },
];

/** Seals and opens; knows how its token does it. */
export class Gcm {
  readonly #sessions: Sessions;
  readonly #way: Way;

  /**
   * Asks the token. Where it refuses an own IV under the canary key, `makeKey` makes keys that are tried, and destroyed: one that has sealed under an IV of
   * zeros must never seal again. A token with which nothing works is asked as most are, and its errors say why.
   */
  constructor(sessions: Sessions, canary: ObjectHandle, makeKey: () => ObjectHandle) {
    this.#sessions = sessions;
    this.#way = ownWay;
    if (!this.canaryWorks(canary)) this.#way = otherWays.find((way) => this.#works(way, makeKey)) ?? ownWay;
  }

  /** Tells whether the token seals and opens with this key, which does nothing else: always under the same IV, so always the same text. */
  canaryWorks(canary: ObjectHandle): boolean {
    const text = Buffer.from('canary');
    return accepts(() =>
      this.open(
        canary,
        this.seal(canary, text, undefined, () => Buffer.alloc(nonceBytes, 1)),
        undefined,
      ).equals(text),
    );
  }

  get source(): IvSource {
    return this.#way.source;
  }

  /** Seals under an IV from `draw`, or one that the token makes. `unsupported` for a given one where the token makes them. */
  seal(key: ObjectHandle, plaintext: Buffer, associatedData: Buffer | undefined, draw: () => Buffer, given?: Buffer): Buffer {
    if (this.#way.source === 'own') return this.#seal(ownWay, key, plaintext, associatedData, given ?? draw());
    if (given === undefined) return this.#seal(this.#way, key, plaintext, associatedData);
    throw new HsmError('unsupported', 'the token makes the IVs of AES-GCM itself, and encrypts under no given one');
  }

  /** Opens what was sealed here, or under an IV of the other length in another token. Throws TokenError for what does not open. */
  open(key: ObjectHandle, sealed: Buffer, associatedData: Buffer | undefined): Buffer {
    const { ivBytes } = this.#way;
    const first = sealed.length < ivBytes + tagBytes ? nonceBytes : ivBytes;
    try {
      return this.#open(key, sealed, first, associatedData);
    } catch (error) {
      const second = first === nonceBytes ? longIvBytes : nonceBytes;
      if (!(error instanceof TokenError) || error.fn !== 'C_Decrypt' || sealed.length < second + tagBytes) throw error;
      let opened: Buffer | undefined;
      if (accepts(() => (opened = this.#open(key, sealed, second, associatedData)) !== undefined)) return opened as Buffer;
      throw error;
    }
  }

  #open(key: ObjectHandle, sealed: Buffer, ivBytes: number, associatedData: Buffer | undefined): Buffer {
    const { module, work } = this.#sessions;
    const input = sealed.subarray(ivBytes);
    // The token requires an output buffer as long as its input, tag included.
    const opened = module.decrypt(
      work,
      gcmMechanism(sealed.subarray(0, ivBytes), associatedData),
      key,
      input,
      Buffer.allocUnsafe(input.length),
    );
    if (opened.length !== input.length - tagBytes) throw new TokenError(CKR_OK, 'C_Decrypt');
    return opened;
  }

  #seal({ source, ivBytes }: Way, key: ObjectHandle, plaintext: Buffer, associatedData: Buffer | undefined, own?: Buffer): Buffer {
    const { module, work } = this.#sessions;
    const bytes = plaintext.length + tagBytes;
    const sealed = Buffer.allocUnsafe(ivBytes + bytes);
    if (source === 'appended') {
      const answer = Buffer.allocUnsafe(bytes + ivBytes);
      module.encrypt(work, gcmMechanism(Buffer.alloc(0), associatedData, ivBytes), key, plaintext, answer);
      answer.copy(sealed, 0, bytes);
      answer.copy(sealed, ivBytes, 0, bytes);
      return sealed;
    }
    // The token writes into the buffer of the parameter, which has to be there until it has answered.
    const iv = own ?? Buffer.alloc(ivBytes);
    module.encrypt(work, gcmMechanism(iv, associatedData), key, plaintext, sealed.subarray(ivBytes));
    // Twelve zeros that are still there were taken for an IV, under which a second message would give both away.
    if (own === undefined && iv.every((octet) => octet === 0)) throw new TokenError(CKR_OK, 'C_Encrypt');
    sealed.set(iv);
    return sealed;
  }

  /** Tells whether the token seals so twice, under two IVs that it has made, and opens both. */
  #works(way: Way, makeKey: () => ObjectHandle): boolean {
    const text = Buffer.from('keystored IV');
    let key: ObjectHandle | undefined;
    try {
      const made = (key = makeKey());
      const [first, second] = [this.#seal(way, made, text, undefined), this.#seal(way, made, text, undefined)];
      const opens = [first, second].every((sealed) => this.#open(made, sealed, way.ivBytes, undefined).equals(text));
      return opens && !first.subarray(0, way.ivBytes).equals(second.subarray(0, way.ivBytes));
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#sessions.renewWork();
      return false;
    } finally {
      if (key !== undefined) this.#destroy(key);
    }
  }

  #destroy(key: ObjectHandle): void {
    accepts(() => {
      this.#sessions.destroy(key);
      return true;
    });
  }
}
