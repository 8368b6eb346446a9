// Keys of one direction of TLS 1.3 (RFC 8446 5.2, 5.3, 7.3), for opening the records of a handshake beside OpenSSL.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { record } from './messages.ts';

/** Octets of the tag of an AEAD, in every suite of TLS 1.3 that is offered. */
const tagOctets = 16;

type Cipher = 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305';

/** Opens the records of one direction, in their order, and closes its first one. */
export class RecordKeys {
  readonly #secret: Buffer;
  readonly #iv: Buffer;
  #sequence = 0n;
  /** known once a record was opened: the length of a secret fits two ciphers */
  cipher: Cipher | undefined;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#iv = this.#derive('iv', 12);
  }

  /** Opens a record: returns its handshake messages or parts of them; undefined unless the holder of the secret made it. */
  open(fragment: Buffer, header: Buffer): Buffer | undefined {
    const ciphers: readonly Cipher[] = this.#secret.length === 48 ? ['aes-256-gcm'] : ['aes-128-gcm', 'chacha20-poly1305'];
    for (const cipher of this.cipher === undefined ? ciphers : [this.cipher]) {
      const opened = this.#tryToOpen(fragment, header, cipher);
      if (opened === undefined) continue;
      this.#sequence++;
      this.cipher = cipher;
      // The type follows the content, then zeros, if any.
      const end = opened.findLastIndex((octet) => octet !== 0);
      return opened[end] === record.handshake ? opened.subarray(0, end) : Buffer.alloc(0);
    }
    return undefined;
  }

  /** Makes a record with an alert, the first of this direction. */
  close(content: Buffer, cipher: Cipher = 'aes-256-gcm'): Buffer {
    const header = Buffer.from([record.encrypted, 3, 3, 0, content.length + 1 + tagOctets]);
    const sealing = createCipheriv(cipher as 'aes-128-gcm', this.#keyFor(cipher), this.#nonce(), { authTagLength: tagOctets });
    sealing.setAAD(header);
    return Buffer.concat([
      header,
      sealing.update(Buffer.concat([content, Buffer.from([record.alert])])),
      sealing.final(),
      sealing.getAuthTag(),
    ]);
  }

  #tryToOpen(fragment: Buffer, header: Buffer, cipher: Cipher): Buffer | undefined {
    if (fragment.length <= tagOctets) return undefined;
    const opening = createDecipheriv(cipher as 'aes-128-gcm', this.#keyFor(cipher), this.#nonce(), { authTagLength: tagOctets });
    opening.setAAD(header).setAuthTag(fragment.subarray(-tagOctets));
    try {
      return Buffer.concat([opening.update(fragment.subarray(0, -tagOctets)), opening.final()]);
    } catch {
      return undefined;
    }
  }

  #keyFor(cipher: Cipher): Buffer {
    return this.#derive('key', cipher === 'aes-128-gcm' ? 16 : 32);
  }

  #nonce(): Buffer {
    const nonce = Buffer.from(this.#iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.#sequence, 4);
    return nonce;
  }

  /** HKDF-Expand-Label without context, for at most one block. */
  #derive(label: string, octets: number): Buffer {
    const name = Buffer.from(`tls13 ${label}`, 'latin1');
    const info = Buffer.concat([Buffer.from([0, octets, name.length]), name, Buffer.from([0, 1])]);
    const hash = this.#secret.length === 48 ? 'sha384' : 'sha256';
    return createHmac(hash, this.#secret).update(info).digest().subarray(0, octets);
  }
}
