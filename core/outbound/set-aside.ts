// Pause after an internal fault during a call to a provider: the tenant's providers are not called for an hour, so that the fault cannot be
// triggered at will.
import type { Clock, Log } from '../base/context.ts';
import { getIfOpen, type Store, type Table } from '../store/store.ts';
import { OutboundError } from './outbound-error.ts';

/** A tenant whose providers are not called for a while. Stored for other processes and restarts. [tenant uuid] */
export type SetAside = { readonly untilMs: number };

const setAsideMs = 3_600_000;

/** `component`: the name in the log of who calls. */
type Parts = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly component: string;
  readonly table: Table<SetAside>;
};

/**
 * Sets tenants aside, not services, because an administrator who can make one service can make another. For the same reason a change of
 * settings does not shorten the hour.
 */
export class SetAsideTenants {
  readonly #parts: Parts;
  /** pauses of this process, effective at once; other processes read the record */
  readonly #own = new Map<string, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Throws OutboundError `set-aside`. */
  requireNone(tenantId: string): void {
    const untilMs = Math.max(this.#own.get(tenantId) ?? 0, getIfOpen(this.#parts.table, [tenantId])?.untilMs ?? 0);
    const nowMs = this.#parts.clock.now().epochMilliseconds;
    if (nowMs < untilMs) throw new OutboundError('set-aside', 'the providers of this tenant are not called for an hour');
    this.#own.delete(tenantId);
  }

  add(tenantId: string, tenantName: string, service: string): void {
    const { store, clock, log, component, table } = this.#parts;
    const untilMs = clock.now().epochMilliseconds + setAsideMs;
    this.#own.set(tenantId, untilMs);
    const logged = log.with(component, tenantName);
    logged.error(
      'A fault of this appliance happened while an identity provider was called: no provider of the tenant is called for an hour',
      {
        service,
      },
    );
    store
      .write((transaction) => transaction.put(table, [tenantId], { untilMs }))
      .catch((error: unknown) => logged.warn('the other processes could not be informed of that', { reason: String(error) }));
  }
}
