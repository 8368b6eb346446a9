// Writes results to files: completely or not at all, and readable by the owner only when they hold a secret.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { OutputFailed } from './failure.ts';
import type { Io } from './io.ts';

export type OutputFile = {
  write(chunk: string | Uint8Array): Promise<void>;
  /** Renames the file to its name; does nothing for standard output. */
  finish(): void;
  /** Leaves the former file; does nothing after finish(). */
  abandon(): void;
};

/** Tells whether the name is that of a regular file. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Begins a file, `-` for standard output. The name does not exist before finish(). */
export function beginFile(path: string, io: Io, isSecret: boolean): OutputFile {
  if (path === '-') return { write: (chunk) => writeAll(io, chunk), finish: () => undefined, abandon: () => undefined };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return openDevice(path);
  const unfinished = `${path}.${process.pid}.tmp`;
  const file = telling(path, () => openSync(unfinished, 'wx', isSecret ? 0o600 : 0o666));
  const close = closing(file);
  return {
    write: writerTo(file, path),
    finish: () =>
      telling(path, () => {
        fsyncSync(file);
        close();
        renameSync(unfinished, path);
      }),
    abandon() {
      close();
      rmSync(unfinished, { force: true });
    },
  };
}

/** Devices and pipes are written to directly: renaming a file over `/dev/null` would replace it. */
function openDevice(path: string): OutputFile {
  const device = telling(path, () => openSync(path, 'w'));
  const close = closing(device);
  return { write: writerTo(device, path), finish: close, abandon: close };
}

/** Closes a file once, however often it is called. */
function closing(file: number): () => void {
  let isOpen = true;
  return () => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
}

function writerTo(file: number, path: string): OutputFile['write'] {
  return async (chunk) => {
    const octets = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    telling(path, () => {
      for (let at = 0; at < octets.length; at += writeSync(file, octets, at));
    });
  };
}

/** Does something to a file or folder. Throws OutputFailed, which names it. */
export function telling<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new OutputFailed(path, error as NodeJS.ErrnoException);
  }
}

/** Writes to standard output at the reader's pace. Throws OutputFailed. */
export async function writeAll({ stdout }: Io, chunk: string | Uint8Array): Promise<void> {
  await new Promise<void>((written, failed) => {
    stdout.write(chunk, (error) => (error ? failed(new OutputFailed('standard output', error)) : written()));
  });
}
