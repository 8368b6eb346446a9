// A backup that is being encrypted: its octets on their way out, counted and digested.
import { createHash } from 'node:crypto';
import type { Copy } from '../copy.ts';
import { beginAge, type Sealing } from '../format/age.ts';
import { archiveBytes, formatArchive } from '../format/archive.ts';

/** `bytes` is the exact length of the file. */
export type SealedBackup = { readonly bytes: number; readonly pieces: AsyncGenerator<Uint8Array>; digest(): string };

/** Encrypts a copy; the same copy may be encrypted several times. `told` is called with the octets that have been taken. */
export async function sealCopy(copy: Copy, sealing: Sealing, told: (doneBytes: number) => void): Promise<SealedBackup> {
  const age = await beginAge(sealing);
  const hash = createHash('sha256');
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let done = 0;
    for await (const piece of age.seal(formatArchive(copy))) {
      hash.update(piece);
      yield piece;
      told((done += piece.length));
    }
  }
  return { bytes: age.bytesFor(archiveBytes(copy)), pieces: pieces(), digest: () => hash.digest('hex') };
}
