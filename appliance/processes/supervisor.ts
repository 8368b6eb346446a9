// Keeps the worker processes running: starts them, replaces one that dies, stops them all.
import cluster, { type Worker } from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Configuration } from '../../core/config/config.ts';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { handOn } from './inherited-sockets.ts';
import { endProcess } from './kept-process.ts';
import { memoryEnvironment } from './memory.ts';
import { openChannel, Unanswered } from './channel.ts';
import { AskedHealth } from './watch/asked-health.ts';
import { Crashes, endWhileStarting } from './watch/crashes.ts';
import { isDoubtful, lookAtAll, type Looked, requireHandshakes } from './watch/looks.ts';
import { changingTicketKeys } from '../../core/http/listener/ticket-keys.ts';
import { type Orders, type SupervisorHandlers, supervisorRequests, workerPort, workerRequests } from './messages.ts';
import type { WorkerReport } from '../monitoring/health-of-workers.ts';
import { lockFileOfStore } from '../../core/store/files/store-files.ts';
import { HsmError } from '../../hsm/api.ts';
import { paths } from '../data-directory/paths.ts';
import { followLockFile, heldLockFile } from '../data-directory/lock-file.ts';
import { StartRefused } from '../start-refused.ts';
import { readApplianceCa } from '../tls/sealed-identity.ts';

/** A process that was started and has not ended. */
export type RunningWorker = Looked & {
  readonly process: Worker;
  /** it replaces one that has ended */
  readonly isRespawn: boolean;
  /** it has its orders; before, it has opened nothing */
  hasBegun: boolean;
  readonly health: AskedHealth;
};

/** What the supervisor does for a worker that asks, beside what is done here. */
export type HandlersFor = (worker: Worker) => Omit<SupervisorHandlers, 'provisioned'>;

export type Workers = {
  /**
   * Resolves when every worker serves, and has completed a handshake on each port; rejects with StartRefused when one cannot start, with its
   * HsmError as the cause, and when they are to end before that.
   */
  readonly ready: Promise<void>;
  /** Resolves when worker 1 has provisioned, with what to tell the user after a first start; at the latest when `ready` is settled. */
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
  /** What each worker says of the parts of the appliance, within a second. */
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

/**
 * Starts the workers, which read the same arguments. Each keeps its number (`KEYSTORED_WORKER`) over respawns, because its
 * audit chain is named by it; number 1 provisions and runs the background jobs. They load the service while the orders are being prepared.
 */
export function superviseWorkers(
  configuration: Configuration,
  args: readonly string[],
  orders: Promise<Orders>,
  handlersFor: HandlersFor,
  told: { readonly onStuck: (worker: number, listener: string) => void; readonly giveUp: (reason: unknown) => void },
): Workers {
  // The workers share the listening socket and the kernel spreads connections: quicker than passing each one on.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { stdio, sockets } = handOn(configuration);
  cluster.setupPrimary({ exec: fileURLToPath(new URL('../worker.ts', import.meta.url)), args: [...args], stdio });
  let stopping = false;
  const { data, cluster: shared } = configuration;
  const crashes = new Crashes({ data, isReplica: shared !== undefined, giveUp: told.giveUp });
  const running = new Map<number, RunningWorker>();
  // Others after each seal and unseal, too.
  const tickets = changingTicketKeys((ticketKeys) => {
    for (const { channel, hasBegun } of running.values())
      if (hasBegun) channel.request('renewTicketKeys', { ticketKeys }).catch(() => undefined);
    return !stopping;
  });
  const endFollowing = followLockFile((lockFile) => {
    for (const { channel, hasBegun } of running.values())
      if (hasBegun) channel.request('renewLockFile', { lockFile }).catch(() => undefined);
  });
  const storeLock = new SharedStoreLock(paths.store(configuration.data));
  const provisioned = Promise.withResolvers<string | undefined>();
  const handlers = (worker: Worker): SupervisorHandlers => ({
    ...handlersFor(worker),
    provisioned: ({ announcement }) => provisioned.resolve(announcement),
  });

  const startOne = (number: number, delayMs: number, isRespawn = false): Promise<void> => {
    const worker = cluster.fork({ ...memoryEnvironment(), KEYSTORED_WORKER: String(number) });
    const channel = openChannel({
      ...{ port: workerPort(worker), asks: workerRequests, serves: supervisorRequests, handlers: handlers(worker) },
      report: (line) => warnOnStandardError(`worker ${number}: ${line}`),
    });
    const one: RunningWorker = {
      process: worker,
      channel,
      isRespawn,
      hasBegun: false,
      serves: false,
      misses: new Map(),
      health: new AskedHealth(),
    };
    running.set(number, one);
    const started = performance.now();
    return new Promise((resolve, reject) => {
      const begin = async (): Promise<void> => {
        const { provisions = false, ...order } = await orders;
        const isFirst = number === 1 && !isRespawn;
        if (!provisions) provisioned.resolve(undefined);
        if (!isFirst) await provisioned.promise;
        // A PIN that was refused once is not tried by the others.
        if (stopping) return;
        one.hasBegun = true;
        const { refused, hsm } = await channel.request('begin', {
          ...order,
          provisions: provisions && isFirst,
          sockets,
          ticketKeys: tickets.keys(),
          lockFile: heldLockFile(configuration.data),
          storeLock: storeLock.expected([...running.values()].some((other) => other.serves) || configuration.cluster !== undefined),
        });
        one.serves = refused === undefined;
        if (one.serves) storeLock.note();
        if (refused === undefined) return resolve();
        reject(new StartRefused(refused, hsm === undefined ? {} : { cause: new HsmError(hsm, refused) }));
        if (!isRespawn) return;
        warnOnStandardError(`worker ${number} cannot start again: ${refused}`);
        // A token or a disk is often away for a moment: the end of this process starts another one, later each time. A PIN that was refused
        // is not tried again.
        if (hsm !== 'pin-refused') worker.process.kill('SIGKILL');
      };
      worker.once('online', () => void begin().catch(reject));
      const ended = (how: string): void => {
        if (running.get(number)?.process === worker) running.delete(number);
        // A terminal signals the whole group, and this worker did not ignore signals yet. What a first start has begun is to be finished.
        if (!one.hasBegun && !stopping && (how === 'SIGINT' || how === 'SIGTERM')) {
          return void startOne(number, delayMs, isRespawn).then(resolve, reject);
        }
        reject(new StartRefused(endWhileStarting(how, configuration.data)));
        if (stopping) return;
        // Until another process writes, they would answer from the state before its last commit.
        for (const { channel: other } of running.values()) other.request('showCommits', undefined).catch(() => undefined);
        warnOnStandardError(`worker ${number} ended (${how}); starting it again`);
        crashes.note(number, how, performance.now() - started);
        const calm = performance.now() - started > longestRespawnDelayMs;
        const next = calm ? firstRespawnDelayMs : Math.min(delayMs * 2, longestRespawnDelayMs);
        setTimeout(() => {
          if (!stopping) startOne(number, next, true).catch(() => undefined);
        }, delayMs);
      };
      worker.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
      // An unhandled error would end the supervisor: a message to a worker that has just ended, or a machine that cannot start another
      // process.
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (worker.process.pid === undefined) ended(error.code ?? error.message);
      });
    });
  };

  const endLooks = lookAtAll(
    () => (stopping ? [] : running.values()),
    ({ process: worker }, listener) => {
      const [number] = [...running].find(([, one]) => one.process === worker) ?? [];
      if (number === undefined || stopping) return;
      told.onStuck(number, listener);
      worker.process.kill('SIGKILL');
    },
    { management: configuration.listen, est: configuration.estListen },
  );
  const numbers = Array.from({ length: configuration.workers }, (_, index) => index + 1);
  const serving = Promise.all([orders, ...numbers.map((number) => startOne(number, firstRespawnDelayMs))]);
  const ca = (): string => readApplianceCa(configuration.data);
  const ready = serving.then(() =>
    requireHandshakes(
      [...running.values()].map(({ channel }) => channel),
      ca,
    ),
  );
  return {
    provisioned: provisioned.promise,
    ready: ready.then(
      () => undefined,
      async (error: unknown) => {
        provisioned.resolve(undefined);
        // Who ends them on purpose sees to them: while the appliance is being sealed, those that serve still answer.
        if (stopping) throw error;
        stopping = true;
        endLooks();
        endFollowing();
        await stopAll(running);
        throw error;
      },
    ),
    present: () => running.values(),
    async seal(requester) {
      stopping = true;
      endLooks();
      const sealed = new Map([...running].map(([number, worker]) => [number, sealOne(worker, worker.process === requester)]));
      await inOrder(running, sealed);
    },
    async retire() {
      stopping = true;
      endLooks();
      await Promise.all([...running.values()].map(retireOne));
    },
    async examine() {
      const faults = await Promise.all(numbers.map((number) => examineOne(running.get(number))));
      return faults.flatMap((fault, index) => (fault === undefined ? [] : [`worker ${numbers[index]} ${fault}`]));
    },
    health: () => Promise.all(numbers.map(async (worker) => ({ worker, ...(await healthOf(running.get(worker))) }))),
    async stop() {
      stopping = true;
      endLooks();
      endFollowing();
      await stopAll(running);
    },
  };
}

/** With another file of locks than the others have, a worker would write while they do. */
class SharedStoreLock {
  readonly #directory: string;
  #file: string | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** `isShared`: others have the store open. Where none has, what is there will do. */
  expected(isShared: boolean): string | undefined {
    if (!isShared) this.#file = undefined;
    return this.#file;
  }

  note(): void {
    this.#file ??= lockFileOfStore(this.#directory);
  }
}

/** Why a worker cannot do its work; undefined when its tokens have just answered. */
async function examineOne(worker: RunningWorker | undefined): Promise<string | undefined> {
  if (worker?.process.isConnected() !== true) return 'is being started again';
  try {
    return (await worker.channel.request('examine', undefined, examinationMs)).fault;
  } catch (error) {
    return error instanceof Unanswered ? error.message : 'could not be examined';
  }
}

/** A first start is no fault; a worker that has ended is one until its successor serves. */
async function healthOf(worker: RunningWorker | undefined): Promise<Omit<WorkerReport, 'worker'>> {
  if (worker?.process.isConnected() !== true) return { fault: 'is being started again' };
  if (isDoubtful(worker)) return { fault: 'completes no handshakes', hangs: true };
  return worker.health.report(() => worker.channel.request('health', undefined, healthMs), worker.isRespawn);
}

async function stopAll(running: ReadonlyMap<number, RunningWorker>): Promise<void> {
  await inOrder(running, new Map([...running].map(([number, worker]) => [number, stopOne(worker)])));
}

/** Waits for what each worker was asked to do: for worker 1, which signs what the others have written, last. */
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
