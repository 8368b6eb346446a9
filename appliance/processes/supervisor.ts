// Keeps the worker processes running: starts them, replaces one that dies, stops them all.
import cluster, { type Worker } from 'node:cluster';
import { join } from 'node:path';
import type { Configuration } from '../../core/config/config.ts';
import { journalMark } from '../../core/log/journal.ts';
import { askWorker, hearRequests } from './worker-channel.ts';
import { handOn, type HandedSockets } from './inherited-sockets.ts';
import type { GivenPins } from '../state/hsm-config.ts';
import { memoryEnvironment } from './memory.ts';
import { StartRefused } from '../state/start-refused.ts';

/** What a worker tells the supervisor. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly reason: string }
  /** `fault`: why it cannot do its work now; none when its tokens have just answered */
  | { readonly type: 'examined'; readonly fault?: string };
/** What the supervisor tells a worker. */
export type SupervisorMessage =
  /** the first message: what this worker is to be */
  | ({ readonly type: 'begin'; readonly sockets: HandedSockets } & Orders)
  | { readonly type: 'stop' }
  /** all others have ended or are sealed: worker 1, which signs for them, may do the same */
  | { readonly type: 'alone' }
  | { readonly type: 'examine' };

/** `sealed`: holds no key and waits for the PIN. `pins`: given by a person, in place of the configured sources. */
export type Orders = { readonly sealed: boolean; readonly pins?: GivenPins | undefined };

/** Does what a worker asks of the supervisor; see worker-channel.ts. */
export type ServeRequest = (name: string, argument: unknown, worker: Worker) => Promise<unknown>;

export type Workers = {
  /** Resolves when every worker serves; rejects with StartRefused when one cannot start. */
  readonly ready: Promise<void>;
  /** Those that run at the moment. */
  present(): Iterable<Worker>;
  /**
   * Takes the keys out of every worker and starts none again. Resolves when none of their processes holds a key; one that does not say so
   * in time is ended, `requester` later than the others, because somebody waits there for the answer.
   */
  seal(requester: Worker): Promise<void>;
  /** Makes room for the workers that come next: no new connections, and nothing of theirs is open here any more. */
  retire(): Promise<void>;
  /** Has every worker call its tokens. One sentence for each that is not fit. */
  examine(): Promise<readonly string[]>;
  /** Lets running requests finish (10 s at most) and ends every worker. */
  stop(): Promise<void>;
};

const firstRespawnDelayMs = 100;
const longestRespawnDelayMs = 10_000;
const stopGraceMs = 12_000;
const examinationMs = 15_000;
const sealMs = 1_000;
const requesterSealMs = 10_000;
const retireMs = 5_000;

/**
 * Starts the workers, which read the same arguments. Each keeps its number (`KEYSTORED_WORKER`) over respawns, because its
 * audit chain carries it; number 1 runs the background jobs.
 */
export function superviseWorkers(
  configuration: Configuration,
  args: readonly string[],
  orders: Orders,
  serveRequest: ServeRequest,
): Workers {
  // The workers share the listening socket and the kernel spreads connections: quicker than passing each one on.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { stdio, sockets } = handOn(configuration);
  cluster.setupPrimary({ exec: join(import.meta.dirname, '../worker.ts'), args: [...args], stdio });
  let stopping = false;
  const running = new Map<number, Worker>();

  const startOne = (number: number, delayMs: number): Promise<void> => {
    const worker = cluster.fork({ ...memoryEnvironment(), KEYSTORED_WORKER: String(number) });
    running.set(number, worker);
    hearRequests(worker, serveRequest);
    const begin: SupervisorMessage = { type: 'begin', sockets, ...orders };
    worker.once('online', () => worker.send(begin));
    const started = performance.now();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: WorkerMessage) => {
        if (message.type === 'ready') resolve();
        if (message.type === 'refused') reject(new StartRefused(message.reason));
      });
      const ended = (how: string): void => {
        if (running.get(number) === worker) running.delete(number);
        reject(new StartRefused(`a worker process ended while starting (${how}); its message stands above`));
        if (stopping) return;
        console.error(`${journalMark('warn')}keystored: worker ${number} ended (${how}); starting it again`);
        const calm = performance.now() - started > longestRespawnDelayMs;
        const next = calm ? firstRespawnDelayMs : Math.min(delayMs * 2, longestRespawnDelayMs);
        setTimeout(() => {
          if (!stopping) startOne(number, next).catch(() => undefined);
        }, delayMs);
      };
      worker.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`));
      // Without a listener it would end the supervisor, and everything with it: a message to a worker that has just ended, or a machine
      // that has no room for another process.
      worker.on('error', (error: NodeJS.ErrnoException) => {
        if (worker.process.pid === undefined) ended(error.code ?? error.message);
      });
    });
  };

  const numbers = Array.from({ length: configuration.workers }, (_, index) => index + 1);
  const ready = Promise.all(numbers.map((number) => startOne(number, firstRespawnDelayMs)));
  return {
    ready: ready.then(
      () => undefined,
      async (error: unknown) => {
        stopping = true;
        await stopAll(running);
        throw error;
      },
    ),
    present: () => running.values(),
    async seal(requester) {
      stopping = true;
      const sealed = new Map([...running].map(([number, worker]) => [number, sealOne(worker, worker === requester)]));
      await inOrder(running, sealed);
    },
    async retire() {
      stopping = true;
      await Promise.all([...running.values()].map(retireOne));
    },
    async examine() {
      const faults = await Promise.all(numbers.map((number) => examineOne(running.get(number))));
      return faults.flatMap((fault, index) => (fault === undefined ? [] : [`worker ${numbers[index]} ${fault}`]));
    },
    async stop() {
      stopping = true;
      await stopAll(running);
    },
  };
}

function examineOne(worker: Worker | undefined): Promise<string | undefined> {
  if (worker?.isConnected() !== true) return Promise.resolve('is being started again');
  return new Promise((resolve) => {
    const settle = (fault: string | undefined): void => {
      clearTimeout(late);
      worker.off('message', onMessage);
      worker.off('exit', onExit);
      resolve(fault);
    };
    const onMessage = (message: WorkerMessage): void => {
      if (message.type === 'examined') settle(message.fault);
    };
    const onExit = (): void => settle('has just ended');
    const late = setTimeout(() => settle('does not answer'), examinationMs);
    worker.on('message', onMessage);
    worker.once('exit', onExit);
    const message: SupervisorMessage = { type: 'examine' };
    worker.send(message);
  });
}

async function stopAll(running: ReadonlyMap<number, Worker>): Promise<void> {
  await inOrder(running, new Map([...running].map(([number, worker]) => [number, stopOne(worker)])));
}

/** Waits for what each worker was told to do: for worker 1, which signs what the others have written, last. */
async function inOrder(running: ReadonlyMap<number, Worker>, ends: ReadonlyMap<number, Promise<void>>): Promise<void> {
  const [first, others] = [running.get(1), [...ends].filter(([number]) => number !== 1)];
  await Promise.all(others.map(([, ended]) => ended));
  const message: SupervisorMessage = { type: 'alone' };
  if (first?.isConnected() === true) first.send(message);
  await ends.get(1);
}

async function sealOne(worker: Worker, isRequester: boolean): Promise<void> {
  if ((await askWorker(worker, 'seal', isRequester ? requesterSealMs : sealMs)) === undefined) await endNow(worker);
}

async function retireOne(worker: Worker): Promise<void> {
  if ((await askWorker(worker, 'retire', retireMs)) === undefined) await endNow(worker);
}

async function endNow(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.process.kill('SIGKILL');
  await gone;
}

async function stopOne(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const message: SupervisorMessage = { type: 'stop' };
  if (worker.isConnected()) worker.send(message);
  const late = setTimeout(() => worker.process.kill('SIGKILL'), stopGraceMs);
  await gone;
  clearTimeout(late);
}
