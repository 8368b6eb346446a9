// The worker threads of a host: which one takes a job, how long a job may wait and run, and what happens when one hangs (design hsm 11, 12).
import { Worker } from 'node:worker_threads';
import { HsmError, type SessionCounts } from '../api.ts';
import type { EngineOptions } from '../engine/engine.ts';
import type { KeyIdentity } from '../protocol/key-encoding.ts';
import type { LaneAnswer, LaneOrder } from './lane.ts';
import { operationNamed, operations } from '../protocol/operations.ts';
import { encodeError } from '../protocol/error-coding.ts';
import { decodeMessage, encodeMessages, resultError, type Message, type ReceivedMessage } from '../protocol/wire.ts';

/** `work` serves requests; `making` makes slow keys, so that no signature waits behind the generation of an RSA key. */
export type LaneGroup = 'work' | 'making';

export type LaneOptions = {
  readonly engine: Omit<EngineOptions, 'cacheKeys'>;
  readonly lanes: Readonly<Record<LaneGroup, { readonly count: number; readonly cacheKeys: number }>>;
  readonly jobTimeoutSeconds: number;
  /** takes a finished job */
  onResult(result: Message | ReceivedMessage, job: ReceivedMessage): void;
  /** a job overran its deadline or a thread died: the host has to end once its results are sent */
  onBroken(): void;
};

type Waiting = { readonly job: ReceivedMessage; readonly since: number };
type Running = { readonly job: ReceivedMessage; started: number; suspected: boolean };
type Lane = { readonly worker: Worker; readonly group: LaneGroup; readonly running: Running[]; loadedKeys: number };

/** Two jobs per lane: the second one is there when the first is done. */
const depth = 2;
const watchMilliseconds = 250;
const makingPatience = 10;

export class Lanes {
  readonly #options: LaneOptions;
  readonly #lanes: Lane[] = [];
  readonly #waiting: Record<LaneGroup, Waiting[]> = { work: [], making: [] };
  readonly #watch: NodeJS.Timeout;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), watchMilliseconds);
    this.#watch.unref();
  }

  get loadedKeys(): number {
    return this.#lanes.reduce((total, lane) => total + lane.loadedKeys, 0);
  }

  /** Sessions there may be, those at work, and jobs that wait for one: behind another in a lane, or for a lane. */
  get sessions(): SessionCounts {
    const { work, making } = this.#options.lanes;
    const busy = this.#lanes.filter(({ running }) => running.length > 0).length;
    const taken = this.#lanes.reduce((total, { running }) => total + running.length, 0);
    return { size: work.count + making.count, busy, waiting: taken - busy + this.#waiting.work.length + this.#waiting.making.length };
  }

  /** Gives a job to a lane of the group, or lets it wait for one. */
  run(job: ReceivedMessage, group: LaneGroup): void {
    const lane = this.#choose(group, job);
    if (lane === undefined) this.#waiting[group].push({ job, since: performance.now() });
    else this.#start(lane, job);
  }

  /** Tells every lane to forget a key. */
  forget(key: KeyIdentity): void {
    for (const { worker } of this.#lanes) worker.postMessage({ forget: key } satisfies LaneOrder, []);
  }

  close(): void {
    clearInterval(this.#watch);
  }

  /** The least busy lane; a new one while there may be more; among equals the one this key was used in before. */
  #choose(group: LaneGroup, job: ReceivedMessage): Lane | undefined {
    const lanes = this.#lanes.filter((lane) => lane.group === group);
    const load = Math.min(...lanes.map((lane) => lane.running.length));
    if (load > 0 && lanes.length < this.#options.lanes[group].count) return this.#addLane(group);
    if (load >= depth) return undefined;
    const idlest = lanes.filter((lane) => lane.running.length === load);
    return idlest[affinity(job) % idlest.length];
  }

  #addLane(group: LaneGroup): Lane {
    const workerData: EngineOptions = { ...this.#options.engine, cacheKeys: this.#options.lanes[group].cacheKeys };
    const worker = new Worker(new URL('./lane.ts', import.meta.url), { workerData });
    const lane: Lane = { worker, group, running: [], loadedKeys: 0 };
    worker.on('message', ({ result, loadedKeys }: LaneAnswer) => {
      lane.loadedKeys = loadedKeys;
      this.#done(lane, decodeMessage(result));
    });
    worker.on('error', () => this.#options.onBroken());
    worker.unref();
    this.#lanes.push(lane);
    return lane;
  }

  #start(lane: Lane, job: ReceivedMessage): void {
    lane.running.push({ job, started: performance.now(), suspected: false });
    const bytes = encodeMessages([job]);
    lane.worker.postMessage({ job: bytes } satisfies LaneOrder, [bytes.buffer]);
  }

  #done(lane: Lane, result: ReceivedMessage): void {
    const index = lane.running.findIndex(({ job }) => job.id === result.id);
    // A job that was given up already; the host is ending.
    if (index < 0) return;
    const [finished] = lane.running.splice(index, 1);
    const next = lane.running[0];
    if (next !== undefined) Object.assign(next, { started: performance.now(), suspected: false });
    const waiting = this.#waiting[lane.group].shift();
    if (waiting !== undefined) this.#start(lane, waiting.job);
    if (finished !== undefined) this.#options.onResult(result, finished.job);
  }

  /** Ends the host when a job overran its deadline, and answers those that waited too long to be of use. */
  #check(): void {
    const now = performance.now();
    const limit = this.#options.jobTimeoutSeconds * 1_000;
    for (const group of ['work', 'making'] as const) {
      const patience = group === 'making' ? limit * makingPatience : limit;
      const late = this.#waiting[group].filter(({ since }) => now - since > patience);
      if (late.length === 0) continue;
      this.#waiting[group] = this.#waiting[group].filter(({ since }) => now - since <= patience);
      for (const { job } of late) this.#refuse(job, new HsmError('unavailable', 'the token has more work than it can do'));
    }
    for (const lane of this.#lanes) {
      const current = lane.running[0];
      if (current === undefined || now - current.started <= (isMaking(current.job) ? limit * makingPatience : limit)) continue;
      // Seen twice in a row: after a pause of this thread the first look comes before the results that arrived meanwhile.
      if (current.suspected) return this.#giveUp(lane, current);
      current.suspected = true;
    }
  }

  #giveUp(lane: Lane, { job }: Running): void {
    lane.running.shift();
    this.#refuse(job, new HsmError('timeout', 'the token did not finish in time'));
    this.#options.onBroken();
  }

  #refuse(job: ReceivedMessage, error: HsmError): void {
    this.#options.onResult({ id: job.id, code: resultError, flags: 0, micros: 0, parts: [encodeError(error)] }, job);
  }
}

function isMaking(job: ReceivedMessage): boolean {
  return operations[operationNamed(job.code)].making;
}

/** A number that is the same for jobs of the same key: the last octet of the MAC that ends its reference. */
function affinity(job: ReceivedMessage): number {
  return job.count > 0 ? (job.find(0)?.at(-1) ?? 0) : 0;
}
