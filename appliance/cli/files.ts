// Results as files: whole or not at all, and only for their owner when they hold a secret.
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { usageError } from './failure.ts';
import type { Io } from './io.ts';

export type OutputFile = {
  write(chunk: string | Uint8Array): Promise<void>;
  /** Puts the file in its place; for standard output nothing is left to do. */
  finish(): void;
  /** Leaves what was there before. */
  abandon(): void;
};

/** Begins a file, `-` for standard output. Nothing stands under its name before finish(). */
export function beginFile(path: string, io: Io, isSecret: boolean): OutputFile {
  if (path === '-') return { write: (chunk) => writeAll(io, chunk), finish: () => undefined, abandon: () => undefined };
  const unfinished = `${path}.${process.pid}.tmp`;
  const file = open(unfinished, isSecret ? 0o600 : 0o666, path);
  return {
    write(chunk) {
      const octets = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      for (let at = 0; at < octets.length; at += writeSync(file, octets, at));
      return Promise.resolve();
    },
    finish() {
      fsyncSync(file);
      closeSync(file);
      renameSync(unfinished, path);
    },
    abandon() {
      closeSync(file);
      rmSync(unfinished, { force: true });
    },
  };
}

/** Writes to standard output at the reader's pace. */
export async function writeAll({ stdout }: Io, chunk: string | Uint8Array): Promise<void> {
  if (!stdout.write(chunk)) await once(stdout, 'drain');
}

function open(path: string, mode: number, wanted: string): number {
  try {
    return openSync(path, 'wx', mode);
  } catch (error) {
    throw usageError(`${wanted} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
