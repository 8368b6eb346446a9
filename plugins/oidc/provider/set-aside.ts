// A tenant whose provider's answer met a fault of ours is not asked for an hour: nobody outside can bring the same fault about again.
import type { PluginContext } from '../../../core/plugin/plugin.ts';
import type { Table } from '../../../core/store/store.ts';
import type { SetAside } from '../records/sign-ins.ts';
import { OutboundError } from './outbound.ts';

const setAsideMs = 3_600_000;

type Parts = Pick<PluginContext<unknown>, 'store' | 'clock' | 'log'> & { readonly table: Table<SetAside> };

/**
 * By tenant and not by service, because whoever can make one service can make another. An hour cannot be cut short by a change of
 * settings for the same reason.
 */
export class SetAsideTenants {
  readonly #parts: Parts;
  /** this process knows at once; the others when the record is written */
  readonly #own = new Map<string, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Throws OutboundError `set-aside`. */
  requireNone(tenantId: string): void {
    const untilMs = Math.max(this.#own.get(tenantId) ?? 0, this.#parts.table.get([tenantId])?.untilMs ?? 0);
    const nowMs = this.#parts.clock.now().epochMilliseconds;
    if (nowMs < untilMs) throw new OutboundError('set-aside', 'the providers of this tenant are not asked for an hour');
    this.#own.delete(tenantId);
  }

  add(tenantId: string, tenantName: string, service: string): void {
    const { store, clock, log, table } = this.#parts;
    const untilMs = clock.now().epochMilliseconds + setAsideMs;
    this.#own.set(tenantId, untilMs);
    const logged = log.with('oidc', tenantName);
    logged.error(
      'A fault of this appliance happened while an identity provider was asked: no provider of the tenant is asked for an hour',
      {
        service,
      },
    );
    store
      .write((transaction) => transaction.put(table, [tenantId], { untilMs }))
      .catch((error: unknown) => logged.warn('the other processes could not be told of that', { reason: String(error) }));
  }
}
