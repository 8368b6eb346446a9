// The tenant that a certificate works for: noted with its first request, so that no entry of another tenant gets it when the one that it had expires, is
// made again, or refuses it.
import { X509Certificate } from 'node:crypto';
import { reasonOf } from '../../../core/base/errors.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { ClientCertificate } from '../../../core/tls/client-certificate.ts';
import type { Kmip } from '../context.ts';
import type { FirstTenant, FoundClient } from '../records/client-record.ts';

/** Certificates of an entry that are noted: the oldest goes for a new one. */
const mostOfEntry = 32;
/** Days after which a note is made again. */
const longestDays = 365;
/** Time between two notes of an entry, and after one that could not be written. */
const [betweenMs, againMs] = [1_000, 60_000];
const nextAt = new WeakMap<Kmip, Map<string, number>>();

/** Notes the tenant of a certificate, unless that is known, or its entry may do nothing. */
export function noteTenant(kmip: Kmip, certificate: ClientCertificate, fingerprint: string, { tenantId, record }: FoundClient): void {
  const { clients, firstTenants, noted } = kmip.tables;
  if (record.tokenPolicies.length === 0 || firstTenants.get([fingerprint])?.tenantId === tenantId) return;
  const times = nextAt.get(kmip) ?? new Map<string, number>();
  nextAt.set(kmip, times);
  const now = performance.now();
  if ((times.get(record.id) ?? 0) > now) return;
  times.set(record.id, now + betweenMs);
  const until = formatTimestamp(endOf(certificate, kmip.clock.now()));
  const entry = [tenantId, record.name];
  kmip.store
    .write((transaction) => {
      // Nothing is noted of a tenant that has gone.
      if (!transaction.has(clients, entry)) return;
      const all = [...(transaction.get(noted, entry) ?? []).filter((one) => one !== fingerprint), fingerprint];
      for (const one of all.splice(0, Math.max(0, all.length - mostOfEntry)))
        if (transaction.get(firstTenants, [one])?.tenantId === tenantId) transaction.delete(firstTenants, [one]);
      transaction.put(noted, entry, all);
      transaction.put(firstTenants, [fingerprint], { tenantId, until });
    })
    .catch((error: unknown) => {
      times.set(record.id, performance.now() + againMs);
      kmip.log.warn('the tenant of a KMIP certificate could not be noted', { error: reasonOf(error) });
    });
}

function endOf({ leaf }: ClientCertificate, now: Temporal.Instant): Temporal.Instant {
  const { validToDate } = cleanly(() => new X509Certificate(leaf));
  const longest = now.add({ hours: longestDays * 24 }).epochMilliseconds;
  return Temporal.Instant.fromEpochMilliseconds(Math.min(validToDate.getTime(), longest));
}

/** Forgets certificates that have expired. */
export function forgetExpired(kmip: Kmip): Promise<void> {
  const now = formatTimestamp(kmip.clock.now());
  return forget(kmip, ({ until }) => until < now);
}

/** Forgets the certificates of a tenant. */
export async function forgetTenant(kmip: Kmip, tenantId: string): Promise<void> {
  await forget(kmip, (one) => one.tenantId === tenantId);
  const { store, tables } = kmip;
  await writeInPieces(store, [...tables.noted.keys([tenantId])], (transaction, key) => void transaction.delete(tables.noted, key));
}

async function forget({ store, tables }: Kmip, isOver: (one: FirstTenant) => boolean): Promise<void> {
  store.refresh();
  const keys = Array.from(tables.firstTenants.entries([], { uncached: true }), ([key, one]) => (isOver(one) ? [key] : [])).flat();
  await writeInPieces(store, keys, (transaction, key) => void transaction.delete(tables.firstTenants, key));
}
