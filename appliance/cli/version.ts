// The version of keystorectl, for the terminal and the User-Agent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the source tree that contains this file. */
export function programVersion(): string {
  const file = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

/** The User-Agent of every request: audit records and the approval of a sign-in name the program by it. */
export const userAgent = `keystorectl/${programVersion()}`;
