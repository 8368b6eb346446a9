// CA certificates of a server of messages, read at each connection so that they can be renewed without a restart.
import { readFileSync } from 'node:fs';

/** Options of TLS. Throws with the fix when the file cannot be read. */
export function trustedIn(caFile: string | undefined): { readonly ca?: string } {
  if (caFile === undefined) return {};
  try {
    return { ca: readFileSync(caFile, 'utf8') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`ca-file: ${caFile} cannot be read (${code}): correct the path, or let the user of keystored read it`, {
      cause: error,
    });
  }
}
