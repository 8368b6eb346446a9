// Checks that the files that LMDB has open are still at their paths: writes to a removed file are lost at the next start.
import { statSync } from 'node:fs';
import { join } from 'node:path';

const names = ['data.mdb', 'lock.mdb'] as const;

/** Identifies the lock file of a store, for the processes that share it; undefined without one. */
export function lockFileOfStore(directory: string): string | undefined {
  const found = statSync(join(directory, 'lock.mdb'), { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

export class StoreFiles {
  readonly #directory: string;
  readonly #inodes: readonly (number | undefined)[];
  /** size of the file, which never shrinks while it is open */
  #bytes = 0;

  /** Called right after the environment was opened. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#inodes = names.map((name) => this.#look(name)?.ino);
  }

  /**
   * Returns the damage as one sentence for people, without a path; undefined without damage. Takes microseconds, because the system answers
   * from memory.
   */
  damage(): string | undefined {
    for (const [index, name] of names.entries()) {
      const found = this.#look(name);
      if (found === undefined) return `${name} of the store was removed`;
      if (found.ino !== this.#inodes[index]) return `${name} of the store was replaced`;
      if (name !== 'data.mdb') continue;
      if (found.size < this.#bytes) return `${name} of the store was cut off`;
      this.#bytes = found.size;
    }
    return undefined;
  }

  #look(name: string) {
    try {
      return statSync(join(this.#directory, name), { throwIfNoEntry: false });
    } catch {
      // A path that cannot be examined (its directory is a file now) does not exist.
      return undefined;
    }
  }
}
