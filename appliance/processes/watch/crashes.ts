// Messages and actions after a worker has ended by itself: a damaged store ends every process that reads it, and a worker started again
// would, too.
import { warnOnStandardError } from '../../../core/log/journal.ts';
import { paths } from '../../data-directory/paths.ts';
import { StartRefused } from '../../start-refused.ts';
import { requireSoundStore } from '../../data-directory/store-files.ts';

/** Signals that a process gets for its own faults. */
const crashes: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/** `how`: the signal that has ended it, or its exit code. */
export function endWhileStarting(how: string, data: string): string {
  if (how.startsWith('exit code')) return `a worker process ended while starting (${how}); its message is above`;
  if (crashes.has(how))
    return `a worker process crashed while starting (${how}); what it wrote is above, and more is in the log of the system. ${paths.store(data)} may be damaged: put it back from a backup if another start ends so; else the HSM module or this software is at fault`;
  return `a worker process was ended from outside while starting (${how}): by the kernel, when memory ran out (see its log), or by somebody`;
}

/** One that ends sooner after its start has met what it needs for that. */
const soonMs = 10_000;
/** One crash says little. */
const suspicious = 3;

export type CrashParts = {
  readonly data: string;
  /** its store is also in a cluster */
  readonly isReplica: boolean;
  /** The store cannot be read: no worker can serve from it. */
  readonly giveUp: (reason: StartRefused) => void;
};

/** Counts the crashes of workers, and checks the store after each of them. */
export class Crashes {
  readonly #parts: CrashParts;
  #soon = 0;
  #isLooking = false;

  constructor(parts: CrashParts) {
    this.#parts = parts;
  }

  /** `how`: as for endWhileStarting. */
  note(worker: number, how: string, livedMs: number): void {
    if (!crashes.has(how)) return;
    this.#soon = livedMs < soonMs ? this.#soon + 1 : 0;
    if (this.#isLooking) return;
    this.#isLooking = true;
    void this.#look(worker, how).finally(() => (this.#isLooking = false));
  }

  async #look(worker: number, how: string): Promise<void> {
    const { data, isReplica, giveUp } = this.#parts;
    try {
      await requireSoundStore(data, isReplica);
      if (this.#soon >= suspicious)
        warnOnStandardError(
          `worker ${worker} crashed again soon after its start (${how}, ${this.#soon} times): the pages of ${paths.store(data)} can be read, but what is in them may be damaged: restore a backup into another directory to see whether that one serves; else the HSM module or this software is at fault`,
        );
    } catch (error) {
      if (error instanceof StartRefused) giveUp(error);
    }
  }
}
