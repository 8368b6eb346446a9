// Turns of searches that examine many objects: one of them has the event loop for a moment, then everything else, so that no number of them holds up
// the requests of others. Tenants take turns, and the searches of one space follow each other.
import { inTurn } from '../../../core/base/async/turns.ts';
import { fail } from '../errors.ts';

/** Time in one turn of the event loop. */
export const sliceMs = 2;
/** Searches that run or wait in this process: of a space, and of one of its clients. */
const mostOfSpace = 16;
const mostOfClient = 8;

const counts = new Map<string, number>();
/** Those that wait for a turn, by tenant; the tenant whose turn it is comes first. */
const waiting = new Map<string, (() => void)[]>();

/**
 * Goes on with a search until `step`, which may take `sliceMs`, says that it is over. It ends early when its client has gone. Throws
 * `kmip-search-refused` while too many others of the space wait.
 */
export async function walk(
  { tenantId, space, client = '' }: { readonly tenantId: string; readonly space: { readonly id: string }; readonly client?: string },
  signal: AbortSignal | undefined,
  step: () => boolean,
): Promise<void> {
  const mine = `${space.id} ${client}`;
  if ((counts.get(space.id) ?? 0) >= mostOfSpace || (counts.get(mine) ?? 0) >= mostOfClient)
    throw fail('kmip-search-refused', {
      detail: `${mostOfSpace} searches of the space that no index answers are under way, or ${mostOfClient} of the client: try again later, or give a Name or another indexed attribute.`,
    });
  for (const name of [space.id, mine]) count(name, 1);
  try {
    await inTurn(`kmip-walk ${space.id}`, async () => {
      for (;;) {
        await turnOf(tenantId);
        if (signal?.aborted === true || step()) return;
      }
    });
  } finally {
    for (const name of [space.id, mine]) count(name, -1);
  }
}

function count(name: string, by: number): void {
  const left = (counts.get(name) ?? 0) + by;
  if (left > 0) counts.set(name, left);
  else counts.delete(name);
}

function turnOf(tenantId: string): Promise<void> {
  if (waiting.size === 0) setImmediate(giveTurn);
  return new Promise((resolve) => {
    const line = waiting.get(tenantId);
    if (line === undefined) waiting.set(tenantId, [resolve]);
    else line.push(resolve);
  });
}

function giveTurn(): void {
  const [first] = waiting;
  if (first === undefined) return;
  const [tenantId, line] = first;
  const next = line.shift();
  waiting.delete(tenantId);
  if (line.length > 0) waiting.set(tenantId, line);
  if (waiting.size > 0) setImmediate(giveTurn);
  next?.();
}
