// Permissions of the person: asked of the appliance for everything that a page offers and is about to read, in one request.
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { Refusal, send, type Request } from './request.ts';
import { secret } from './session.ts';
import { visit } from './visit.ts';

/** Answer of the appliance; a request that cannot be checked is offered, because the appliance decides anyway. */
type Said = 'yes' | { readonly no: string; readonly status: number };
/** `unknown` until the answer is there. */
export type May = 'unknown' | Said;

type Asked = {
  readonly path: string;
  readonly operation: string;
  readonly answer: Signal<May>;
  /** the answer to the last question */
  said: PromiseWithResolvers<Said>;
  askedMs: number;
  isAnswered: boolean;
};

let known = new Map<string, Asked>();
let knownFor: string | undefined;
let waiting: Asked[] = [];
/** limit of one request */
const mostQuestions = 200;
/** Policies change: before something is read, an older answer is asked for again. */
const staleMs = 30_000;

/** Tells whether a request with this verb of policies would be allowed on a path. */
export function may(operation: string | undefined, path: string): ReadonlySignal<May> {
  return operation === undefined ? free : find(operation, path).answer;
}

const free = signal<May>('yes');

/** Avoids a GET that the appliance would refuse. Rejects with the refusal that it would get; other requests are sent to find out. */
export async function requireReadable({ method, path }: Request): Promise<void> {
  if (method !== 'GET' || !/^\/v1\/(?:config|state)\//.test(path)) return;
  const asked = find('read', path);
  if (asked.isAnswered && Date.now() - asked.askedMs > staleMs) ask(asked);
  const said = await asked.said.promise;
  if (said !== 'yes') throw new Refusal(said.status, { ...titles[said.status], detail: said.no }, undefined);
}

const titles: Readonly<Record<number, { readonly title: string; readonly code: string }>> = {
  403: { title: 'Your policies do not allow you to see this', code: 'policy-denied' },
  404: { title: 'Your tenant does not have this', code: 'not-found' },
};

function find(operation: string, path: string): Asked {
  const asker = `${secret.peek()} ${visit.peek()?.accessor}`;
  if (knownFor !== asker) {
    known = new Map();
    knownFor = asker;
  }
  const key = `${operation} ${path}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const asked: Asked = { path, operation, answer: signal<May>('unknown'), said: Promise.withResolvers(), askedMs: 0, isAnswered: false };
  known.set(key, asked);
  ask(asked);
  return asked;
}

/** Waits for the other questions of this turn. */
function ask(asked: Asked): void {
  asked.askedMs = Date.now();
  asked.said = Promise.withResolvers();
  asked.isAnswered = false;
  if (waiting.length === 0) queueMicrotask(() => void askAll());
  waiting.push(asked);
}

async function askAll(): Promise<void> {
  const all = waiting;
  waiting = [];
  // After a sign-out nobody asks; the next session asks everything again.
  if (secret.peek() === undefined) return;
  for (let at = 0; at < all.length; at += mostQuestions) await askSome(all.slice(at, at + mostQuestions));
}

async function askSome(some: readonly Asked[]): Promise<void> {
  const questions = some.map(({ path, operation }) => ({ path, operation }));
  try {
    const { body } = await send({ method: 'POST', path: '/v1/state/policy/check-many', body: { questions } });
    const { decisions } = body as { readonly decisions: readonly Decision[] };
    for (const [index, asked] of some.entries()) answer(asked, saidOf(decisions[index]));
  } catch (error) {
    // A path that the appliance does not accept must not decide about the others.
    if (error instanceof Refusal && error.status === 400 && some.length > 1) {
      const half = Math.floor(some.length / 2);
      await askSome(some.slice(0, half));
      await askSome(some.slice(half));
      return;
    }
    for (const asked of some) {
      answer(asked, 'yes');
      known.delete(`${asked.operation} ${asked.path}`);
    }
  }
}

type Decision = { readonly allowed: boolean; readonly exists: boolean; readonly why: string };

function saidOf(decision: Decision | undefined): Said {
  if (decision === undefined || (decision.allowed && decision.exists)) return 'yes';
  return { no: decision.why, status: decision.allowed ? 404 : 403 };
}

function answer(asked: Asked, said: Said): void {
  asked.isAnswered = true;
  asked.answer.value = said;
  asked.said.resolve(said);
}
