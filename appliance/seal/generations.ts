// The processes that serve now, and those that were replaced until they have ended.
import type { Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import { inTime } from '../../core/base/async/in-time.ts';
import type { Configuration } from '../../core/config/config.ts';
import type { Orders } from '../processes/messages.ts';
import { type HandlersFor, superviseWorkers, type Workers } from '../processes/supervisor.ts';
import { StartRefused } from '../start-refused.ts';

/** Limit for replaced workers to wait for an attempt that came by them. */
const longestLeavingMs = 20_000;
/** Limit of an unseal: a waiting caller learns that it has failed before the worker that is to answer has ended. */
const longestStartMs = 540_000;
const tooLate =
  'the processes that were to serve did not start within nine minutes and were ended: see that the tokens and the disk of the data directory answer';

export type GenerationOptions = {
  readonly configuration: Configuration;
  readonly args: readonly string[];
  /** `over`: aborted when the workers of that start are to end, so that a caller waiting at one of them gets an answer. */
  readonly handlersFor: (worker: Worker, over: AbortSignal) => ReturnType<HandlersFor>;
  readonly reports: Parameters<typeof superviseWorkers>[4];
};

export class Generations {
  readonly #options: GenerationOptions;
  #current: Workers;
  /** replaced workers, until they have ended */
  #leaving: Promise<unknown> = Promise.resolve();
  /** aborted when workers are to end, for callers that wait at them */
  readonly #endings = new WeakMap<Workers, AbortController>();

  constructor(options: GenerationOptions, first: Promise<Orders>) {
    this.#options = options;
    this.#current = this.#start(first);
  }

  get current(): Workers {
    return this.#current;
  }

  /** Starts processes in the place of those that have ended. */
  restart(orders: Orders): Workers {
    return (this.#current = this.#start(Promise.resolve(orders)));
  }

  /**
   * Starts processes that serve before the old ones stop listening. The old ones finish their running requests and end, after a caller that
   * waits at one of them for `answered` has got its answer. `taken` is called when the new ones are the current ones. Rejects with what their
   * start rejects with; then the old ones stay.
   */
  async replace(orders: Orders, taken: () => void, answered: () => Promise<unknown>): Promise<void> {
    const next = this.#start(Promise.resolve(orders));
    await inTime(next.ready, longestStartMs, async () => {
      await next.stop();
      throw new StartRefused(tooLate);
    });
    const old = this.#current;
    this.#current = next;
    taken();
    await old.retire();
    const patience = new AbortController();
    const late = setTimeout(longestLeavingMs, undefined, { ref: false, signal: patience.signal }).then(
      () => this.#endings.get(old)?.abort(),
      () => undefined,
    );
    this.#leaving = Promise.all([this.#leaving, Promise.race([answered(), late]).then(() => (patience.abort(), old.stop()))]);
  }

  /** Ends the current processes, and waits for all earlier ones. */
  async stop(): Promise<void> {
    await Promise.all([this.#current.stop(), this.#leaving]);
  }

  #start(orders: Promise<Orders>): Workers {
    const { configuration, args, handlersFor, reports } = this.#options;
    const over = new AbortController();
    const started = superviseWorkers(configuration, args, orders, (worker) => handlersFor(worker, over.signal), reports);
    this.#endings.set(started, over);
    return started;
  }
}
