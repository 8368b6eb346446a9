// Gauges of enrolment: requests that wait, secrets that were never used, certificates that nobody renews, and devices that fail again and again.
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../../core/base/defined.ts';
import type { Gauge, GaugeSample } from '../../../core/plugin/plugin.ts';
import type { StoreKey, Table } from '../../../core/store/store.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { IssuedCertificate } from '../records/records.ts';
import { isRenewed } from '../status/line.ts';
import { isPersistent } from './failures.ts';

/** Reading the records of many devices takes a while: the counts may be this old. */
const keptMs = 300_000;
/** Records read before other requests get their turn. */
const readAtOnce = 500;
/** The part of its life that a certificate has left when it counts as one that nobody renews: devices renew with a third of it left. */
const lastPart = 1 / 10;

/** The gauges of enrolment, by tenant and CA. */
export function enrolmentGauges(context: CaContext): readonly Gauge[] {
  const { tables } = context;
  const now = (): Temporal.Instant => context.clock.now();
  const over = (until: string): boolean => Temporal.Instant.compare(until, now()) < 0;
  const ofEachCa = (
    name: string,
    help: string,
    count: (prefix: readonly string[], ca: FoundCa) => Promise<ReadonlyMap<string, number>>,
    label?: string,
  ): Gauge => ({
    ...{ name, help, keptMs, labels: ['tenant', 'ca', ...(label === undefined ? [] : [label])] },
    async measure(tenants) {
      const samples: GaugeSample[] = [];
      for (const [[tenantId], record] of Array.from(tables.cas.entries([]))) {
        const counts = await count([String(tenantId), record.id], { tenantId: String(tenantId), record });
        const labels = { tenant: tenants.get(String(tenantId)) ?? String(tenantId), ca: record.name };
        for (const [value, number] of counts)
          samples.push({ labels: label === undefined ? labels : { ...labels, [label]: value }, value: number });
      }
      return samples;
    },
  });
  return [
    ofEachCa('keystored_enrolment_requests_waiting', 'First enrolments that wait for a person', (prefix) =>
      countBy(tables.pendingEnrolments, prefix, ({ until }) => (over(until) ? undefined : '')),
    ),
    ofEachCa(
      'keystored_enrolment_secrets',
      'One-time secrets of devices by what became of them: usable, used up, or ended without a use',
      (prefix) =>
        countBy(tables.enrolmentSecrets, prefix, ({ until, uses, usesLeft }) =>
          usesLeft === 0 ? 'used' : !over(until) ? 'usable' : usesLeft === uses ? 'never-used' : 'used',
        ),
      'state',
    ),
    ofEachCa('keystored_enrolment_failing', 'Addresses from which devices fail to enrol again and again', (prefix) =>
      countBy(tables.enrolmentFailures, prefix, (failures) => (isPersistent(failures, now()) ? '' : undefined)),
    ),
    ofEachCa(
      'keystored_enrolment_certificates_ending',
      'Certificates of devices with a tenth of their life left that nobody has renewed',
      (prefix, ca) =>
        countBy(tables.certificates, prefix, (issued, serial) =>
          isEnding(issued, now()) && !isRenewed(context, ca, serial) ? '' : undefined,
        ),
    ),
  ];
}

/** Ways on which no device gets a certificate that it renews by itself. */
const notOfDevices: ReadonlySet<string> = new Set([
  ...['issuing-ca', 'certify-ca', 'listener', 'cluster-member', 'registration-authority'],
]);

function isEnding({ via, revoked, notBefore, notAfter }: IssuedCertificate, now: Temporal.Instant): boolean {
  if (revoked !== undefined || notOfDevices.has(via)) return false;
  const end = Temporal.Instant.from(notAfter);
  const left = now.until(end).total('seconds');
  return left > 0 && left < lastPart * Temporal.Instant.from(notBefore).until(end).total('seconds');
}

/** Counts the records of a CA by a word; undefined is not counted. One that is made or deleted meanwhile may be missed. */
async function countBy<T>(
  table: Table<T>,
  prefix: StoreKey,
  wordOf: (record: T, id: string) => string | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let after: string | undefined; ;) {
    const piece = [...table.entries(prefix, { limit: readAtOnce, uncached: true, ...defined({ after }) })];
    for (const [key, record] of piece) {
      const word = wordOf(record, String(key.at(-1)));
      if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    if (piece.length < readAtOnce) return counts;
    after = String(piece.at(-1)?.[0].at(-1));
    await setImmediate();
  }
}
