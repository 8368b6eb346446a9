// Hashes of files of any length, in the browser: pieces are read and hashed one after another, and nothing of them is sent or kept.
import { sha256, sha384, sha512 } from '@noble/hashes/sha2.js';

const hashes = { sha256, sha384, sha512 } as const;
export type HashName = keyof typeof hashes;

export function isHashName(name: string): name is HashName {
  return Object.hasOwn(hashes, name);
}

/** Octets between two pauses, in which the page is drawn and answers. */
const betweenPauses = 8 * 1024 * 1024;

/** A hash that has taken a file, and takes more or ends. */
export type Running = { update(octets: Uint8Array): Running; digest(): Uint8Array };

/** Hashes a file; `tell` gets the octets that are done. Rejects with AbortError after `signal`, and with what the browser cannot read. */
export async function hashFile(file: Blob, name: HashName, tell: (doneBytes: number) => void, signal: AbortSignal): Promise<Running> {
  const hash = hashes[name].create();
  const reader = file.stream().getReader();
  let [done, lately] = [0, 0];
  try {
    for (;;) {
      signal.throwIfAborted();
      const { value } = await reader.read();
      if (value === undefined) return hash;
      hash.update(value);
      done += value.length;
      lately += value.length;
      if (lately < betweenPauses) continue;
      lately = 0;
      tell(done);
      await new Promise((next) => setTimeout(next));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
