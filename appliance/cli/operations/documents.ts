// Documents in YAML or JSON, from a file or from standard input, with single fields laid over them.
import { fstatSync } from 'node:fs';
import type { Document } from '../field-path.ts';
import { usageError } from '../terminal/failure.ts';
import { readText, type Io } from '../terminal/io.ts';

/**
 * Parses YAML, and so JSON. Throws a usage error with the line for anything else, or for a value that is not a mapping. Undefined when
 * empty.
 */
export async function readDocument(path: string, io: Io): Promise<Document | undefined> {
  const name = path === '-' ? 'standard input' : path;
  const { parseDocument } = await import('yaml');
  const document = parseDocument(await readText(path, io), { strict: true, uniqueKeys: true });
  const [fault] = document.errors;
  if (fault !== undefined) throw usageError(`${name} line ${fault.linePos?.[0].line ?? 1}: ${fault.message.split('\n')[0]}`);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw usageError(`${name} is not a document: it must map field names to values`);
  return value as Document;
}

/**
 * Tells whether standard input has a document although `--file -` was not given. Pipes and files do; a terminal and /dev/null do not.
 * Programs give their children a socket when they give no input, so a socket counts only for a command that requires a document.
 */
export function bringsDocument(io: Io, isNeeded: boolean): boolean {
  if (io.stdin !== process.stdin) return io.stdin.isTTY !== true;
  const status = fstatSync(0, { throwIfNoEntry: false });
  return status !== undefined && (status.isFIFO() || status.isFile() || (isNeeded && status.isSocket()));
}
