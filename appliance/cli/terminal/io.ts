// The streams of a command: those of the process, or those of a test.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { usageError } from './failure.ts';

/** As `--color` has it. */
export type ColorChoice = 'auto' | 'always' | 'never';

export type Io = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** of `--color`; default: where the terminal has it */
  readonly color?: ColorChoice;
};

/** The home of the user; `/` where neither the environment nor the system names one, as in a container under a number that has no account. */
export function homeOf({ environment: { HOME } }: Pick<Io, 'environment'>): string {
  if (HOME !== undefined) return HOME;
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** The octets of a file; `-` is standard input. Throws a usage error that names the file. */
export async function readOctets(path: string, io: Io): Promise<Buffer> {
  if (path === '-') return buffer(io.stdin);
  try {
    return readFileSync(path);
  } catch (error) {
    throw usageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}

/** The same as text, without the final line end that editors and echo add. */
export async function readText(path: string, io: Io): Promise<string> {
  const octets = await readOctets(path, io);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets).replace(/\r?\n$/, '');
  } catch {
    throw usageError(`${path === '-' ? 'standard input' : path} is not UTF-8 text`);
  }
}

/** A value as typed, or from a file with `@FILE` (`@-` is standard input, `@@…` a text that begins with `@`). */
export async function readValue(text: string, io: Io): Promise<string> {
  if (text.startsWith('@@')) return text.slice(1);
  return text.startsWith('@') ? readText(text.slice(1), io) : text;
}
