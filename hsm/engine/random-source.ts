// Random octets of the token for one thread, and the test that its generator is not stuck.
import { CKR_OK, TokenError } from '../pkcs11/return-values.ts';
import { nonceBytes } from '../pkcs11/mechanisms.ts';
import type { Sessions } from './sessions.ts';

/** Octets per call: some tokens return 64 KiB at most. */
const pieceBytes = 32_768;
/** Size of the pool, filled by one call to the token: nonces for 341 encryptions. */
const poolBytes = 341 * nonceBytes;
/** Block of the continuous test: a working generator gives two equal blocks in a row once in 2^128 calls. */
const blockBytes = 16;

export class RandomSource {
  readonly #sessions: Sessions;
  #latest: Buffer = Buffer.alloc(blockBytes);
  #pool: Buffer = Buffer.alloc(0);
  #used = 0;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  octets(bytes: number): Buffer {
    const pieces: Buffer[] = [];
    for (let left = bytes; left > 0; left -= pieceBytes) pieces.push(this.#draw(Math.min(left, pieceBytes)));
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** Returns twelve octets. */
  nonce(): Buffer {
    if (this.#used >= this.#pool.length) {
      this.#pool = this.octets(poolBytes);
      this.#used = 0;
    }
    return this.#pool.subarray(this.#used, (this.#used += nonceBytes));
  }

  /** Draws new nonces, for example after the sessions were replaced. */
  forgetNonces(): void {
    this.#used = this.#pool.length;
  }

  /**
   * Runs the continuous test of generators (FIPS 140-2 section 4.9.2): refuses a block that repeats the one before, or begins with zeros only.
   * A repeated nonce would break AES-GCM.
   */
  #draw(bytes: number): Buffer {
    const { module, work } = this.#sessions;
    const drawn = module.random(work, bytes);
    if (bytes < blockBytes) return drawn;
    const block = Buffer.from(drawn.subarray(0, blockBytes));
    if (block.equals(this.#latest) || block.every((octet) => octet === 0)) throw new TokenError(CKR_OK, 'C_GenerateRandom');
    this.#latest = block;
    return drawn;
  }
}
