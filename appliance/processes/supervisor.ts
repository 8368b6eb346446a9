// Keeps the worker processes running: starts them, replaces one that dies, stops them all.
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { defined } from '../../core/base/defined.ts';
import type { Configuration } from '../../core/config/config.ts';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { handOn } from './inherited-sockets.ts';
import { endProcess } from './kept-process.ts';
import { memoryEnvironment } from './memory.ts';
import { openChannel, Unanswered } from './channel.ts';
import { AskedHealth } from './watch/asked-health.ts';
import { Crashes, endWhileStarting } from './watch/crashes.ts';
import { pluginPorts } from './plugin-ports.ts';
import { isDoubtful, lookAtAll, type Looked, requireHandshakes } from './watch/looks.ts';
import { changingTicketKeys } from '../../core/http/listener/ticket-keys.ts';
import { type Orders, type SupervisorHandlers, supervisorRequests, workerPort, workerRequests } from './messages.ts';
import type { WorkerReport } from '../monitoring/health-of-workers.ts';
import { lockFileOfStore } from '../../core/store/files/store-files.ts';
import { HsmError, type HsmErrorKind } from '../../hsm/api.ts';
import { paths } from '../data-directory/paths.ts';
import { followLockFile, heldLockFile } from '../data-directory/lock-file.ts';
import { StartRefused } from '../start-refused.ts';
import { readApplianceCa } from '../tls/sealed-identity.ts';

/** A process that was started and has not ended. */
export type RunningWorker = Looked & {
  readonly number: number;
  readonly process: Worker;
  /** kept though it completes no handshakes: since when, and the latest time that it was told */
  kept?: { readonly sinceMs: number; readonly latestMs: number };
  /** it replaces one that has ended */
  readonly isRespawn: boolean;
  /** its orders were sent; before, it has opened nothing */
  hasBegun: boolean;
  readonly health: AskedHealth;
};

/** Handlers for requests of a worker to the supervisor, beside those in this file. */
export type HandlersFor = (worker: Worker) => Omit<SupervisorHandlers, 'provisioned'>;

export type Workers = {
  /**
   * Resolves when every worker serves, and has completed a handshake on each port; rejects with StartRefused when one cannot start, with
   * its HsmError as the cause, and when they are to end before that.
   */
  readonly ready: Promise<void>;
  /** Resolves when worker 1 has provisioned, with a message to the user after a first start; at the latest when `ready` is settled. */
  readonly provisioned: Promise<string | undefined>;
  /** Those that run at the moment. */
  present(): Iterable<RunningWorker>;
  /**
   * Removes the keys from every worker, and starts no worker again. Resolves when no process holds a key. A worker that does not confirm in
   * time is killed, `requester` later than the others, because it has to answer the request to seal.
   */
  seal(requester: Worker): Promise<void>;
  /** Prepares for the next workers: no new connections, and the files that they open are closed here. */
  retire(): Promise<void>;
  /** Makes every worker call its tokens. One sentence for each that cannot do its work. */
  examine(): Promise<readonly string[]>;
  /** Reports of each worker about the parts of the appliance, within a second. */
  health(): Promise<readonly WorkerReport[]>;
  /** Lets running requests finish (10 s at most) and ends every worker. */
  stop(): Promise<void>;
};

const firstRespawnDelayMs = 100;
const longestRespawnDelayMs = 10_000;
const stopGraceMs = 12_000;
const examinationMs = 15_000;
const healthMs = 1_000;
const sealMs = 3_000;
const requesterSealMs = 10_000;
const retireMs = 5_000;
/** Limit for a worker that completes no handshakes to be kept because another one does not serve. */
const longestKeptMs = 60_000;

/** Parts for the workers of one start. */
type Parts = {
  readonly configuration: Configuration;
  readonly args: readonly string[];
  readonly orders: Promise<Orders>;
  readonly handlersFor: HandlersFor;
  readonly told: Told;
};

type Told = {
  /** `kept`: for the moment, because another one does not serve */
  readonly onStuck: (worker: number, listener: string, kept: boolean) => void;
  readonly onOverloaded: (worker: number, listener: string) => void;
  readonly giveUp: (reason: unknown) => void;
  /** of the tokens that were open in this start, by name: a process that comes later gives its PIN to no other one */
  readonly serials: Record<string, string>;
};

/**
 * Starts the workers, which read the same arguments. Each keeps its number (`KEYSTORED_WORKER`) over respawns, because its
 * audit chain is named by it; number 1 provisions and runs the background jobs. They load the service while the orders are being prepared.
 */
export function superviseWorkers(
  configuration: Configuration,
  args: readonly string[],
  orders: Promise<Orders>,
  handlersFor: HandlersFor,
  told: Told,
): Workers {
  return new SupervisedWorkers({ configuration, args, orders, handlersFor, told });
}

class SupervisedWorkers implements Workers {
  readonly #parts: Parts;
  readonly #numbers: readonly number[];
  readonly #sockets: ReturnType<typeof handOn>['sockets'];
  readonly #running = new Map<number, RunningWorker>();
  readonly #storeLock: SharedStoreLock;
  readonly #crashes: Crashes;
  readonly #tickets: ReturnType<typeof changingTicketKeys>;
  readonly #endFollowing: () => void;
  readonly #endLooks: () => void;
  readonly #provisioned = Promise.withResolvers<string | undefined>();
  readonly ready: Promise<void>;
  readonly provisioned = this.#provisioned.promise;
  #stopping = false;

  constructor(parts: Parts) {
    const { configuration, args, orders, told } = parts;
    this.#parts = parts;
    // The workers share the listening socket and the kernel spreads connections: quicker than passing each one on.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    const { stdio, sockets } = handOn(configuration);
    this.#sockets = sockets;
    cluster.setupPrimary({ exec: fileURLToPath(new URL('../worker.ts', import.meta.url)), args: [...args], stdio });
    const { data, cluster: shared } = configuration;
    this.#crashes = new Crashes({ data, isReplica: shared !== undefined, giveUp: told.giveUp });
    // Others after each seal and unseal, too.
    this.#tickets = changingTicketKeys((ticketKeys) => {
      this.#tell((channel) => channel.request('renewTicketKeys', { ticketKeys }));
      return !this.#stopping;
    });
    this.#endFollowing = followLockFile((lockFile) => this.#tell((channel) => channel.request('renewLockFile', { lockFile })));
    this.#storeLock = new SharedStoreLock(paths.store(configuration.data));
    this.#endLooks = lookAtAll(
      () => (this.#stopping ? [] : this.#running.values()),
      {
        onStuck: (one, listener) => this.#replaceStuck(one, listener),
        onOverloaded: ({ number }, listener) => told.onOverloaded(number, listener),
      },
      {
        management: configuration.listen,
        est: configuration.estListen,
        ...defined({ certificate: configuration.certificateListen }),
        ...pluginPorts(configuration),
      },
    );
    this.#numbers = Array.from({ length: configuration.workers }, (_, index) => index + 1);
    const serving = Promise.all([orders, ...this.#numbers.map((number) => this.#start(number, firstRespawnDelayMs))]);
    this.ready = serving.then(() => this.#requireHandshakes()).catch((error: unknown) => this.#giveUp(error));
  }

  present(): Iterable<RunningWorker> {
    return this.#running.values();
  }

  async seal(requester: Worker): Promise<void> {
    this.#end();
    const sealed = new Map([...this.#running].map(([number, worker]) => [number, sealOne(worker, worker.process === requester)]));
    await inOrder(this.#running, sealed);
  }

  async retire(): Promise<void> {
    this.#end();
    await Promise.all([...this.#running.values()].map(retireOne));
  }

  async examine(): Promise<readonly string[]> {
    const faults = await Promise.all(this.#numbers.map((number) => examineOne(this.#running.get(number))));
    return faults.flatMap((fault, index) => (fault === undefined ? [] : [`worker ${this.#numbers[index]} ${fault}`]));
  }

  health(): Promise<readonly WorkerReport[]> {
    return Promise.all(this.#numbers.map(async (worker) => ({ worker, ...(await healthOf(this.#running.get(worker))) })));
  }

  async stop(): Promise<void> {
    this.#end();
    this.#endFollowing();
    await stopAll(this.#running);
  }

  /** From now on none is started again. */
  #end(): void {
    this.#stopping = true;
    this.#endLooks();
  }

  /** To those that have opened something. */
  #tell(request: (channel: RunningWorker['channel']) => Promise<unknown>): void {
    for (const { channel, hasBegun } of this.#running.values()) if (hasBegun) request(channel).catch(() => undefined);
  }

  async #requireHandshakes(): Promise<void> {
    await requireHandshakes(
      [...this.#running.values()].map(({ channel }) => channel),
      () => readApplianceCa(this.#parts.configuration.data),
    );
  }

  async #giveUp(error: unknown): Promise<never> {
    this.#provisioned.resolve(undefined);
    // A caller that ends the workers on purpose stops them itself: while the appliance is being sealed, those that serve still answer.
    if (this.#stopping) throw error;
    this.#end();
    await stopAll(this.#running);
    throw error;
  }

  /** One after another: the next when all others serve. They may be slow because of what is asked of them, and all are not ended at once. */
  #replaceStuck(one: RunningWorker, listener: string): boolean {
    const { number, process: worker } = one;
    if (this.#stopping || this.#running.get(number) !== one) return true;
    const doOthersServe = this.#numbers.every((other) => other === number || this.#running.get(other)?.serves === true);
    const nowMs = performance.now();
    const { sinceMs, latestMs } = one.kept ?? { sinceMs: nowMs, latestMs: -Infinity };
    const isAgain = nowMs - latestMs < longestKeptMs;
    const isKept = !doOthersServe && (!isAgain || nowMs - sinceMs < longestKeptMs);
    if (!isKept || !isAgain) this.#parts.told.onStuck(number, listener, isKept);
    one.kept = { sinceMs: isAgain ? sinceMs : nowMs, latestMs: nowMs };
    if (isKept) return false;
    // From now on it does not count as one that serves.
    one.serves = false;
    worker.process.kill('SIGKILL');
    return true;
  }

  /** Resolves when it serves. Rejects with StartRefused; one that ends later is started again. */
  #start(number: number, delayMs: number, isRespawn = false): Promise<void> {
    const one = this.#fork(number, isRespawn);
    const { process: worker } = one;
    this.#running.set(number, one);
    const startedMs = performance.now();
    return new Promise((resolve, reject) => {
      // Of one that ends before it has answered, the event of its end tells more.
      const failed = (error: unknown): void => (error instanceof Unanswered && error.isEnd ? undefined : reject(error));
      worker.once('online', () => void this.#begin(number, one).then(resolve, failed));
      const ended = (how: string): void => {
        if (this.#running.get(number)?.process === worker) this.#running.delete(number);
        // A terminal signals the whole group, and this worker had not loaded yet: later it ignores signals. It has not read its orders,
        // even if they were sent. A begun first start is to be finished.
        if (!this.#stopping && (how === 'SIGINT' || how === 'SIGTERM')) {
          return void this.#start(number, delayMs, isRespawn).then(resolve, reject);
        }
        reject(new StartRefused(endWhileStarting(how, this.#parts.configuration.data)));
        this.#startAgain(number, how, { startedMs, delayMs });
      };
      worker.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
      // An unhandled error would end the supervisor: a message to a worker that has just ended, or a machine that cannot start another
      // process.
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (worker.process.pid === undefined) ended(error.code ?? error.message);
      });
    });
  }

  #fork(number: number, isRespawn: boolean): RunningWorker {
    const worker = cluster.fork({ ...memoryEnvironment(), KEYSTORED_WORKER: String(number) });
    const handlers: SupervisorHandlers = {
      ...this.#parts.handlersFor(worker),
      provisioned: ({ announcement }) => this.#provisioned.resolve(announcement),
    };
    const channel = openChannel({
      ...{ port: workerPort(worker), asks: workerRequests, serves: supervisorRequests, handlers },
      report: (line) => warnOnStandardError(`worker ${number}: ${line}`),
    });
    return { number, process: worker, channel, isRespawn, hasBegun: false, serves: false, misses: new Map(), health: new AskedHealth() };
  }

  /** Gives it its orders, when it is its turn. Does not resolve where the workers are to end before that. */
  async #begin(number: number, one: RunningWorker): Promise<void> {
    const { configuration, orders } = this.#parts;
    const { provisions = false, ...order } = await orders;
    const isFirst = number === 1 && !one.isRespawn;
    if (!provisions) this.#provisioned.resolve(undefined);
    if (!isFirst) await this.provisioned;
    // A PIN that was refused once is not tried by the others.
    if (this.#stopping) return new Promise(() => undefined);
    one.hasBegun = true;
    const { refused, hsm, serials } = await one.channel.request('begin', {
      ...order,
      provisions: provisions && isFirst,
      ...{ sockets: this.#sockets, serials: this.#parts.told.serials },
      ticketKeys: this.#tickets.keys(),
      lockFile: heldLockFile(configuration.data),
      storeLock: this.#storeLock.expected([...this.#running.values()].some(({ serves }) => serves) || configuration.cluster !== undefined),
    });
    one.serves = refused === undefined;
    Object.assign(this.#parts.told.serials, serials);
    if (refused === undefined) return this.#storeLock.note();
    if (one.isRespawn) endRefused(number, one.process, refused, hsm);
    throw new StartRefused(refused, hsm === undefined ? {} : { cause: new HsmError(hsm, refused) });
  }

  /** `how` it ended. */
  #startAgain(number: number, how: string, { startedMs, delayMs }: { readonly startedMs: number; readonly delayMs: number }): void {
    if (this.#stopping) return;
    // Until another process writes, they would answer from the state before its last commit.
    for (const { channel } of this.#running.values()) channel.request('showCommits', undefined).catch(() => undefined);
    warnOnStandardError(`worker ${number} ended (${how}); starting it again`);
    const livedMs = performance.now() - startedMs;
    this.#crashes.note(number, how, livedMs);
    const isCalm = livedMs > longestRespawnDelayMs;
    const nextMs = isCalm ? firstRespawnDelayMs : Math.min(delayMs * 2, longestRespawnDelayMs);
    setTimeout(() => {
      if (!this.#stopping) this.#start(number, nextMs, true).catch(() => undefined);
    }, delayMs);
  }
}

/**
 * A token or a disk is often away for a moment: the end of this process starts another one, later each time. A PIN that was refused is not
 * tried again.
 */
function endRefused(number: number, worker: Worker, refused: string, hsm: HsmErrorKind | undefined): void {
  warnOnStandardError(`worker ${number} cannot start again: ${refused}`);
  if (hsm !== 'pin-refused') worker.process.kill('SIGKILL');
}

/** With another file of locks than the others have, a worker would write while they do. */
class SharedStoreLock {
  readonly #directory: string;
  #file: string | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** `isShared`: others have the store open. If none has, the present file will do. */
  expected(isShared: boolean): string | undefined {
    if (!isShared) this.#file = undefined;
    return this.#file;
  }

  note(): void {
    this.#file ??= lockFileOfStore(this.#directory);
  }
}

/** Returns the reason for which a worker cannot do its work; undefined if its tokens have just answered. */
async function examineOne(worker: RunningWorker | undefined): Promise<string | undefined> {
  if (worker?.process.isConnected() !== true) return 'is being started again';
  try {
    return (await worker.channel.request('examine', undefined, examinationMs)).fault;
  } catch (error) {
    return error instanceof Unanswered ? error.message : 'could not be examined';
  }
}

/** A first start does not count as a fault; a worker that has ended does until its successor serves. */
async function healthOf(worker: RunningWorker | undefined): Promise<Omit<WorkerReport, 'worker'>> {
  if (worker?.process.isConnected() !== true) return { fault: 'is being started again' };
  if (isDoubtful(worker)) return { fault: 'completes no handshakes', hangs: true };
  return worker.health.report(() => worker.channel.request('health', undefined, healthMs), worker.isRespawn);
}

async function stopAll(running: ReadonlyMap<number, RunningWorker>): Promise<void> {
  await inOrder(running, new Map([...running].map(([number, worker]) => [number, stopOne(worker)])));
}

/** Waits for the end of each worker: for worker 1, which signs the records of the others, last. */
async function inOrder(running: ReadonlyMap<number, RunningWorker>, ends: ReadonlyMap<number, Promise<void>>): Promise<void> {
  const [first, others] = [running.get(1), [...ends].filter(([number]) => number !== 1)];
  await Promise.all(others.map(([, ended]) => ended));
  first?.channel.request('alone', undefined).catch(() => undefined);
  await ends.get(1);
}

function sealOne(worker: RunningWorker, isRequester: boolean): Promise<void> {
  return worker.channel.request('seal', undefined, isRequester ? requesterSealMs : sealMs).catch(() => endNow(worker));
}

function retireOne(worker: RunningWorker): Promise<void> {
  return worker.channel.request('retire', undefined, retireMs).catch(() => endNow(worker));
}

function endNow({ process: worker }: RunningWorker): Promise<void> {
  return endProcess(worker.process);
}

function stopOne(running: RunningWorker): Promise<void> {
  const { process: worker, channel, hasBegun } = running;
  return hasBegun ? endProcess(worker.process, () => channel.request('stop', undefined), stopGraceMs) : endNow(running);
}
