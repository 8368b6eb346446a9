// The jobs of one token: the batch of this turn, and the jobs in flight.
import type { HsmError } from '../api.ts';
import type { Link } from './link.ts';
import { operations, type Call, type OperationName } from '../protocol/operations.ts';
import type { Message, ReceivedMessage } from '../protocol/wire.ts';

/** A call with the promise that waits for its result. */
export type Job = Message & {
  readonly name: OperationName;
  readonly bytes: number;
  readonly calls: number;
  readonly wipe: Uint8Array | undefined;
  readonly resolve: (result: ReceivedMessage) => void;
  readonly reject: (error: HsmError) => void;
  readonly since: number;
  /** it was in flight before, when a host died */
  retried: boolean;
  /** the host that it was sent to */
  link: Link | undefined;
};

/** With more jobs than this a caller would wait too long: new ones are refused with `unavailable`. */
const maximumJobs = 20_000;
const maximumBytes = 256 * 1_048_576;

export class JobBook {
  readonly #inFlight = new Map<number, Job>();
  #batch: Job[] = [];
  #bytes = 0;
  /** 1 to 2^32 - 1, then 1 again; 0 is for messages that are not jobs */
  #nextId = 1;

  get count(): number {
    return this.#inFlight.size + this.#batch.length;
  }

  get full(): boolean {
    return this.count >= maximumJobs || this.#bytes >= maximumBytes;
  }

  /**
   * Adds a call to the next batch. `unpack` copies what it needs from the result before the received batch is freed. Throws TypeError at
   * once for parts that are no octets: inside a batch the fault could not be assigned to a caller.
   */
  add<T>(call: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const { name, flags, parts, wipe, calls = 1 } = call;
    let bytes = 0;
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at];
      if (part === undefined) continue;
      if (!(part instanceof Uint8Array)) throw new TypeError('the input is no Uint8Array');
      bytes += part.length;
    }
    return new Promise((accept, reject) => {
      const resolve = (result: ReceivedMessage): void => accept(unpack(result));
      const id = this.#nextId;
      this.#nextId = id === 0xffffffff ? 1 : id + 1;
      const code = operations[name].code;
      this.#bytes += bytes;
      this.#batch.push({
        id,
        code,
        flags,
        micros: 0,
        parts,
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

  /** Takes the job of a result out of flight. */
  settle(id: number): Job | undefined {
    const job = this.#inFlight.get(id);
    if (job === undefined) return undefined;
    this.#inFlight.delete(id);
    this.#bytes -= job.bytes;
    return job;
  }

  /** Adds a job to the next batch if it is repeatable and was not retried yet; else rejects it. */
  retryOrReject(job: Job, error: HsmError): void {
    if (!operations[job.name].repeatable || job.retried) return job.reject(error);
    job.retried = true;
    this.#bytes += job.bytes;
    this.#batch.push(job);
  }

  /** Whether a host has jobs that it has not answered. */
  awaits(link: Link): boolean {
    return this.#inFlight.values().some((job) => job.link === link);
  }

  /** Takes the jobs of a host out of flight, because it is gone. */
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
    this.#bytes = 0;
    for (const job of jobs) job.reject(error);
  }
}
