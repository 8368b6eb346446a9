// Ends of certificates, for the metrics: the one of the listeners, and the newest of every CA and of its registration authority.
import type { Gauge } from '../../core/plugin/plugin.ts';
import { newestCertificate } from './authority/lookup.ts';
import type { CaContext } from './context.ts';
import { readCertificate } from './der/certificate.ts';
import { listenerNotAfter } from './own/listener-identity.ts';

export function expiryGauge(context: CaContext): Gauge {
  return {
    name: 'keystored_certificate_not_after_seconds',
    help: 'When a certificate ends, seconds since 1970',
    labels: ['kind', 'tenant', 'name'],
    measure(tenants) {
      const listener = listenerNotAfter(context);
      const cas = [...context.tables.cas.entries([])].map(([[tenantId], record]) => ({
        labels: { kind: 'ca', tenant: tenants.get(String(tenantId)) ?? String(tenantId), name: record.name },
        value: seconds(readCertificate(newestCertificate(record)).notAfter),
      }));
      const registrations = [...context.tables.cas.entries([])].flatMap(([[tenantId], record]) => {
        const newest = record.registrations?.at(-1);
        const labels = { kind: 'registration', tenant: tenants.get(String(tenantId)) ?? String(tenantId), name: record.name };
        return newest === undefined || (record.scep?.enabled !== true && record.cmp?.enabled !== true)
          ? []
          : [{ labels, value: seconds(readCertificate(newest.certificate).notAfter) }];
      });
      cas.push(...registrations);
      if (listener === undefined) return cas;
      return [{ labels: { kind: 'listener', tenant: 'system', name: 'listener' }, value: seconds(listener) }, ...cas];
    },
  };
}

function seconds(instant: Temporal.Instant): number {
  return instant.epochMilliseconds / 1_000;
}
