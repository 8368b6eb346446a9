// Measuring and recording parts of a serving process: the clock, quotas and metrics, the audit trail with the destinations that it waits
// for, the backups and their drills.
import { setTimeout } from 'node:timers/promises';
import { Quotas } from '../../core/access/quotas.ts';
import { chainNames } from '../../core/audit/chains.ts';
import { recordedTime } from '../../core/audit/examine.ts';
import type { SignHead } from '../../core/audit/heads.ts';
import { type Audit, writingBy } from '../../core/audit/record.ts';
import { type AuditTrail, openAuditTrail } from '../../core/audit/trail.ts';
import { systemClock } from '../../core/base/time.ts';
import program from '../../package.json' with { type: 'json' };
import { auditPublicKeysPem, openAuditSigner } from '../audit/audit-signing.ts';
import { Backups } from '../backup/run/backups.ts';
import { Drills, recordDrill } from '../backup/drills/drills.ts';
import { recordForeignWrites } from '../cluster/foreign-writes.ts';
import { paths } from '../data-directory/paths.ts';
import { noteStepsAhead } from '../findings/clock-ahead.ts';
import { type ClockWatch, readBootTime, watchClock } from '../machine/clock-watch.ts';
import { measureProcess, type ProcessMetrics } from '../monitoring/metrics/process.ts';
import { shareUse } from '../monitoring/metrics/tenant-use.ts';
import { type ShippingWatch, watchShipping } from '../shipping/watch.ts';
import type { ServingWorker } from './serving-worker.ts';

export type Recording = {
  readonly clockWatch: ClockWatch;
  readonly metrics: ProcessMetrics;
  readonly trail: AuditTrail;
  /** the trail, measured, with the destination that holds up changes */
  readonly audit: Audit;
  readonly watch: ShippingWatch;
  readonly backups: Backups;
  readonly drills: Drills;
  /** as in RequestServer */
  readonly admit: (tenantId: string) => void;
  /** Notes the time before the process ends: after a restart of the machine, ended credentials are recognised by this alone. */
  readonly recordTime: () => Promise<void>;
};

/** Limit for the other workers to stop. */
const aloneMs = 11_000;

export async function openRecording(worker: ServingWorker): Promise<Recording> {
  const { configuration, number, channel, log, runtime, alone, closing } = worker;
  const { data } = configuration;
  const { cluster } = runtime;
  const inTrail = await recordedTime(paths.audit(data));
  const clockWatch = watchClock(runtime.store, systemClock, { othersMs: () => cluster?.othersMs, sinceBoot: readBootTime, inTrail });
  closing.onRest(() => clockWatch.stop());
  if (number === 1) noteStepsAhead(runtime.store, clockWatch, log.with('clock'));
  const recordTime = async (): Promise<void> => {
    if (number === 1 && worker.isServing) await clockWatch.record().catch(() => undefined);
  };
  closing.onClose(recordTime);
  const { clock } = clockWatch;
  const quotas = new Quotas({ ...runtime, clock });
  closing.onRest(shareUse(quotas, (own) => channel.request('shareUse', own)));
  const metrics = measureProcess(runtime.hsm, quotas);
  closing.onRest(() => metrics.stop());
  const { signHead, memory } = openAuditSigner(runtime, data, log.with('audit'));
  const watch = await watchShipping({ data, ...configuration.shipping, clock, log: log.with('shipping') });
  closing.onRest(() => watch.stop());
  const trail = await openAuditTrail({
    directory: paths.audit(data),
    ...{ chain: chainNames(runtime.store.appliance).worker(number), clock, memory },
    storeRevision: () => runtime.store.committed,
    log: log.with('audit'),
    ...configuration.audit,
    ...(number === 1 ? { signHead } : {}),
    isHeld: (file) => watch.isHeld(file),
  });
  closing.onClose(() => trail.close());
  // The last signature covers the records that the other processes write until they end.
  if (number === 1) closing.onClose(() => (worker.isServing ? Promise.race([alone, setTimeout(aloneMs)]) : undefined));
  const audit = metrics.measured(writingBy(trail, (record) => trail.write(record), watch));
  if (number === 1) cluster?.onForeignWrites((report) => recordForeignWrites({ store: runtime.store, clock, audit }, report));
  const backups = openBackups(worker, { clockWatch, audit, signHead });
  closing.onRest(() => backups.stop());
  const drills = openDrills(worker, { clockWatch, audit });
  closing.onRest(() => drills.stop());
  return { clockWatch, metrics, trail, audit, watch, backups, drills, admit: (tenantId) => quotas.admit(tenantId), recordTime };
}

function openBackups(
  { configuration, log, runtime: { store, hsm } }: ServingWorker,
  { clockWatch, audit, signHead }: Pick<Recording, 'clockWatch' | 'audit'> & { readonly signHead: SignHead },
): Backups {
  return new Backups({
    ...{ directory: configuration.data, store, hsm, clock: clockWatch.clock, audit, log: log.with('backup') },
    config: configuration.backup,
    embedded: configuration.hsm.tokens.length === 0,
    appliance: configuration.hosts[0] ?? 'localhost',
    version: program.version,
    sign: signHead,
    auditKeys: () => auditPublicKeysPem(store),
  });
}

function openDrills(
  { configuration, log, runtime: { store } }: ServingWorker,
  { clockWatch, audit }: Pick<Recording, 'clockWatch' | 'audit'>,
): Drills {
  const { clock } = clockWatch;
  return new Drills({
    options: process.argv.slice(2),
    ...{ data: configuration.data, store, clock, config: configuration.backup, log: log.with('drill') },
    auditKeys: () => auditPublicKeysPem(store),
    record: (result) => recordDrill(audit, clock, result),
  });
}
