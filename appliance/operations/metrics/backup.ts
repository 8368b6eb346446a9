// Metrics of scheduled backups, from what the store remembers: the same whichever process is asked.
import { Counter, Gauge, type Registry } from 'prom-client';
import { decodeTimestamp } from '../../../core/base/time.ts';
import type { Backups } from '../../backup/run/backups.ts';

/** Adds the series. Times, size and duration have no sample until there was a backup. */
export function measureBackups(backups: Backups, registry: Registry): void {
  const { lastSuccessAt, lastBytes, lastSeconds, failures, running } = backups.status();
  const gauge = (name: string, help: string, value: number | undefined): void => {
    const made = new Gauge({ name, help, registers: [registry] });
    // A gauge without labels begins at 0, which would be a time.
    if (value === undefined) made.remove();
    else made.set(value);
  };
  const succeeded = lastSuccessAt === undefined ? undefined : decodeTimestamp(lastSuccessAt);
  gauge(
    'keystored_backup_last_success_timestamp_seconds',
    'When the last scheduled backup had reached all its targets, seconds since 1970',
    succeeded === undefined ? undefined : succeeded.epochMilliseconds / 1_000,
  );
  gauge('keystored_backup_last_size_bytes', 'Size of the last scheduled backup', lastBytes);
  gauge('keystored_backup_last_duration_seconds', 'Time the last scheduled backup took, to all its targets', lastSeconds);
  gauge(
    'keystored_backup_interval_seconds',
    'Time from one scheduled backup to the next; no sample without a schedule',
    backups.intervalSeconds,
  );
  gauge('keystored_backup_running', '1 while a backup is made, scheduled or requested', running === undefined ? 0 : 1);
  new Counter({
    name: 'keystored_backup_failures_total',
    help: 'Scheduled backups that failed or were interrupted, over all starts of the appliance',
    registers: [registry],
  }).inc(failures);
}
