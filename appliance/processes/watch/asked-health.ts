// Health of a worker, which it is asked for: on a busy machine a late answer does not count as a hang.
import type { WorkerReport } from '../../monitoring/health-of-workers.ts';
import { Unanswered } from '../channel.ts';

type Report = Omit<WorkerReport, 'worker'>;

/** Limit of silence: a worker hangs when it has not answered twice in a row, and for this time. */
const patienceMs = 3_000;
const mostMisses = 2;
/** A worker that has just begun to serve has not answered yet: until then it is starting. */
const firstPatienceMs = 30_000;

export class AskedHealth {
  readonly #nowMs: () => number;
  readonly #begunMs: number;
  #last: Report['parts'];
  #misses = 0;
  #missingSinceMs = 0;

  /** `nowMs`: a clock that nobody sets. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#begunMs = nowMs();
  }

  /**
   * `ask` rejects with Unanswered where no answer came in time. `isRespawn`: the worker replaces one that has ended, which is a fault until
   * it serves.
   */
  async report(ask: () => Promise<Report['parts']>, isRespawn: boolean): Promise<Report> {
    const askedMs = this.#nowMs();
    try {
      const parts = await ask();
      this.#misses = 0;
      if (parts !== undefined) this.#last = parts;
      return parts === undefined && isRespawn ? { fault: 'is being started again' } : { parts };
    } catch (error) {
      if (this.#misses++ === 0) this.#missingSinceMs = askedMs;
      if (error instanceof Unanswered && !error.isEnd && this.#isOnlyLate()) return { parts: this.#last };
      return { fault: error instanceof Unanswered ? error.message : 'could not be asked', hangs: true };
    }
  }

  #isOnlyLate(): boolean {
    const nowMs = this.#nowMs();
    if (this.#last === undefined) return nowMs - this.#begunMs < firstPatienceMs;
    return this.#misses < mostMisses || nowMs - this.#missingSinceMs < patienceMs;
  }
}
