// The file of the store key while the appliance runs: removed or replaced it is written again, because no restart opens the store without
// it.
import { hash, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Log } from '../../core/base/context.ts';
import { reasonOf } from '../../core/base/errors.ts';
import { type Hsm, HsmError, isKeyLost, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { StartRefused } from '../start-refused.ts';
import { findTokenSerial, readStoreKey, replaceStoreKey, storeKeyFile } from './store-key.ts';

const lookEveryMs = 2_000;

export class KeptStoreKey {
  readonly #directory: string;
  readonly #hsm: Hsm;
  readonly #log: Log;
  readonly #digest: Uint8Array;
  readonly #timer: NodeJS.Timeout;
  #stored: StoredKey;
  #serial: string | undefined;
  #seen: string | undefined;
  #isLooking = false;
  #problem: string | undefined;

  /** `dataKey`: the opened content of the file, of which only a digest is kept. */
  constructor(directory: string, hsm: Hsm, dataKey: Uint8Array, log: Log) {
    this.#directory = directory;
    this.#hsm = hsm;
    this.#log = log;
    this.#digest = hash('sha256', dataKey, 'buffer');
    this.#stored = readStoreKey(directory).stored;
    this.#serial = findTokenSerial(directory);
    this.#seen = this.#stateOfFile();
    this.#timer = setInterval(() => void this.damage(), lookEveryMs).unref();
  }

  /** Reason for which the key is not kept; undefined if it is. One system call, unless the file has changed. */
  damage(): string | undefined {
    const now = this.#stateOfFile();
    if (now === undefined) this.#writeAgain('was removed');
    else if (now !== this.#seen && !this.#isLooking) void this.#look(now);
    return this.#problem;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A rotation of the wrapping key replaces the file by another wrapping of the same key: that is the one to keep. */
  async #look(state: string): Promise<void> {
    this.#isLooking = true;
    try {
      const key = readStoreKey(this.#directory);
      if (await this.#isSame(key)) {
        this.#stored = key.stored;
        this.#serial = findTokenSerial(this.#directory);
        this.#seen = state;
        this.#problem = undefined;
      } else this.#writeAgain('was replaced');
    } catch (error) {
      // An unreadable file differs from the written one; an unreachable token does not tell, and is asked again.
      if (!(error instanceof HsmError)) this.#writeAgain(error instanceof StartRefused ? 'was changed' : 'cannot be read');
    } finally {
      this.#isLooking = false;
    }
  }

  async #isSame(key: KeyReference): Promise<boolean> {
    try {
      const material = await this.#hsm.readKeyMaterialInClear(key);
      const digest = hash('sha256', material, 'buffer');
      material.fill(0);
      return timingSafeEqual(digest, this.#digest);
    } catch (error) {
      if (isKeyLost(error)) return false;
      throw error;
    }
  }

  #writeAgain(what: string): void {
    try {
      replaceStoreKey(this.#directory, this.#stored, this.#serial);
      this.#seen = this.#stateOfFile();
      this.#problem = undefined;
      this.#log.error(`the file of the store key ${what} while the appliance runs, and was written again`);
    } catch (error) {
      this.#problem = `the file of the store key ${what}, and cannot be written again`;
      this.#log.error(this.#problem, { reason: reasonOf(error) });
    }
  }

  /** Compares the file: another one, other content, or the same; undefined without a file. */
  #stateOfFile(): string | undefined {
    try {
      const found = statSync(storeKeyFile(this.#directory), { throwIfNoEntry: false });
      return found && `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
    } catch {
      return undefined;
    }
  }
}
