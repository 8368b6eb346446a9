// The worker threads of a host: assigns jobs to them, limits how long a job may wait and run, and ends the host when one hangs.
import { Worker } from 'node:worker_threads';
import { HsmError, type SessionCounts } from '../api.ts';
import type { EngineOptions } from '../engine/engine.ts';
import type { KeyIdentity } from '../protocol/key-encoding.ts';
import type { LaneAnswer, LaneOrder } from './lane.ts';
import { Turns } from './turns.ts';
import { operationNamed, operations } from '../protocol/operations.ts';
import { encodeError } from '../protocol/error-coding.ts';
import { decodeMessage, encodeMessages, resultError, resultNoSession, type Message, type ReceivedMessage } from '../protocol/wire.ts';

/** `work` serves requests; `making` makes keys, so that no signature waits behind the generation of an RSA key. */
export type LaneGroup = 'work' | 'making';

export type LaneOptions = {
  readonly engine: Omit<EngineOptions, 'cacheKeys'>;
  readonly lanes: Readonly<Record<LaneGroup, { readonly count: number; readonly cacheKeys: number }>>;
  readonly jobTimeoutSeconds: number;
  /** receives the result of a finished job */
  onResult(result: Message | ReceivedMessage, job: ReceivedMessage): void;
  /** receives a job that no lane can run, because the token has no session for one */
  onNoLane(job: ReceivedMessage): void;
  /** called when a job exceeded its deadline or a thread died: the host must end after sending its results */
  onBroken(): void;
};

type Waiting = { readonly job: ReceivedMessage; readonly since: number };
type Running = { readonly job: ReceivedMessage; started: number; suspected: boolean };
type Lane = { readonly worker: Worker; readonly group: LaneGroup; readonly running: Running[]; loadedKeys: number };

/** Jobs per lane: two, so that the second one can start as soon as the first is done. */
const depth = 2;
const watchMilliseconds = 250;
const makingPatience = 10;
/** After this time a lane is tried again that the token had no session for. */
const sessionsAgainMilliseconds = 60_000;

export class Lanes {
  readonly #options: LaneOptions;
  readonly #lanes: Lane[] = [];
  readonly #turns: Readonly<Record<LaneGroup, Turns<Waiting>>> = { work: new Turns(), making: new Turns() };
  readonly #watch: NodeJS.Timeout;
  /** lanes that the token had sessions for when it had none for another one, and until when that counts */
  readonly #had: Partial<Record<LaneGroup, { readonly count: number; readonly until: number }>> = {};

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#check(), watchMilliseconds);
    this.#watch.unref();
  }

  get loadedKeys(): number {
    return this.#lanes.reduce((total, lane) => total + lane.loadedKeys, 0);
  }

  /** Sessions allowed, sessions that work, and jobs that wait behind another one or for a lane. */
  get sessions(): SessionCounts {
    const size = this.#most('work') + this.#most('making');
    const busy = this.#lanes.filter(({ running }) => running.length > 0).length;
    const taken = this.#lanes.reduce((total, { running }) => total + running.length, 0);
    return { size, busy, waiting: taken - busy + this.#turns.work.length + this.#turns.making.length };
  }

  /** Starts a job in a lane of the group, or queues it for the turn of its owner. */
  run(job: ReceivedMessage, wanted: LaneGroup): void {
    const group = this.#most(wanted) > 0 ? wanted : wanted === 'work' ? 'making' : 'work';
    if (this.#most(group) === 0) return this.#options.onNoLane(job);
    const lane = this.#choose(group, job);
    if (lane === undefined) return this.#turns[group].add(job.owner, { job, since: performance.now() });
    this.#turns[group].begin(job.owner);
    this.#start(lane, job);
  }

  /** Drops a key in every lane. */
  forget(key: KeyIdentity): void {
    for (const { worker } of this.#lanes) worker.postMessage({ forget: key } satisfies LaneOrder, []);
  }

  close(): void {
    clearInterval(this.#watch);
  }

  /** Chooses the least busy lane, or a new one within the limit; among equals the lane that has probably loaded the key. */
  #choose(group: LaneGroup, job: ReceivedMessage): Lane | undefined {
    const lanes = this.#lanes.filter((lane) => lane.group === group);
    const load = Math.min(...lanes.map((lane) => lane.running.length));
    if (load > 0 && lanes.length < this.#most(group)) return this.#addLane(group);
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
      const message = decodeMessage(result);
      if (message.code === resultNoSession) this.#giveUp(lane);
      else this.#done(lane, message);
    });
    worker.on('error', () => this.#options.onBroken());
    worker.unref();
    this.#lanes.push(lane);
    return lane;
  }

  /** Number of lanes of a group that there may be. */
  #most(group: LaneGroup): number {
    const had = this.#had[group];
    if (had === undefined || performance.now() > had.until) return this.#options.lanes[group].count;
    return Math.min(had.count, this.#options.lanes[group].count);
  }

  /** Ends a lane that could not begin, and runs its jobs in others, or elsewhere. */
  #giveUp(lane: Lane): void {
    const { group, running, worker } = lane;
    const place = this.#lanes.indexOf(lane);
    if (place < 0) return;
    this.#lanes.splice(place, 1);
    void worker.terminate();
    const count = this.#lanes.filter((other) => other.group === group).length;
    this.#had[group] = { count, until: performance.now() + sessionsAgainMilliseconds };
    for (const { job } of running) this.#runAgain(job, group);
    // Nothing else would take what waits for a group without lanes.
    if (count > 0) return;
    for (let left = this.#turns[group].take(); left !== undefined; left = this.#turns[group].take()) this.#runAgain(left.piece.job, group);
  }

  #runAgain(job: ReceivedMessage, group: LaneGroup): void {
    this.#turns[group].end(job.owner, 0);
    this.run(job, group);
  }

  #start(lane: Lane, job: ReceivedMessage): void {
    lane.running.push({ job, started: performance.now(), suspected: false });
    const bytes = encodeMessages([job]);
    lane.worker.postMessage({ job: bytes } satisfies LaneOrder, [bytes.buffer]);
  }

  #done(lane: Lane, result: ReceivedMessage): void {
    const index = lane.running.findIndex(({ job }) => job.id === result.id);
    // The job was abandoned before; the host is ending.
    if (index < 0) return;
    const [finished] = lane.running.splice(index, 1);
    const next = lane.running[0];
    if (next !== undefined) Object.assign(next, { started: performance.now(), suspected: false });
    const turns = this.#turns[lane.group];
    if (finished !== undefined) turns.end(finished.job.owner, result.micros);
    const waiting = turns.take();
    if (waiting !== undefined) this.#start(lane, waiting.piece.job);
    if (finished !== undefined) this.#options.onResult(result, finished.job);
  }

  /** Ends the host when a job exceeds its deadline, and rejects jobs that have waited too long. */
  #check(): void {
    const now = performance.now();
    const limit = this.#options.jobTimeoutSeconds * 1_000;
    for (const group of ['work', 'making'] as const) {
      const patience = group === 'making' ? limit * makingPatience : limit;
      const late = this.#turns[group].remove(({ since }) => now - since > patience);
      for (const { job } of late) this.#refuse(job, new HsmError('unavailable', 'the token has more work than it can do'));
    }
    for (const lane of this.#lanes) {
      const current = lane.running[0];
      if (current === undefined || now - current.started <= (isMaking(current.job) ? limit * makingPatience : limit)) continue;
      // Two checks in a row must agree: after a pause of this thread the first check runs before the results that have arrived.
      if (current.suspected) return this.#abandon(lane, current);
      current.suspected = true;
    }
  }

  #abandon(lane: Lane, { job }: Running): void {
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

/** A number that is equal for jobs of the same key: the last octet of its reference, which ends with the MAC. */
function affinity(job: ReceivedMessage): number {
  return job.count > 0 ? (job.find(0)?.at(-1) ?? 0) : 0;
}
