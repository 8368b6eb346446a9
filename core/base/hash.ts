// Hashes of data of any length, without blocking the event loop.
import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** Octets hashed at a time, which takes half a millisecond at most. */
const pieceBytes = 128 * 1024;

/** Tells whether octets are few enough to be hashed at once. */
export function isHashedAtOnce(octets: Uint8Array): boolean {
  return octets.length <= pieceBytes;
}

/** The hash of the concatenated `parts`; yields to the event loop every 128 KiB. */
export async function hashInTurns(algorithm: string, ...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && isHashedAtOnce(only)) return hash(algorithm, only, 'buffer');
  const whole = createHash(algorithm);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += pieceBytes) {
      if (at > 0) await setImmediate();
      whole.update(part.subarray(at, at + pieceBytes));
    }
  }
  return whole.digest();
}

/** The hash under which the store has a secret, and other names that its keys must not show: SHA-256 in hexadecimal. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Octets of a hash. */
export const hashBytes = { sha256: 32, sha384: 48, sha512: 64 } as const;
