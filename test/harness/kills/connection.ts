// One caller of a storm: its kept connection, which outcomes a kill leaves open, and the ids of the requests that were acknowledged.
import type { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Asking, ask, keepConnections } from '../client.ts';
import type { Daemon } from '../daemon.ts';
import { patienceMs } from '../patience.ts';

/** A request was cut off, or refused for want of a process that had just been killed: nobody can tell whether it was carried out. */
export class Unanswered extends Error {}

/** Something that is promised does not hold. */
export class Find extends Error {}

/** The appliance that is asked. */
export type Target = Pick<Daemon, 'url' | 'estUrl' | 'caPem' | 'rootToken'>;

/** One appliance, or those of a cluster in turns: each connection asks for one. */
export type Asked = Target | (() => Target);

/** Requests that changed or used something, by their ids: the audit trail has to have them. */
export type Acknowledged = Map<string, string>;

export type More = Pick<Asking, 'token' | 'headers'> & { readonly toEst?: true };

/** Reads that are posted go on, without a record, while the trail cannot be written: five seconds in which the disk does not answer. */
const isRead = /\/openpgp-verify$/;
/** After so many requests another connection is opened, which another worker may take. */
const requestsPerConnection = 20;
export const againMs = 20;

export class Connection {
  readonly #nextTarget: () => Target;
  readonly #acknowledged: Acknowledged;
  #target: Target;
  #agent: Agent;
  #left = requestsPerConnection;

  constructor(asked: Asked, acknowledged: Acknowledged) {
    this.#nextTarget = typeof asked === 'function' ? asked : () => asked;
    this.#target = this.#nextTarget();
    this.#acknowledged = acknowledged;
    this.#agent = keepConnections({ ca: this.#target.caPem });
  }

  /** Of the appliance that is asked. */
  get url(): string {
    return this.#target.url;
  }

  /** Sends a request, with the root token unless another, or null, is given. Throws Unanswered, and Find for a server error and for silence. */
  async send(method: string, path: string, body?: unknown, { toEst, ...more }: More = {}): Promise<Answer> {
    if (this.#left-- <= 0) this.renew();
    const { url, estUrl, caPem, rootToken } = this.#target;
    const token = toEst === true ? null : rootToken;
    const asking: Asking = { method, body, ca: caPem, agent: this.#agent, token, ...more };
    const what = `${method} ${path}`;
    const answer = await inTime(ask(toEst === true ? estUrl : url, path, asking), what).catch((error: unknown) => {
      this.renew();
      throw error instanceof Find ? error : new Unanswered(`${what}: ${String(error)}`);
    });
    if (answer.status === 503) {
      // Another worker may have a token that works.
      this.renew();
      throw new Unanswered(`${what}: 503 ${answer.text}`);
    }
    if (answer.status >= 500) throw new Find(`${what}: ${answer.status} ${answer.text}`);
    const id = answer.headers['request-id'];
    if (method !== 'GET' && !isRead.test(path) && answer.status < 400 && typeof id === 'string') this.#acknowledged.set(id, what);
    return answer;
  }

  /** The same for a request that must succeed; answers the parsed body. */
  async do(method: string, path: string, body?: unknown, more?: More): Promise<Answer['body']> {
    return requireDone(await this.send(method, path, body, more), `${method} ${path}`).body;
  }

  renew(): void {
    this.#agent.destroy();
    this.#target = this.#nextTarget();
    this.#agent = keepConnections({ ca: this.#target.caPem });
    this.#left = requestsPerConnection;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Throws Find for a refusal. */
export function requireDone(answer: Answer, what: string): Answer {
  if (answer.status >= 400) throw new Find(`${what}: ${answer.status} ${answer.text}`);
  return answer;
}

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Find(`${what}: no answer within ${patienceMs / 1_000} s`)), patienceMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tries until there is an answer: processes that are killed often are replaced later each time. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (const began = performance.now(); ;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      if (performance.now() - began > patienceMs) throw new Find(`no answer for ${patienceMs / 1_000} s: ${error.message}`);
      await pause(againMs);
    }
  }
}
