// The time limit of one call over all its attempts, joined with the caller's own signal.
import { TimeLimitError } from '../problem.ts';

/** Start one for each call and `stop` it when the call has ended. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #endsAtMs: number;
  readonly #timeoutMs: number;
  readonly #caller: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #onCallerEnd = (): void => this.#controller.abort(this.#caller?.reason);
  #lastProblem: unknown;

  constructor(timeoutMs: number, caller: AbortSignal | undefined) {
    this.#timeoutMs = timeoutMs;
    this.#endsAtMs = performance.now() + timeoutMs;
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(this.exceeded()), timeoutMs);
    caller?.addEventListener('abort', this.#onCallerEnd, { once: true });
    if (caller?.aborted === true) this.#onCallerEnd();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get remainingMs(): number {
    return this.#endsAtMs - performance.now();
  }

  /** Remembers why the attempts so far failed, for the error when the time is over. */
  note(problem: unknown): void {
    this.#lastProblem = problem;
  }

  exceeded(): TimeLimitError {
    return new TimeLimitError(this.#timeoutMs, this.#lastProblem);
  }

  /** The result of a promise that others wait for as well; rejects when this call ends first, and the promise goes on. */
  race<T>(shared: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const { signal } = this;
      const end = (): void => reject(signal.reason as Error);
      if (signal.aborted) return end();
      signal.addEventListener('abort', end, { once: true });
      shared.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
    });
  }

  pause(milliseconds: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pause = new Promise<void>((done) => {
      timer = setTimeout(done, milliseconds);
    });
    return this.race(pause).finally(() => clearTimeout(timer));
  }

  /** Ends the time limit; the caller's signal still ends the call. For answers that last as long as someone reads them. */
  lift(): void {
    clearTimeout(this.#timer);
  }

  stop(): void {
    this.lift();
    this.#caller?.removeEventListener('abort', this.#onCallerEnd);
  }
}
