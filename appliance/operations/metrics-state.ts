// What the appliance as a whole is like, measured by whichever process is asked: keys, certificates, store, disk, clock.
import { setImmediate } from 'node:timers/promises';
import { Gauge, Registry } from 'prom-client';
import { defined } from '../../core/base/defined.ts';
import type { Clock } from '../../core/base/context.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { openTenants } from '../../core/access/tenants.ts';
import { readCertificate } from '../../plugins/ca/der/certificate.ts';
import { openCaTables } from '../../plugins/ca/records/records.ts';
import { openTables } from '../../plugins/transit/records/records.ts';
import { readDisk, readStoreBytes } from '../state/disk.ts';
import type { Snapshot } from './metrics.ts';
import { listenerNotAfter } from '../provisioning/tls-identity.ts';

export type StateParts = {
  readonly store: OpenStore;
  /** the watched clock, which knows whether it can be trusted */
  readonly clock: Clock;
  readonly directory: string;
};

/** Counting a hundred thousand keys takes a while: the counts may be this old. */
const countsLastMs = 60_000;
/** Keys counted before other requests get their turn. */
const countedAtOnce = 500;

/** Answers what measures the appliance; counts of keys are kept for a minute. */
export function stateMeasurer(parts: StateParts): () => Promise<Snapshot> {
  const { store, clock, directory } = parts;
  let counts: { readonly atMs: number; readonly keys: Promise<KeyCounts> } | undefined;
  return async () => {
    const registry = new Registry();
    const gauge = (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers: [registry] });

    if (counts === undefined || clock.monotonicMs() - counts.atMs > countsLastMs)
      counts = { atMs: clock.monotonicMs(), keys: countKeys(store) };
    const keys = gauge('keystored_transit_keys', 'Transit keys, counted once a minute', 'tenant', 'cipher');
    for (const { tenant, cipher, count } of await counts.keys) keys.set({ tenant, cipher }, count);

    const expiry = gauge(
      'keystored_certificate_not_after_seconds',
      'When a certificate ends, seconds since 1970',
      'kind',
      'tenant',
      'name',
    );
    for (const { labels, notAfter } of certificates(store)) expiry.set(labels, notAfter.epochMilliseconds / 1_000);

    const { freeBytes, sizeBytes } = readDisk(directory);
    gauge('keystored_disk_free_bytes', 'Room left in the file system of the data directory').set(freeBytes);
    gauge('keystored_disk_size_bytes', 'Size of the file system of the data directory').set(sizeBytes);
    gauge('keystored_store_bytes', 'Size of the store').set(readStoreBytes(directory));
    gauge('keystored_clock_plausible', '0 while certificates, expiry and rotation are held because the clock cannot be right').set(
      clock.doubt === undefined ? 1 : 0,
    );
    gauge('keystored_clock_seconds', 'The time the appliance goes by, seconds since 1970').set(clock.now().epochMilliseconds / 1_000);
    return registry.getMetricsAsJSON();
  };
}

type KeyCounts = readonly { readonly tenant: string; readonly cipher: string; readonly count: number }[];

/** Reads all keys in pieces, so that requests go on in between; a key made or removed meanwhile may be missed. */
async function countKeys(store: OpenStore): Promise<KeyCounts> {
  const { keys } = openTables(store.prefixed('transit'));
  const found: { tenant: string; cipher: string; count: number }[] = [];
  for (const { uuid, name } of tenantsOf(store)) {
    const byCipher = new Map<string, number>();
    for (let after: string | undefined; ;) {
      const piece = [...keys.entries([uuid], { limit: countedAtOnce, ...defined({ after }) })];
      for (const [, { cipher }] of piece) byCipher.set(cipher, (byCipher.get(cipher) ?? 0) + 1);
      if (piece.length < countedAtOnce) break;
      after = String(piece.at(-1)?.[0].at(-1));
      await setImmediate();
    }
    for (const [cipher, count] of byCipher) found.push({ tenant: name, cipher, count });
  }
  return found;
}

function tenantsOf(store: OpenStore): readonly { readonly uuid: string; readonly name: string }[] {
  return [...openTenants(store).table.entries([])].map(([, tenant]) => tenant);
}

/** The listeners' certificate and the newest of every CA. */
function certificates(store: OpenStore): { labels: Record<string, string>; notAfter: Temporal.Instant }[] {
  const est = store.prefixed('est');
  const names = new Map(tenantsOf(store).map(({ uuid, name }) => [uuid, name]));
  const listener = listenerNotAfter(est);
  return [
    ...(listener === undefined ? [] : [{ labels: { kind: 'listener', tenant: 'system', name: 'listener' }, notAfter: listener }]),
    ...[...openCaTables(est).cas.entries([])].flatMap(([[tenantId], { name, generations, trustCertificate }]) => {
      const der = generations.at(-1)?.certificate ?? trustCertificate;
      const tenant = names.get(String(tenantId)) ?? String(tenantId);
      return der === undefined ? [] : [{ labels: { kind: 'ca', tenant, name }, notAfter: readCertificate(der).notAfter }];
    }),
  ];
}
