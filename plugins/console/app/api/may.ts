// What the person may do: asked of the appliance for everything that a page offers, in one request.
import { signal, type ReadonlySignal } from '@preact/signals';
import { send } from './request.ts';
import { secret } from './session.ts';

/** `unknown` until the answer is there; what cannot be asked is offered, because the appliance decides anyway. */
export type May = 'unknown' | 'yes' | { readonly no: string };

type Asked = { readonly path: string; readonly operation: string; readonly answer: ReturnType<typeof signal<May>> };

let known = new Map<string, Asked>();
let knownFor: string | undefined;
let waiting: Asked[] = [];
/** as many as one request takes */
const mostQuestions = 200;

/** Whether a request with this verb of policies would be allowed on a path. */
export function may(operation: string | undefined, path: string): ReadonlySignal<May> {
  if (operation === undefined) return free;
  if (knownFor !== secret.peek()) {
    known = new Map();
    knownFor = secret.peek();
  }
  const key = `${operation} ${path}`;
  const before = known.get(key);
  if (before !== undefined) return before.answer as ReadonlySignal<May>;
  const asked: Asked = { path, operation, answer: signal<May>('unknown') };
  known.set(key, asked);
  if (waiting.length === 0) queueMicrotask(() => void ask());
  waiting.push(asked);
  return asked.answer as ReadonlySignal<May>;
}

const free = signal<May>('yes');

async function ask(): Promise<void> {
  const all = waiting;
  waiting = [];
  for (let at = 0; at < all.length; at += mostQuestions) await askSome(all.slice(at, at + mostQuestions));
}

async function askSome(some: readonly Asked[]): Promise<void> {
  const questions = some.map(({ path, operation }) => ({ path, operation }));
  try {
    const { body } = await send({ method: 'POST', path: '/v1/state/policy/check-many', body: { questions } });
    const { decisions } = body as { readonly decisions: readonly { readonly allowed: boolean; readonly why: string }[] };
    for (const [index, { answer }] of some.entries()) {
      const said = decisions[index];
      answer.value = said === undefined || said.allowed ? 'yes' : { no: said.why };
    }
  } catch {
    for (const { path, operation, answer } of some) {
      answer.value = 'yes';
      known.delete(`${operation} ${path}`);
    }
  }
}
