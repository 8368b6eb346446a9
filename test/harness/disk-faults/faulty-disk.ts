// A disk whose system calls fail as a test says: faulty-disk.c, preloaded into the processes of a daemon, and its table.
import { openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { preloaded } from '../preloaded.ts';

/** Groups of system calls, in the order of the preloaded library. SoftHSM's own files go through streams of the C library, which are not seen. */
export const diskCalls = ['open', 'read', 'write', 'sync', 'truncate', 'rename', 'unlink', 'mkdir'] as const;

export type DiskCall = (typeof diskCalls)[number];

/** What happens, in the order of the library, in which 0 is nothing. `fail`: with an errno; `wait`: milliseconds; `half`: half of the octets. */
const kinds = ['fail', 'wait', 'half'] as const;

/** Calls pass `before` times, then the fault strikes `times` times. `part`: only on paths with this text. */
export type DiskFault = {
  readonly call: DiskCall;
  readonly kind: (typeof kinds)[number];
  readonly argument?: number;
  readonly before?: number;
  readonly times?: number;
  readonly part?: string;
};

const offsets = {
  armed: 0,
  call: 4,
  kind: 8,
  argument: 12,
  before: 16,
  times: 20,
  struck: 24,
  seen: 28,
  directory: 60,
  part: 316,
} as const;
const bytes = offsets.part + 64;

/** The table that all processes with the library read: one fault at a time, on the files below one directory. */
export class FaultyDisk {
  readonly #path: string;
  readonly #directory: string;
  readonly #file: number;

  /** `path` is outside of the directory. */
  constructor(path: string, directory: string) {
    this.#path = path;
    this.#directory = directory;
    this.#file = openSync(path, 'w+', 0o600);
    this.#write(0, Buffer.alloc(bytes));
  }

  /** For the processes whose calls are to fail. */
  async environment(): Promise<Record<string, string>> {
    return { LD_PRELOAD: await preloaded(join(import.meta.dirname, 'faulty-disk.c')), KEYSTORED_DISK_TABLE: this.#path };
  }

  arm({ call, kind, argument = 0, before = 0, times = 1, part = '' }: DiskFault): void {
    this.disarm();
    const row = Buffer.alloc(bytes);
    row.writeUInt32LE(diskCalls.indexOf(call), offsets.call);
    row.writeUInt32LE(kinds.indexOf(kind) + 1, offsets.kind);
    row.writeUInt32LE(argument, offsets.argument);
    row.writeInt32LE(before, offsets.before);
    row.writeInt32LE(times, offsets.times);
    row.write(this.#directory, offsets.directory);
    row.write(part, offsets.part);
    this.#write(0, row);
    this.#write(offsets.armed, Buffer.of(1, 0, 0, 0));
  }

  disarm(): void {
    this.#write(offsets.armed, Buffer.alloc(4));
  }

  /** How often the fault struck since it was armed. */
  get struck(): number {
    return this.#read(offsets.struck);
  }

  /** How many calls there were meanwhile. */
  seen(call: DiskCall): number {
    return this.#read(offsets.seen + 4 * diskCalls.indexOf(call));
  }

  #read(offset: number): number {
    const row = Buffer.alloc(4);
    readSync(this.#file, row, 0, row.length, offset);
    return row.readUInt32LE(0);
  }

  #write(offset: number, octets: Buffer): void {
    writeSync(this.#file, octets, 0, octets.length, offset);
  }
}
