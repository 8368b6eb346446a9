// Routes the jobs of an HSM host: quick ones run on this thread, slow ones in lanes. Results are sent once per turn.
import { availableParallelism } from 'node:os';
import { HsmError, type SessionCounts } from '../api.ts';
import { identityOf, prepareDerivedKey } from '../engine/operations/derivation.ts';
import { ModuleBroken, type Engine } from '../engine/engine.ts';
import { Lanes, type LaneGroup } from './lanes.ts';
import { closeEngine, openEngine, type OpenOptions } from '../engine/open-engine.ts';
import type { Counts, Description } from '../protocol/host-answers.ts';
import type { KeyIdentity } from '../protocol/key-encoding.ts';
import { type EngineOperation, flagDerived, flagSlow, operationNamed, operations } from '../protocol/operations.ts';
import { decodeWithPins } from '../protocol/pins.ts';
import { encodeError } from '../protocol/error-coding.ts';
import { Turns } from './turns.ts';
import { isList, JobsRun, ListRun, makesKey, performOne, type PiecedRun } from './perform.ts';
import {
  json,
  resultError,
  resultLoginNeeded,
  resultModuleBroken,
  resultOk,
  type Message,
  type ReceivedMessage,
} from '../protocol/wire.ts';

/** Duration of the simplest call above which a token counts as remote: all its calls run in parallel in lanes. */
const remoteMicros = 100;
const remoteLanes = 16;
const loginTries = 2;
/** One owns objects, the other one works. */
const sessionsOfThread = 2;
/** Time for one piece of long work: a hundred Ed25519 signatures take eleven milliseconds, a hundred keys fifty. */
const pieceMilliseconds = 2;

/** Receives results, made on this thread or received from a lane. */
export type Reply = (results: readonly (Message | ReceivedMessage)[]) => void;

/** Serves one token. `reply` sends results; `exit` ends the host. */
export class TokenService {
  readonly #reply: Reply;
  readonly #exit: (code: number) => void;
  /** false keeps everything on the caller's thread */
  readonly #mayUseLanes: boolean;
  readonly #deriving = new Map<string, Promise<void>>();
  readonly #logins = new Map<number, number>();
  #engine: Engine | undefined;
  #lanes: Lanes | undefined;
  #remote = false;
  /** work of this thread that is done in pieces */
  #pieced = new Turns<PiecedRun>();
  #results: (Message | ReceivedMessage)[] = [];

  constructor(reply: Reply, exit: (code: number) => void, mayUseLanes = true) {
    this.#reply = reply;
    this.#exit = exit;
    this.#mayUseLanes = mayUseLanes;
  }

  /** Runs the jobs of one batch, those of this thread together. */
  take(jobs: readonly ReceivedMessage[]): void {
    const here: ReceivedMessage[] = [];
    for (const job of jobs) {
      const name = operationNamed(job.code);
      if (name === 'open' || name === 'ping' || name === 'close') {
        this.#runHere(here.splice(0));
        this.#control(name, job);
      } else if (this.#isForHere(name, job)) here.push(job);
    }
    this.#runHere(here);
  }

  #control(name: 'open' | 'ping' | 'close', job: ReceivedMessage): void {
    if (name === 'open') this.#open(job);
    else if (name === 'close') this.#close(job);
    else {
      const counts: Counts = { loadedKeys: this.#loadedKeys, sessions: this.#sessions, memory: process.memoryUsage.rss() };
      this.#finish(ok(job, [json(counts)]));
    }
  }

  /** Returns false if the job was passed on, or refused. */
  #isForHere(name: EngineOperation, job: ReceivedMessage): boolean {
    const engine = this.#engine;
    if (engine === undefined) {
      this.#finish(failed(job, new HsmError('unavailable', 'the token is not open')));
      return false;
    }
    if (name === 'destroy' || name === 'forget') this.#forgetEverywhere(job.identity(0), engine);
    const group = this.#laneFor(job);
    if (group !== undefined) this.#lanes?.run(job, group);
    else if (this.#derivesFirst(job, engine)) void this.#deriveAndRun(job, engine);
    else return true;
    return false;
  }

  #forgetEverywhere(key: KeyIdentity, engine: Engine): void {
    engine.forgetKey(key);
    this.#lanes?.forget(key);
  }

  get #loadedKeys(): number {
    return (this.#engine?.loadedKeys ?? 0) + (this.#lanes?.loadedKeys ?? 0);
  }

  /** The session of this thread counts as idle: while it works, no ping is answered. */
  get #sessions(): SessionCounts {
    const { size, busy, waiting } = this.#lanes?.sessions ?? { size: 0, busy: 0, waiting: 0 };
    return { size: size + 1, busy, waiting };
  }

  /** The lanes that run a job; undefined for jobs of this thread. */
  #laneFor({ code, flags }: ReceivedMessage): LaneGroup | undefined {
    if (this.#lanes === undefined || (!this.#remote && (flags & flagSlow) === 0)) return undefined;
    return operations[operationNamed(code)].making ? 'making' : 'work';
  }

  /** Quick jobs run at once, as far as they take no longer than a piece; lists, and keys to be made, by the turns of their owners. */
  #runHere(jobs: readonly ReceivedMessage[]): void {
    const engine = this.#engine;
    if (jobs.length === 0 || engine === undefined) return;
    const hasPieced = this.#pieced.length > 0;
    const [quick, making]: [ReceivedMessage[], ReceivedMessage[]] = [[], []];
    for (const job of jobs) {
      if (isList(job)) this.#pieced.add(job.owner, new ListRun(engine, job));
      else (makesKey(job) ? making : quick).push(job);
    }
    for (const [owner, own] of byOwner(making)) this.#pieced.add(owner, new JobsRun(engine, own));
    const left = this.#runQuick(engine, quick);
    for (const [owner, own] of byOwner(left)) this.#pieced.putBack(owner, new JobsRun(engine, own));
    if (!hasPieced) this.#goOn();
  }

  /** Runs quick jobs. Returns those that are left when the time of a piece is over. */
  #runQuick(engine: Engine, jobs: readonly ReceivedMessage[]): readonly ReceivedMessage[] {
    const until = performance.now() + pieceMilliseconds;
    for (const [at, job] of jobs.entries()) {
      this.#finish(performOne(engine, job));
      if (performance.now() >= until) return jobs.slice(at + 1);
    }
    return [];
  }

  /** Runs pieces of long work for a moment; then jobs that have arrived meanwhile get their turn. */
  readonly #goOn = (): void => {
    const begun = performance.now();
    const until = begun + pieceMilliseconds;
    for (let now = begun; now < until;) {
      const turns = this.#pieced;
      const turn = turns.take();
      if (turn === undefined) break;
      const results = turn.piece.advance(until);
      const ended = performance.now();
      turns.end(turn.owner, (ended - now) * 1_000);
      now = ended;
      if (results === undefined) turns.putBack(turn.owner, turn.piece);
      else for (const result of results) this.#finish(result);
    }
    if (this.#pieced.length > 0) setImmediate(this.#goOn);
  };

  /** Tells whether the key of a job must be derived first; the iterations would block this thread. */
  #derivesFirst(job: ReceivedMessage, engine: Engine): boolean {
    return (job.flags & flagDerived) !== 0 && !engine.hasDerivedKey(identityOf(job.identity(0), job.part(1)));
  }

  async #deriveAndRun(job: ReceivedMessage, engine: Engine): Promise<void> {
    const secret = job.identity(0);
    const parameters = job.part(1);
    const identity = identityOf(secret, parameters);
    let derivation = this.#deriving.get(identity);
    if (derivation === undefined) {
      // An error here occurs again when the job runs, and is answered then.
      derivation = prepareDerivedKey(engine, secret, parameters).catch(() => {});
      this.#deriving.set(identity, derivation);
      void derivation.finally(() => this.#deriving.delete(identity));
    }
    await derivation;
    this.#runHere([job]);
  }

  #open(job: ReceivedMessage): void {
    try {
      const options = decodeWithPins<OpenOptions>(job.part(0).toString('utf8'));
      const { engine, description } = openEngine({ ...options, cacheKeys: mainShare(options.cacheKeys) });
      this.#engine = engine;
      this.#remote = callMicros(engine) > remoteMicros;
      if (this.#mayUseLanes) this.#lanes = this.#makeLanes(options, description.signatureVariants);
      this.#finish(ok(job, [json({ ...description, isRemote: this.#remote } satisfies Description)]));
    } catch (error) {
      this.#finish(failed(job, error));
      this.#exitSoon(2);
    }
  }

  /** Undefined if the sessions that it may have are enough for this thread alone. */
  #makeLanes(
    { token, cacheKeys, jobTimeoutSeconds, checkAnswers }: OpenOptions,
    signatureVariants: Description['signatureVariants'],
  ): Lanes | undefined {
    const { pin: _, ...address } = token;
    const all = Math.max(2, availableParallelism());
    const most = Math.floor(((token.maxSessions ?? Infinity) - sessionsOfThread) / sessionsOfThread);
    if (most < 1) return undefined;
    const making = Math.min(all, Math.floor(most / 2));
    const work = Math.min(this.#remote ? remoteLanes : all, most - making);
    const shared = this.#remote ? cacheKeys : cacheKeys - mainShare(cacheKeys);
    return new Lanes({
      engine: { token: address, checkAnswers, signatureVariants },
      // A new key is loaded once to test it and then used in other lanes.
      lanes: { work: { count: work, cacheKeys: Math.floor(shared / work) }, making: { count: making, cacheKeys: 1 } },
      jobTimeoutSeconds,
      onResult: (result, job) => this.#takeFromLane(result, job),
      onNoLane: (job) => this.#runHere([job]),
      onBroken: () => this.#exitSoon(4),
    });
  }

  #takeFromLane(result: Message | ReceivedMessage, job: ReceivedMessage): void {
    const answer = result.code === resultLoginNeeded ? this.#logInFor(job) : result;
    if (answer === undefined) {
      this.#lanes?.run(job, this.#laneFor(job) ?? 'work');
      return;
    }
    this.#logins.delete(job.id);
    // Not before: a job that runs again imports the same octets.
    if (job.code === operations.import.code) job.find(1)?.fill(0);
    this.#finish(answer);
  }

  /** Logs in for a job; undefined if the job may run again. */
  #logInFor(job: ReceivedMessage): Message | undefined {
    const tries = (this.#logins.get(job.id) ?? 0) + 1;
    this.#logins.set(job.id, tries);
    try {
      this.#engine?.ensureLogin();
    } catch (error) {
      return error instanceof ModuleBroken ? broken(job, error) : failed(job, error);
    }
    return tries > loginTries ? failed(job, new HsmError('unavailable', 'the token keeps logging out')) : undefined;
  }

  #finish(result: Message | ReceivedMessage): void {
    if (this.#results.length === 0) queueMicrotask(() => this.#flush());
    this.#results.push(result);
    if (result.code !== resultModuleBroken) return;
    // The next host runs the remaining jobs.
    this.#pieced = new Turns();
    this.#exitSoon(3);
  }

  #flush(): void {
    const results = this.#results;
    this.#results = [];
    this.#reply(results);
  }

  #close(job: ReceivedMessage): void {
    this.#lanes?.close();
    this.#pieced = new Turns();
    if (this.#engine !== undefined) closeEngine(this.#engine);
    this.#finish(ok(job, []));
    this.#exitSoon(0);
  }

  #exitSoon(code: number): void {
    setImmediate(() => this.#exit(code));
  }
}

function byOwner(jobs: readonly ReceivedMessage[]): ReadonlyMap<number, readonly ReceivedMessage[]> {
  return Map.groupBy(jobs, ({ owner }) => owner);
}

/** Duration of the simplest call in microseconds, the median of nine. */
function callMicros(engine: Engine): number {
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    engine.random.octets(12);
    return (performance.now() - start) * 1_000;
  });
  return times.sort((a, b) => a - b)[4] as number;
}

/** Number of loaded keys that the main thread may have. The lanes share the rest, for the slow ones: RSA, ML-DSA and the larger curves. */
function mainShare(cacheKeys: number): number {
  return Math.ceil(cacheKeys * 0.8);
}

function ok(job: ReceivedMessage, parts: Message['parts']): Message {
  return { id: job.id, code: resultOk, flags: 0, micros: 0, parts };
}

function broken(job: ReceivedMessage, { message }: ModuleBroken): Message {
  return { ...ok(job, [json({ message })]), code: resultModuleBroken };
}

function failed(job: ReceivedMessage, error: unknown): Message {
  return { id: job.id, code: resultError, flags: 0, micros: 0, parts: [encodeError(error)] };
}
