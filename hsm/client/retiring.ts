// Hosts that were replaced: each answers its remaining jobs and ends.
import { control } from './host-start.ts';
import type { JobBook } from './job-book.ts';
import type { Link } from './link.ts';

const closeMilliseconds = 2_000;
/** Factor on the limit of a job after which such a host is killed: making a key may take ten times the limit. */
const patience = 11;

export class RetiringHosts {
  readonly #since = new Map<Link, number>();
  readonly #jobs: JobBook;
  readonly #patienceMs: number;

  constructor(jobs: JobBook, jobTimeoutSeconds: number) {
    this.#jobs = jobs;
    this.#patienceMs = jobTimeoutSeconds * 1_000 * patience;
  }

  get areThere(): boolean {
    return this.#since.size > 0;
  }

  add(link: Link): void {
    this.#since.set(link, performance.now());
  }

  /** Removes a host that has ended. Returns true if it was one of these; its jobs are lost. */
  remove(link: Link): boolean {
    return this.#since.delete(link);
  }

  /** Closes the hosts that have answered everything. */
  endAnswered(): void {
    for (const [link, since] of this.#since) {
      if (!this.#jobs.awaits(link)) {
        this.#since.delete(link);
        link.send([control('close')]);
        setTimeout(() => link.kill(), closeMilliseconds).unref();
      } else if (performance.now() - since > this.#patienceMs) link.kill();
    }
  }
}
