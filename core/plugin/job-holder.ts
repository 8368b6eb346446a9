// Elects the appliance of a cluster that runs the background jobs. The holder is a record of the shared store, and every transaction of a job
// compares it.
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Clock, Job, Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import { systemClock } from '../base/time.ts';
import { behindFence, type Fence } from '../store/fence.ts';
import type { TableKinds } from '../store/records/table-kinds.ts';
import { getIfOpen, getOrDrop, type Store, type Table, type WriteTransaction } from '../store/store.ts';
import { type Scheduler, startScheduler } from './scheduler.ts';

/*
 * ['term'] names the appliance that runs the jobs. Every takeover draws a new term. A job reads it in each of its transactions, so one whose
 * appliance was taken for dead can change nothing, whatever its clock says. ['beat'] is the heartbeat of the holder. It is a separate
 * record: otherwise the transactions of running jobs would conflict with each beat.
 *
 * An appliance judges by the beats that it sees, on its own monotonic clock, whether the holder is alive. A wrong judgement costs repeated work
 * only, because of the fence. A lease of etcd is not used: a change of leader prolongs it beyond ten seconds.
 */
type Holding = { readonly appliance: string; readonly term: string; readonly beats: number };

const termKey = ['term'];
const beatKey = ['beat'];

export const jobTableKinds: TableKinds = { 'job-holder': { of: 'cluster' } };

/** Id of the appliance that runs the jobs, from the store; undefined while none does, and for a single appliance. */
export function findJobHolder(store: Store): string | undefined {
  return getIfOpen(store.table<Holding>('job-holder'), termKey)?.appliance;
}

/** Releases the jobs of a removed appliance, so that another takes them at its next check. */
export function releaseJobsOf(transaction: WriteTransaction, store: Store, appliance: string): void {
  const table = store.table<Holding>('job-holder');
  if (getOrDrop(transaction, table, termKey)?.appliance === appliance) transaction.delete(table, termKey);
}

export type JobsOptions = {
  readonly store: Store;
  readonly jobs: readonly Job[];
  readonly log: Log;
  /** clock, only for monotonic time; default: the system clock */
  readonly clock?: Clock;
  /** as in SchedulerOptions */
  readonly firstRunSeconds?: number;
};

/** Thrown by writes of a job after another appliance has taken the jobs. */
class JobsLost extends Error {
  override name = 'JobsLost';
}

/** Silence after which a holder has lost the jobs: with the pause of an election and the commit, they continue within ten seconds. */
const silentMs = 4_000;
const beatEveryMs = 1_500;
const lookEveryMs = 500;

/**
 * Starts all jobs of a single appliance. In a cluster it starts at once those that each appliance runs for itself, and the others
 * while this appliance holds them.
 */
export function startJobs(options: JobsOptions): Scheduler {
  const { store, jobs } = options;
  const shared = store.appliance === undefined ? [] : jobs.filter(({ isOfEach }) => isOfEach !== true);
  const own = startScheduler({ ...options, jobs: jobs.filter((job) => !shared.includes(job)) });
  if (shared.length === 0) return own;
  const holder = new JobHolder({ clock: systemClock, ...options, jobs: shared });
  return {
    async stop() {
      await Promise.all([own.stop(), holder.stop()]);
    },
  };
}

type HolderOptions = JobsOptions & { readonly clock: Clock };

class JobHolder {
  readonly #options: HolderOptions;
  readonly #table: Table<Holding>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** last term requested by this process; the record tells whether it was granted */
  #term: string | undefined;
  #jobs: Scheduler | undefined;
  /** time at which the last committed beat of this process was sent */
  #beatMs = 0;
  /** last seen beat of another appliance, and the time at which it was first seen */
  #seen: { readonly beat: string; readonly atMs: number } | undefined;
  #stopped: Promise<void> | undefined;
  /** reason for which the last check failed, so that it is logged once */
  #told: string | undefined;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#table = options.store.table('job-holder');
    this.#running = this.#watch();
  }

  /** Ends the jobs and releases them to the next appliance that checks. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      this.#stopping.abort();
      await this.#running;
      await this.#endJobs();
      await this.#release().catch((error: unknown) => this.#tell('the jobs could not be given back', error));
    })();
    return this.#stopped;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#look();
        this.#told = undefined;
      } catch (error) {
        this.#tell('who runs the background jobs could not be decided', error);
      }
      // Others may take this appliance for dead.
      if (this.#options.clock.monotonicMs() - this.#beatMs > silentMs) await this.#endJobs();
      await setTimeout(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { store, clock } = this.#options;
    store.refresh();
    const held = getIfOpen(this.#table, termKey);
    if (held !== undefined && held.term === this.#term) return this.#hold(held);
    await this.#endJobs();
    const beats = getIfOpen(this.#table, beatKey)?.beats;
    const isFirstLook = this.#seen === undefined;
    const beat = `${held?.term} ${beats}`;
    if (this.#seen?.beat !== beat) this.#seen = { beat, atMs: clock.monotonicMs() };
    const isSilent = clock.monotonicMs() - this.#seen.atMs >= silentMs;
    // At its first check a process finds its predecessor, which has ended: one process of an appliance runs its jobs.
    const isOurs = isFirstLook && held?.appliance === store.appliance;
    if (held === undefined || isOurs || isSilent) await this.#take(held?.term, beats);
  }

  /** Takes the jobs from the holder of a term, unless it gave a beat or another appliance was first. */
  async #take(from: string | undefined, beats: number | undefined): Promise<void> {
    const { store, clock, log } = this.#options;
    const { appliance = '' } = store;
    const taken: Holding = { appliance, term: randomUUID(), beats: 0 };
    this.#term = taken.term;
    this.#beatMs = clock.monotonicMs();
    const isTaken = await store.write((transaction) => {
      const present = getOrDrop(transaction, this.#table, termKey);
      if (present?.term !== from || getOrDrop(transaction, this.#table, beatKey)?.beats !== beats) return false;
      transaction.put(this.#table, termKey, taken);
      transaction.put(this.#table, beatKey, taken);
      return true;
    });
    if (!isTaken) return;
    log.info('this appliance runs the background jobs of the cluster');
    this.#beginJobs(taken);
  }

  async #hold(held: Holding): Promise<void> {
    const { store, clock } = this.#options;
    const sentMs = clock.monotonicMs();
    if (this.#jobs === undefined || sentMs - this.#beatMs >= beatEveryMs) {
      const isHeld = await store.write((transaction) => {
        if (getOrDrop(transaction, this.#table, termKey)?.term !== held.term) return false;
        const beats = (getOrDrop(transaction, this.#table, beatKey)?.beats ?? 0) + 1;
        transaction.put(this.#table, beatKey, { ...held, beats });
        return true;
      });
      if (!isHeld) return this.#endJobs();
      this.#beatMs = sentMs;
    }
    this.#beginJobs(held);
  }

  #beginJobs({ term }: Holding): void {
    if (this.#jobs !== undefined || this.#stopping.signal.aborted) return;
    const fence: Fence = (transaction) => {
      if (getOrDrop(transaction, this.#table, termKey)?.term !== term)
        throw new JobsLost('another appliance of the cluster runs the jobs now');
    };
    const jobs = this.#options.jobs.map((job) => ({ ...job, run: (signal: AbortSignal) => behindFence(fence, () => job.run(signal)) }));
    this.#jobs = startScheduler({ ...this.#options, jobs });
  }

  async #endJobs(): Promise<void> {
    const jobs = this.#jobs;
    this.#jobs = undefined;
    if (jobs === undefined) return;
    this.#options.log.info('this appliance runs the background jobs of the cluster no longer');
    await jobs.stop();
  }

  async #release(): Promise<void> {
    const { store } = this.#options;
    if (getIfOpen(this.#table, termKey)?.term !== this.#term || this.#term === undefined) return;
    await store.write((transaction) => {
      if (getOrDrop(transaction, this.#table, termKey)?.term === this.#term) transaction.delete(this.#table, termKey);
    });
  }

  #tell(message: string, error: unknown): void {
    const reason = reasonOf(error);
    if (reason !== this.#told) this.#options.log.warn(message, { reason });
    this.#told = reason;
  }
}
