// The jobs of one token: those of this turn's batch, and those the host is working on.
import type { HsmError } from '../api.ts';
import { operations, type Call, type OperationName } from '../protocol/operations.ts';
import type { Message, ReceivedMessage } from '../protocol/wire.ts';

/** A call on its way, with the promise that waits for it. */
export type Job = Message & {
  readonly name: OperationName;
  readonly bytes: number;
  readonly wipe: Uint8Array | undefined;
  readonly resolve: (result: ReceivedMessage) => void;
  readonly reject: (error: HsmError) => void;
  readonly since: number;
  /** it was in flight once already when a host died */
  retried: boolean;
};

/** More than this is waiting in vain: the answer is `unavailable` at once. */
const maximumJobs = 20_000;
const maximumBytes = 256 * 1_048_576;

export class JobBook {
  readonly #inFlight = new Map<number, Job>();
  #batch: Job[] = [];
  #bytes = 0;
  /** 1 to 2^32 - 1, then from the start: 0 is for messages that are no jobs */
  #nextId = 1;

  get full(): boolean {
    return this.#inFlight.size + this.#batch.length >= maximumJobs || this.#bytes >= maximumBytes;
  }

  /**
   * Adds a call to the next batch; `unpack` takes what it wants from the result before the batch it came in is forgotten. Throws
   * TypeError at once for parts that are no octets, because nobody could be told once they are in a batch.
   */
  add<T>(call: Call, unpack: (result: ReceivedMessage) => T): Promise<T> {
    const { name, flags, parts, wipe } = call;
    let bytes = 0;
    for (const part of parts) {
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
      this.#batch.push({ id, code, flags, micros: 0, parts, name, bytes, wipe, resolve, reject, since: performance.now(), retried: false });
    });
  }

  /** The batch to send; from here on its jobs are in flight. */
  takeBatch(): readonly Job[] {
    const batch = this.#batch;
    this.#batch = [];
    for (const job of batch) this.#inFlight.set(job.id, job);
    return batch;
  }

  /** The job a result is for; it is in flight no longer. */
  settle(id: number): Job | undefined {
    const job = this.#inFlight.get(id);
    if (job === undefined) return undefined;
    this.#inFlight.delete(id);
    this.#bytes -= job.bytes;
    return job;
  }

  /** Gives a job to the next batch if it may be repeated and was not yet; else rejects it. */
  retryOrReject(job: Job, error: HsmError): void {
    if (!operations[job.name].repeatable || job.retried) return job.reject(error);
    job.retried = true;
    this.#bytes += job.bytes;
    this.#batch.push(job);
  }

  /** Takes all jobs out of flight: their host is gone. */
  loseInFlight(): readonly Job[] {
    return [...this.#inFlight.keys()].map((id) => this.settle(id) as Job);
  }

  /** Answers everything, in flight or not, with an error. */
  rejectAll(error: HsmError): void {
    const jobs = [...this.loseInFlight(), ...this.#batch];
    this.#batch = [];
    this.#bytes = 0;
    for (const job of jobs) job.reject(error);
  }
}
