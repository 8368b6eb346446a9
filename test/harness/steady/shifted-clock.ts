// The clock of a machine that a test sets while a daemon runs: shifted-clock.c, preloaded into its processes.
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { preloaded } from '../preloaded.ts';

export class ShiftedClock {
  readonly #path: string;
  readonly #file: number;

  /** `path`: of a file that is made. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'w', 0o600);
    this.set(0);
  }

  /** For the processes whose clock it is. */
  async environment(): Promise<Record<string, string>> {
    return { LD_PRELOAD: await preloaded(join(import.meta.dirname, 'shifted-clock.c')), KEYSTORED_CLOCK: this.#path };
  }

  /** Seconds ahead of the real time, from now on. */
  set(seconds: number): void {
    const row = Buffer.alloc(8);
    row.writeBigInt64LE(BigInt(seconds));
    writeSync(this.#file, row, 0, row.length, 0);
  }
}
