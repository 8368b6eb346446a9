// Chooses the process to kill below a running daemon, at a rate at which the appliance goes on serving: what ends too often is replaced
// later each time, ten seconds at most.
import { readFileSync } from 'node:fs';
import type { Dice } from '../../fuzz/cases.ts';
import { childrenOf } from '../token/canaries.ts';
import type { Kill } from './plan.ts';

/** A worker that has lived for so long is replaced at once. */
const calmMs = 10_500;
/** After so many the token of the worker counts as down for a while, which is to be seen, too. */
const hostsPerWorker = 6;
/** Also young workers and their hosts are killed at times, in the middle of their start. More often, and no worker would ever serve. */
const shareOfYoung = 0.02;

/** What is known of a worker: since when it has been seen, and how many of its hosts were killed. */
type Seen = { readonly since: number; hosts: number };

export class Victims {
  readonly #workers = new Map<number, Seen>();

  /**
   * Kills a worker, or a process that a worker has started for its token; undefined when none is due. A worker is young for as long as
   * the start of the appliance took.
   */
  kill(daemon: number, dice: Dice, startMs: number): Kill | undefined {
    const workers = children(daemon);
    for (const pid of workers) if (!this.#workers.has(pid)) this.#workers.set(pid, { since: performance.now(), hosts: 0 });
    if (workers.length === 0) return undefined;
    const worker = dice.pick(workers);
    const seen = this.#workers.get(worker) as Seen;
    const age = performance.now() - seen.since;
    const isYoung = age < startMs;
    if (isYoung && !dice.chance(shareOfYoung)) return undefined;
    const when = isYoung ? { when: 'in the start of a worker' } : {};
    const hosts = children(worker);
    if (seen.hosts < hostsPerWorker && hosts.length > 0) {
      seen.hosts++;
      return end(dice.pick(hosts)) ? { kind: 'token host', ...when } : undefined;
    }
    const isDue = isYoung || age > calmMs;
    return isDue && end(worker) ? { kind: 'worker', ...when } : undefined;
  }
}

/** None of a process that has just ended. */
export function children(pid: number): readonly number[] {
  try {
    return childrenOf(pid);
  } catch {
    return [];
  }
}

/** Kills a process. Whether there was one: one that has ended and is not yet waited for by its parent does not count. */
export function end(pid: number): boolean {
  try {
    // 0 would be the group of this process.
    return pid > 0 && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ') && process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
