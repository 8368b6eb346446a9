// Which keystorectl this is, as it says on the terminal and to the appliance.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the tree this file stands in. */
export function programVersion(): string {
  const file = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

/** The User-Agent of every request: audit records and the approval of a sign-in name the program by it. */
export const userAgent = `keystorectl/${programVersion()}`;
