// Encryption of a backup: scrypt and AES-256-GCM in pieces, so that a backup of any size is written and read as a stream.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { z } from 'zod';
import { decodeBase64, encodeBase64 } from '../../core/base/bytes.ts';
import { revealSecret, type Secret } from '../../core/base/secret.ts';

/**
 * magic LF ‖ header (one line of JSON) LF ‖ pieces, each ciphertext ‖ tag(16). Every piece but the last holds 65536 octets. The nonce
 * is number(11, big-endian) ‖ last(1): pieces cannot be left out, moved or cut off. Both lines are associated data of every piece.
 */
const magic = 'keystored backup 1';
const pieceBytes = 65_536;
const tagBytes = 16;
const longestHeaderBytes = 4_096;

/** Cost of one guess of the passphrase: 128 MiB and about half a second. */
const cost = { n: 1 << 17, r: 8, p: 1 } as const;

const header = z.strictObject({
  kdf: z.literal('scrypt'),
  // Bounded, so that a crafted file cannot use all memory.
  n: z
    .int()
    .min(1 << 14)
    .max(1 << 20)
    .refine((n) => (n & (n - 1)) === 0),
  r: z.literal(8),
  p: z.int().min(1).max(4),
  salt: z.string().max(64),
});

/** Why a backup does not open, as a message for people. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Encrypts a stream under a passphrase. */
export async function* sealBackup(passphrase: Secret<string>, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(16);
  const head = Buffer.from(`${magic}\n${JSON.stringify({ kdf: 'scrypt', ...cost, salt: encodeBase64(salt) })}\n`);
  const key = await deriveKey(passphrase, salt, cost);
  yield head;
  let number = 0;
  for await (const { piece, isLast } of inPieces(plain, pieceBytes)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast)).setAAD(head);
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }
  key.fill(0);
}

/** Decrypts. Throws BackupError for a wrong passphrase, and when any part of the file was changed or is missing. */
export async function* openBackup(passphrase: Secret<string>, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, fields, rest } = await readHead(sealed);
  const key = await deriveKey(passphrase, decodeBase64(fields.salt) ?? new Uint8Array(), fields);
  let number = 0;
  for await (const { piece, isLast } of inPieces(rest, pieceBytes + tagBytes)) {
    if (piece.length < tagBytes) throw new BackupError('the backup is cut off');
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast)).setAAD(head);
    decipher.setAuthTag(piece.subarray(piece.length - tagBytes));
    try {
      yield Buffer.concat([decipher.update(piece.subarray(0, piece.length - tagBytes)), decipher.final()]);
    } catch {
      throw new BackupError(number === 0 ? 'the passphrase is wrong, or the backup is damaged' : 'the backup is damaged or cut off');
    }
    number++;
  }
  key.fill(0);
}

async function readHead(sealed: AsyncIterable<Uint8Array>) {
  const pieces = sealed[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const { value, done } = await pieces.next();
    if (done === true || start.length > longestHeaderBytes) throw new BackupError('this is no keystored backup');
    start = Buffer.concat([start, value]);
    end = start.indexOf('\n', start.indexOf('\n') + 1);
    if (!start.includes('\n')) end = -1;
  }
  const [first = '', second = ''] = start.toString('utf8', 0, end).split('\n');
  if (first !== magic) {
    throw new BackupError(first.startsWith('keystored backup ') ? 'the backup was made by a newer version' : 'this is no keystored backup');
  }
  const fields = header.safeParse(parseJson(second));
  if (!fields.success) throw new BackupError('the header of the backup is damaged');
  async function* rest(): AsyncGenerator<Uint8Array> {
    yield start.subarray(end + 1);
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  }
  return { head: start.subarray(0, end + 1), fields: fields.data, rest: rest() };
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

function deriveKey(passphrase: Secret<string>, salt: Uint8Array, { n, r, p }: { n: number; r: number; p: number }): Promise<Buffer> {
  const text = revealSecret(passphrase).normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, 32, { N: n, r, p, maxmem: 256 * n * r }, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
