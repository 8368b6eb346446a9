// Reads a small file that another process may be rewriting in place, as SoftHSM does with the objects of its token.
import { readFileSync, statSync } from 'node:fs';

const attempts = 50;

/** The content between two rewrites; undefined when the file does not exist. Throws when it keeps changing. */
export function requireStableRead(path: string): Uint8Array | undefined {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const before = statSync(path, { bigint: true });
      const content = readFileSync(path);
      const after = statSync(path, { bigint: true });
      const isUnchanged = before.mtimeNs === after.mtimeNs && before.ino === after.ino && BigInt(content.length) === after.size;
      if (isUnchanged && content.equals(readFileSync(path))) return content;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return undefined;
    }
  }
  throw new Error(`${path} keeps changing`);
}
