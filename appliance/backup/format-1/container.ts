// Opens the container of format 1, which earlier versions wrote: scrypt and AES-256-GCM in pieces. Restoring its backups stays supported.
import { scrypt } from 'node:crypto';
import { z } from 'zod';
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { revealSecret, type Secret } from '../../../core/base/secret.ts';
import { BackupError } from '../format/error.ts';
import { readLines } from '../format/source.ts';
import { openStream } from '../format/stream.ts';
import { parseIfJson } from '../../../core/wire/json.ts';

/** magic LF ‖ header (one line of JSON) LF ‖ pieces (format/stream.ts). Both lines are associated data of every piece. */
export const magicOfFormat1 = 'keystored backup ';
const magic = `${magicOfFormat1}1`;
const longestHeaderBytes = 4_096;

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

/** Decrypts. Throws BackupError for a wrong passphrase, and when any part of the file was changed or is missing. */
export async function* openFormat1(passphrase: Secret<string>, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { head, rest } = await readLines(sealed, longestHeaderBytes, (lines) => lines.length === 2);
  const [first, second = ''] = head.toString('utf8').split('\n');
  if (first !== magic) throw new BackupError('the backup was made by a newer version');
  const fields = header.safeParse(parseIfJson(second));
  if (!fields.success) throw new BackupError('the header of the backup is damaged');
  const key = await deriveKey(passphrase, decodeBase64(fields.data.salt) ?? new Uint8Array(), fields.data);
  yield* openStream({ cipher: 'aes-256-gcm', key, associatedData: head }, rest);
  key.fill(0);
}

function deriveKey(passphrase: Secret<string>, salt: Uint8Array, { n, r, p }: { n: number; r: number; p: number }): Promise<Buffer> {
  const text = revealSecret(passphrase).normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, 32, { N: n, r, p, maxmem: 256 * n * r }, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
