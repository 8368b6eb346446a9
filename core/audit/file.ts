// One file of the audit trail, append only: what it acknowledges is on the disk, under its name, and nothing else is.
import { close, constants, fdatasync, fstat, ftruncate, open, stat, statSync, write } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncPath } from '../base/durable-files.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(stat);
const statOpen = promisify(fstat);
const truncateFile = promisify(ftruncate);
const syncFile = promisify(fdatasync);

/** The file was unlinked, replaced, or changed by somebody else. */
export class FileLost extends Error {
  override readonly name = 'FileLost';
}

export class AuditFile {
  readonly path: string;
  readonly #fd: number;
  readonly #inode: number;
  #size: number;

  private constructor(path: string, fd: number, inode: number, size: number) {
    this.path = path;
    this.#fd = fd;
    this.#inode = inode;
    this.#size = size;
  }

  /** A new, empty file that a power loss does not take away again; rejects with EEXIST when there is one. */
  static async create(path: string): Promise<AuditFile> {
    const file = await AuditFile.#open(path, constants.O_CREAT | constants.O_EXCL);
    await syncPath(dirname(path));
    return file;
  }

  /** An existing file, to go on with at its end. */
  static resume(path: string): Promise<AuditFile> {
    return AuditFile.#open(path, 0);
  }

  static async #open(path: string, flags: number): Promise<AuditFile> {
    // O_APPEND, so that writing to a file somebody has truncated cannot fill the hole and hide it. O_DSYNC: a write that returns is
    // on the disk, as after fdatasync, in one round trip through the thread pool instead of two.
    const fd = await openFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_DSYNC | flags, 0o600);
    const { ino, size } = await statFile(path);
    return new AuditFile(path, fd, ino, size);
  }

  /** Octets acknowledged. */
  get size(): number {
    return this.#size;
  }

  /** Resolves when the octets are on the disk and the file is still the one its name says; `FileLost` when it is not. */
  append(octets: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const writeRest = (rest: Uint8Array): void => {
        write(this.#fd, rest, 0, rest.length, null, (error, written) => {
          if (error !== null) return reject(error);
          if (written < rest.length) return writeRest(rest.subarray(written));
          try {
            this.#requireUnchanged(this.#size + octets.length);
            this.#size += octets.length;
            resolve();
          } catch (lost) {
            reject(lost);
          }
        });
      };
      writeRest(octets);
    });
  }

  /** Cuts off what was written beyond `size`, the end of an append that was not acknowledged. */
  async cutBack(size: number): Promise<void> {
    // Truncating a file that became shorter would fill it with zeros.
    if ((await statOpen(this.#fd)).size < size) throw new FileLost(`${basename(this.path)} was cut short`);
    await truncateFile(this.#fd, size);
    await syncFile(this.#fd);
    this.#requireUnchanged(size);
    this.#size = size;
  }

  async close(): Promise<void> {
    await closeFile(this.#fd);
  }

  #requireUnchanged(size: number): void {
    // Answered from memory; sparing the thread pool a third round trip is worth more than the microseconds it takes.
    const there = statSync(this.path, { throwIfNoEntry: false });
    if (there === undefined) throw new FileLost(`${basename(this.path)} was removed`);
    if (there.ino !== this.#inode) throw new FileLost(`${basename(this.path)} was replaced`);
    if (there.size !== size) throw new FileLost(`${basename(this.path)} has ${there.size} octets where ${size} were written`);
  }
}
