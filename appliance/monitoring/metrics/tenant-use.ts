// Use by tenants with quotas, exchanged among the workers: each sends the supervisor its own sums, and receives those of the others.
import { z } from 'zod';
import type { Quotas, TenantUse } from '../../../core/access/quotas.ts';

/** By UUID of the tenant. */
export const tenantUses = z.record(z.string(), z.object({ requests: z.number(), tokenMicros: z.number() }));
type Uses = z.output<typeof tenantUses>;

/** A process that says when it has ended. */
type Ending = { readonly id: number; once(event: 'exit', ended: () => void): unknown };

const everyMs = 500;

/**
 * Reports to the supervisor and asks it twice a second, while a tenant with a quota has used something. Returns a function that ends it.
 */
export function shareUse(quotas: Quotas, exchange: (own: Uses) => Promise<Uses>): () => void {
  const share = async (): Promise<void> => {
    const own = quotas.own();
    if (own.size === 0) return;
    quotas.hear(new Map(Object.entries(await exchange(Object.fromEntries(own)))));
  };
  // The next report includes that of an unanswered one.
  const timer = setInterval(() => void share().catch(() => undefined), everyMs).unref();
  return () => clearInterval(timer);
}

/** Kept by the supervisor beyond the lives of its workers, so that the sums of the others never fall. */
export class SharedUse {
  readonly #running = new Map<number, Uses>();
  #ended: Uses = {};

  /** Takes the sums of a worker and returns those of all others. */
  exchange(worker: Ending, own: Uses): Uses {
    const { id } = worker;
    if (!this.#running.has(id)) {
      worker.once('exit', () => {
        this.#ended = added([this.#ended, this.#running.get(id) ?? {}]);
        this.#running.delete(id);
      });
    }
    this.#running.set(id, own);
    return added([this.#ended, ...[...this.#running].flatMap(([other, uses]) => (other === id ? [] : [uses]))]);
  }
}

function added(all: readonly Uses[]): Uses {
  const sums = new Map<string, TenantUse>();
  for (const uses of all) {
    for (const [tenantId, { requests, tokenMicros }] of Object.entries(uses)) {
      const before = sums.get(tenantId) ?? { requests: 0, tokenMicros: 0 };
      sums.set(tenantId, { requests: before.requests + requests, tokenMicros: before.tokenMicros + tokenMicros });
    }
  }
  return Object.fromEntries(sums);
}
