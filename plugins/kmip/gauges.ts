// Gauges of the plugin: objects and clients, by tenant.
import type { Gauge } from '../../core/plugin/plugin.ts';
import type { Kmip } from './context.ts';

/** A count walks the keys of all objects. */
const keptMs = 60_000;

export function kmipGauges({ tables }: Kmip): readonly Gauge[] {
  return [
    {
      ...{ name: 'keystored_kmip_objects', help: 'Objects of KMIP, with destroyed ones.', labels: ['tenant'], keptMs },
      measure: (tenants) => Array.from(tenants, ([tenantId, tenant]) => ({ labels: { tenant }, value: tables.objects.count([tenantId]) })),
    },
    {
      ...{ name: 'keystored_kmip_clients', help: 'Client entries of KMIP.', labels: ['tenant'], keptMs },
      measure: (tenants) => Array.from(tenants, ([tenantId, tenant]) => ({ labels: { tenant }, value: tables.clients.count([tenantId]) })),
    },
  ];
}
