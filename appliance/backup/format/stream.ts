// STREAM: pieces of one size under an AEAD, with position and end in the nonce. The payload of age, and of backups of format 1.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { BackupError } from './error.ts';

/**
 * Each piece is ciphertext ‖ tag(16); every piece but the last holds 65536 octets. The nonce is number(11, big-endian) ‖ last(1): pieces
 * cannot be left out, moved or cut off. Only an empty stream has an empty piece.
 */
export type StreamKey = {
  readonly cipher: 'chacha20-poly1305' | 'aes-256-gcm';
  readonly key: Uint8Array;
  readonly associatedData?: Uint8Array;
  /** another part of the file has proven that the key is right */
  readonly isProven?: boolean;
};

const pieceBytes = 65_536;
const tagBytes = 16;

/** The length of a sealed stream. */
export function sealedBytes(plainBytes: number): number {
  return plainBytes + tagBytes * Math.max(1, Math.ceil(plainBytes / pieceBytes));
}

/** Seals a stream, piece by piece. */
export async function* sealStream(stream: StreamKey, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let number = 0;
  for await (const { piece, isLast } of inPieces(plain, pieceBytes)) {
    const cipher = withData(createCipheriv(stream.cipher as 'chacha20-poly1305', stream.key, nonceOf(number++, isLast), options), stream);
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Opens a stream. Each piece is authentic when it is returned; that none is missing is known at the end. Throws BackupError. */
export async function* openStream(stream: StreamKey, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let number = 0;
  for await (const { piece, isLast } of inPieces(sealed, pieceBytes + tagBytes)) {
    const end = piece.length - tagBytes;
    if (end < 0 || (end === 0 && number > 0)) throw new BackupError('the backup is cut off');
    const decipher = withData(createDecipheriv(stream.cipher as 'chacha20-poly1305', stream.key, nonceOf(number, isLast), options), stream);
    decipher.setAuthTag(piece.subarray(end));
    let plain: Buffer;
    try {
      plain = Buffer.concat([decipher.update(piece.subarray(0, end)), decipher.final()]);
    } catch {
      throw new BackupError(
        number === 0 && stream.isProven !== true
          ? 'the passphrase is wrong, or the backup is damaged or cut off'
          : 'the backup is damaged or cut off',
      );
    }
    yield plain;
    number++;
  }
}

const options = { authTagLength: tagBytes } as const;

function withData<T extends { setAAD(data: Uint8Array, options: { plaintextLength: number }): unknown }>(
  cipher: T,
  { associatedData }: StreamKey,
): T {
  if (associatedData !== undefined) cipher.setAAD(associatedData, { plaintextLength: 0 });
  return cipher;
}

/** Cuts a stream into pieces of one size; the last may be shorter, and is empty for an empty stream. */
async function* inPieces(stream: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    kept.push(part);
    bytes += part.length;
    // One more octet than a piece shows that the piece is not the last.
    if (bytes <= size) continue;
    let all = Buffer.concat(kept);
    for (; all.length > size; all = all.subarray(size)) yield { piece: all.subarray(0, size), isLast: false };
    kept = [all];
    bytes = all.length;
  }
  yield { piece: Buffer.concat(kept), isLast: true };
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
