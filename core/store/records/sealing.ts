// Seals records: XAES-256-GCM, which is AES-256-GCM under a key derived for each record, bound to the record's key.
import { type Cipheriv, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { revealSecret, type Secret } from '../../base/secret.ts';

/*
 * sealed = 0x01 ‖ nonce(24) ‖ ciphertext ‖ tag(16)
 *
 * XAES-256-GCM (C2SP, c2sp.org/XAES-256-GCM): the first half of the nonce derives the record's key from the data key with two AES blocks
 * (NIST SP 800-108r1 counter mode over CMAC); the second half is the nonce of AES-256-GCM. Random nonces of 192 bits do not collide, so
 * the data key is not limited to 2^32 writes (SP 800-38D section 8.3), which would have to be counted.
 */
const format = 1;
const nonceBytes = 24;
const tagBytes = 16;

/** Nonces drawn at a time: drawing one alone took a tenth of the time of the sealing. */
const noncesDrawn = 170;

/** Seals and opens under one data key of 32 octets. */
export class Sealer {
  /**
   * AES-256 under the data key. ECB carries nothing from one block to the next, so one cipher serves all records: a new one for each took
   * longer than the blocks. Its key schedule is the only copy of the key here.
   */
  #blocks: Cipheriv | undefined;
  /** K1 of CMAC (NIST SP 800-38B section 6.1) */
  readonly #subkey: Buffer;
  /** random octets for nonces; those up to `#nonceEnd` are used */
  #nonces = new Uint8Array(0);
  #nonceEnd = 0;

  constructor(dataKey: Secret<Uint8Array>) {
    const octets = revealSecret(dataKey);
    if (octets.length !== 32) throw new TypeError('the data key of the store must have 32 octets');
    this.#blocks = createCipheriv('aes-256-ecb', octets, null).setAutoPadding(false);
    this.#subkey = doubled(this.#encryptBlocks(Buffer.alloc(16)));
  }

  /** Seals octets, which open only with the same associated data. */
  seal(plaintext: Uint8Array, associatedData: Uint8Array, nonce: Uint8Array = this.#drawNonce()): Uint8Array {
    const cipher = createCipheriv('aes-256-gcm', this.#derive(nonce), nonce.subarray(12)).setAAD(associatedData);
    return Buffer.concat([Buffer.of(format), nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  }

  /** Opens octets; undefined if octets, associated data or key are not the original ones. */
  open(sealed: Uint8Array, associatedData: Uint8Array): Uint8Array | undefined {
    if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== format) return undefined;
    const nonce = sealed.subarray(1, 1 + nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#derive(nonce), nonce.subarray(12), { authTagLength: tagBytes });
    decipher.setAAD(associatedData).setAuthTag(sealed.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  /** Zeroes the key: the end of a cipher frees its context, whose key schedule OpenSSL clears. Sealing and opening throw afterwards. */
  forget(): void {
    this.#blocks?.final();
    this.#blocks = undefined;
    this.#subkey.fill(0);
  }

  /** Draws a nonce, each once: the octets before the mark are never read again. */
  #drawNonce(): Uint8Array {
    if (this.#nonceEnd === this.#nonces.length) {
      this.#nonces = randomBytes(noncesDrawn * nonceBytes);
      this.#nonceEnd = 0;
    }
    return this.#nonces.subarray(this.#nonceEnd, (this.#nonceEnd += nonceBytes));
  }

  #derive(nonce: Uint8Array): Buffer {
    const blocks = Buffer.alloc(32);
    for (const counter of [1, 2]) {
      const start = 16 * (counter - 1);
      blocks.set([0, counter, 0x58, 0], start);
      blocks.set(nonce.subarray(0, 12), start + 4);
      for (let index = 0; index < 16; index += 1) blocks[start + index] = (blocks[start + index] ?? 0) ^ (this.#subkey[index] ?? 0);
    }
    return this.#encryptBlocks(blocks);
  }

  #encryptBlocks(blocks: Uint8Array): Buffer {
    if (this.#blocks === undefined) throw new Error('the data key of the store was forgotten');
    return this.#blocks.update(blocks);
  }
}

/** Multiplication by x in GF(2^128) with the polynomial of CMAC. */
function doubled(block: Uint8Array): Buffer {
  const shifted = Buffer.alloc(16);
  block.forEach((octet, index) => (shifted[index] = (octet << 1) | ((block[index + 1] ?? 0) >> 7)));
  if (((block[0] ?? 0) & 0x80) !== 0) shifted[15] = (shifted[15] ?? 0) ^ 0x87;
  return shifted;
}
