// Writes results to files: completely or not at all, and readable by the owner only when they hold a secret.
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { usageError } from './failure.ts';
import type { Io } from './io.ts';

export type OutputFile = {
  write(chunk: string | Uint8Array): Promise<void>;
  /** Renames the file to its name; does nothing for standard output. */
  finish(): void;
  /** Leaves what was there before. */
  abandon(): void;
};

/** Whether the name is that of a regular file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Begins a file, `-` for standard output. The name does not exist before finish(). */
export function beginFile(path: string, io: Io, isSecret: boolean): OutputFile {
  if (path === '-') return { write: (chunk) => writeAll(io, chunk), finish: () => undefined, abandon: () => undefined };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return openDevice(path);
  const unfinished = `${path}.${process.pid}.tmp`;
  const file = open(unfinished, 'wx', isSecret ? 0o600 : 0o666, path);
  return {
    write: writerTo(file),
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

/** Devices and pipes are written to directly: renaming a file over `/dev/null` would replace it. */
function openDevice(path: string): OutputFile {
  const device = open(path, 'w', 0o666, path);
  const close = (): void => closeSync(device);
  return { write: writerTo(device), finish: close, abandon: close };
}

function writerTo(file: number): OutputFile['write'] {
  return (chunk) => {
    const octets = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let at = 0; at < octets.length; at += writeSync(file, octets, at));
    return Promise.resolve();
  };
}

/** Writes to standard output at the reader's pace. */
export async function writeAll({ stdout }: Io, chunk: string | Uint8Array): Promise<void> {
  if (!stdout.write(chunk)) await once(stdout, 'drain');
}

function open(path: string, flags: 'w' | 'wx', mode: number, wanted: string): number {
  try {
    return openSync(path, flags, mode);
  } catch (error) {
    throw usageError(`${wanted} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
