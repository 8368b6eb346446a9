// One append-only file of the audit trail: exactly the acknowledged records are on the disk, under its name.
import { chmod, close, constants, fdatasync, fstat, ftruncate, open, stat, statSync, write } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncPath } from '../base/durable-files.ts';

const changeMode = promisify(chmod);
const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(stat);
const statOpen = promisify(fstat);
const truncateFile = promisify(ftruncate);
const syncFile = promisify(fdatasync);

const openMode = 0o600;
const closedMode = 0o400;
const writable = 0o200;

/** Thrown if the file was removed, replaced, or changed by another program. */
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

  /** Creates an empty file that survives a power loss; rejects with EEXIST if it exists. */
  static async create(path: string): Promise<AuditFile> {
    const file = await AuditFile.#open(path, constants.O_CREAT | constants.O_EXCL);
    await syncPath(dirname(path));
    return file;
  }

  /** Opens an existing file for appending. */
  static resume(path: string): Promise<AuditFile> {
    return AuditFile.#open(path, 0);
  }

  /** Tells whether a file is full, so that another one follows it. */
  static async isClosed(path: string): Promise<boolean> {
    return ((await statFile(path)).mode & writable) === 0;
  }

  /** Marks a file as full. Only its owner could make it writable again. */
  static seal(path: string): Promise<void> {
    return changeMode(path, closedMode);
  }

  /** Cuts off the end of a file that no process writes, also of a closed one. */
  static async cut(path: string, size: number): Promise<void> {
    const isClosed = await AuditFile.isClosed(path);
    if (isClosed) await changeMode(path, openMode);
    const file = await AuditFile.resume(path);
    await file.cutBack(size);
    await file.close();
    if (isClosed) await AuditFile.seal(path);
  }

  static async #open(path: string, flags: number): Promise<AuditFile> {
    // O_APPEND, so that writing to a file that was truncated cannot fill the gap and hide it. O_DSYNC: a write that returns is on the
    // disk, as after fdatasync, in one round trip through the thread pool instead of two.
    const fd = await openFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_DSYNC | flags, openMode);
    const { ino, size } = await statFile(path);
    return new AuditFile(path, fd, ino, size);
  }

  /** Number of acknowledged octets. */
  get size(): number {
    return this.#size;
  }

  /** Appends; resolves when the octets are on the disk and the file is still at its path; rejects with `FileLost` otherwise. */
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

  /** Cuts off the octets beyond `size`: the end of an unacknowledged append. */
  async cutBack(size: number): Promise<void> {
    // Extending a file that has become shorter would fill it with zeros.
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
    // Answered from memory: this costs microseconds, and a third round trip through the thread pool costs more.
    const there = statSync(this.path, { throwIfNoEntry: false });
    if (there === undefined) throw new FileLost(`${basename(this.path)} was removed`);
    if (there.ino !== this.#inode) throw new FileLost(`${basename(this.path)} was replaced`);
    if (there.size !== size) throw new FileLost(`${basename(this.path)} has ${there.size} octets where ${size} were written`);
  }
}
