// Whether the files that LMDB has open are still those of their names: what is written to a removed one is gone at the next start.
import { statSync } from 'node:fs';
import { join } from 'node:path';

const names = ['data.mdb', 'lock.mdb'] as const;

/** Which file the locks of a store are in, for the processes that share it; undefined where there is none. */
export function lockFileOfStore(directory: string): string | undefined {
  const found = statSync(join(directory, 'lock.mdb'), { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

export class StoreFiles {
  readonly #directory: string;
  readonly #inodes: readonly (number | undefined)[];
  /** it never shrinks while it is open */
  #bytes = 0;

  /** Of an environment that was just opened. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#inodes = names.map((name) => this.#look(name)?.ino);
  }

  /** One sentence for people, without a path; undefined where all is well. Answered from memory of the system, in microseconds. */
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
      // What cannot be looked at (a directory that is a file now) is not there.
      return undefined;
    }
  }
}
