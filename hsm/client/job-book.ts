// The jobs of one token: the batch of this turn, and the jobs in flight.
import type { HsmError } from '../api.ts';
import type { Link } from './link.ts';
import { operations, type Call, type OperationName } from '../protocol/operations.ts';
import type { Message, ReceivedMessage } from '../protocol/wire.ts';

/** Owner of jobs, by the number that its host knows, with the jobs and octets that are not answered yet. `tenant` absent: the appliance. */
type Owner = { readonly number: number; readonly tenant: string | undefined; jobs: number; bytes: number };

/** A call with the promise that waits for its result. */
export type Job = Message & {
  readonly name: OperationName;
  readonly bytes: number;
  readonly calls: number;
  readonly owner: Owner;
  readonly wipe: Uint8Array | undefined;
  readonly resolve: (result: ReceivedMessage) => void;
  readonly reject: (error: HsmError) => void;
  readonly since: number;
  /** true if it was in flight before, when a host died */
  retried: boolean;
  /** host that it was sent to */
  link: Link | undefined;
};

/** Limit of jobs, above which new ones are refused with `unavailable`: a caller would wait too long. */
const maximumJobs = 20_000;
const maximumBytes = 256 * 1_048_576;
/** Share of one owner relative to the free room: three quarters alone, which leaves room for another one (Choudhury and Hahne 1998). */
const shareOfFree = 3;

export class JobBook {
  readonly #inFlight = new Map<number, Job>();
  readonly #owners = new Map<string | undefined, Owner>();
  #batch: Job[] = [];
  #bytes = 0;
  /** 1 to 2^32 - 1, then 1 again; 0 is for messages that are not jobs */
  #nextId = 1;

  get count(): number {
    return this.#inFlight.size + this.#batch.length;
  }

  /** Tells whether a tenant, or the appliance itself, has reached its share. */
  isFullFor(tenant: string | undefined): boolean {
    const { jobs, bytes } = this.#ownerOf(tenant);
    const [freeJobs, freeBytes] = [maximumJobs - this.count, maximumBytes - this.#bytes];
    return freeJobs <= 0 || freeBytes <= 0 || jobs >= shareOfFree * freeJobs || bytes >= shareOfFree * freeBytes;
  }

  #ownerOf(tenant: string | undefined): Owner {
    const known = this.#owners.get(tenant);
    if (known !== undefined) return known;
    const owner = { number: tenant === undefined ? 0 : this.#owners.size + 1, tenant, jobs: 0, bytes: 0 };
    this.#owners.set(tenant, owner);
    return owner;
  }

  #count(job: Pick<Job, 'owner' | 'bytes'>, by: 1 | -1): void {
    this.#bytes += by * job.bytes;
    job.owner.bytes += by * job.bytes;
    job.owner.jobs += by;
  }

  /**
   * Adds a call to the next batch. `unpack` copies what it needs from the result before the received batch is freed. Throws TypeError at
   * once for parts that are not octets: inside a batch the fault could not be assigned to a caller.
   */
  add<T>(call: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const { name, flags, parts, wipe, calls = 1 } = call;
    let bytes = 0;
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at];
      if (part === undefined) continue;
      if (!(part instanceof Uint8Array)) throw new TypeError('the input is not a Uint8Array');
      bytes += part.length;
    }
    return new Promise((accept, reject) => {
      const resolve = (result: ReceivedMessage): void => accept(unpack(result));
      const id = this.#nextId;
      this.#nextId = id === 0xffffffff ? 1 : id + 1;
      const code = operations[name].code;
      const owner = this.#ownerOf(call.owner);
      this.#count({ owner, bytes }, 1);
      this.#batch.push({
        id,
        code,
        flags,
        micros: owner.number,
        parts,
        owner,
        name,
        bytes,
        calls,
        wipe,
        resolve,
        reject,
        since: performance.now(),
        retried: false,
        link: undefined,
      });
    });
  }

  /** Takes the batch to send to a host; its jobs are in flight from now on. */
  takeBatch(link: Link): readonly Job[] {
    const batch = this.#batch;
    this.#batch = [];
    for (const job of batch) {
      job.link = link;
      this.#inFlight.set(job.id, job);
    }
    return batch;
  }

  /** Removes the job of a result from those in flight. */
  settle(id: number): Job | undefined {
    const job = this.#inFlight.get(id);
    if (job === undefined) return undefined;
    this.#inFlight.delete(id);
    this.#count(job, -1);
    return job;
  }

  /** Adds a job to the next batch if it is repeatable and was not retried yet; rejects it otherwise. */
  retryOrReject(job: Job, error: HsmError): void {
    if (!operations[job.name].repeatable || job.retried) return job.reject(error);
    job.retried = true;
    this.#count(job, 1);
    this.#batch.push(job);
  }

  /** Tells whether a host has unanswered jobs. */
  awaits(link: Link): boolean {
    return this.#inFlight.values().some((job) => job.link === link);
  }

  /** Removes the jobs of a host that is gone from those in flight. */
  loseInFlight(link: Link): readonly Job[] {
    const lost = [...this.#inFlight.values()].filter((job) => job.link === link);
    for (const { id } of lost) this.settle(id);
    return lost;
  }

  /** Rejects every job, in flight or not. */
  rejectAll(error: HsmError): void {
    const jobs = [...this.#inFlight.values(), ...this.#batch];
    this.#inFlight.clear();
    this.#batch = [];
    for (const job of jobs) {
      this.#count(job, -1);
      job.reject(error);
    }
  }
}
