// What worker processes and their supervisor say to one another over the cluster channel, as questions with answers.
import type { Worker } from 'node:cluster';

/** Asked of every worker. */
export type Question = 'metrics' | 'seal' | 'retire';

/** A worker's message to the supervisor. */
export type FromWorker =
  | { readonly type: 'request'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown };

/** The supervisor's message to a worker. */
export type FromSupervisor =
  | { readonly type: 'reply'; readonly id: number; readonly result?: unknown; readonly refusal?: string }
  | { readonly type: 'ask'; readonly id: number; readonly question: Question };

/** A worker that says nothing for so long is left out: sums without it are better than none. */
const patienceMs = 2_000;

let latestId = 0;

/** Asks a worker; undefined when it has said nothing in that time, or has ended. */
export function askWorker(worker: Worker, question: Question, waitMs = patienceMs): Promise<unknown> {
  if (!worker.isConnected()) return Promise.resolve(undefined);
  const id = ++latestId;
  return new Promise((resolve) => {
    const settle = (answer: unknown): void => {
      clearTimeout(late);
      worker.off('message', onMessage).off('exit', onExit);
      resolve(answer);
    };
    const onMessage = (message: FromWorker): void => {
      if (message.type === 'answer' && message.id === id) settle(message.answer);
    };
    const onExit = (): void => settle(undefined);
    const late = setTimeout(onExit, waitMs);
    worker.on('message', onMessage).on('exit', onExit);
    send(worker, { type: 'ask', id, question });
  });
}

/** What the supervisor refuses; the message is a code of the error table, with seconds to wait behind a space where it has them. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Hears requests of a worker and sends what `serve` answers; a Refusal is told, other errors are the supervisor's own. */
export function hearRequests(worker: Worker, serve: (name: string, argument: unknown, worker: Worker) => Promise<unknown>): void {
  worker.on('message', (message: FromWorker) => {
    if (message.type !== 'request') return;
    const { id, name, argument } = message;
    serve(name, argument, worker).then(
      (result) => send(worker, { type: 'reply', id, result }),
      (error: unknown) => send(worker, { type: 'reply', id, refusal: error instanceof Refusal ? error.message : 'internal-error' }),
    );
  });
}

function send(worker: Worker, message: FromSupervisor): void {
  if (worker.isConnected()) worker.send(message);
}

/** The worker's side. */
export type WorkerChannel = {
  /** Has the supervisor do something. Rejects with Refusal. */
  request(name: string, argument?: unknown): Promise<unknown>;
};

/** Opens the channel of this worker; `answer` is given each question. Without a supervisor every request is refused. */
export function openWorkerChannel(answer: (question: Question) => unknown): WorkerChannel {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Refusal): void }>();
  process.on('message', (message: FromSupervisor) => {
    if (message.type === 'ask') {
      const { id, question } = message;
      // What cannot be answered now is left out, as of a worker that says nothing.
      void Promise.try(answer, question).then(
        (said) => tell({ type: 'answer', id, answer: said ?? null }),
        () => tell({ type: 'answer', id, answer: null }),
      );
    }
    if (message.type !== 'reply') return;
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.refusal === undefined) asked?.resolve(message.result);
    else asked?.reject(new Refusal(message.refusal));
  });
  return {
    request(name, argument) {
      const id = ++latestId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        tell({ type: 'request', id, name, argument });
      });
    },
  };
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
