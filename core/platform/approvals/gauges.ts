// Gauges of the metrics: how many requests for approval wait.
import { bookTable } from '../../approvals/records.ts';
import type { Clock } from '../../base/context.ts';
import { formatTimestamp } from '../../base/time.ts';
import type { Gauge } from '../../plugin/plugin.ts';
import type { Store } from '../../store/store.ts';

export function approvalGauges(store: Store, clock: Clock): readonly Gauge[] {
  return [
    {
      name: 'keystored_open_approvals',
      help: 'Requests for approval of a tenant that wait for people, or were approved and not sent yet; 200 fill its room.',
      labels: ['tenant'],
      measure(tenants) {
        const present = formatTimestamp(clock.now());
        return Array.from(bookTable(store).entries([]), ([[tenantId], { open }]) => ({
          labels: { tenant: tenants.get(String(tenantId)) ?? String(tenantId) },
          value: open.filter(({ until }) => until > present).length,
        }));
      },
    },
  ];
}
