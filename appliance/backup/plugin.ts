// The part of the appliance that makes backups: its endpoints, its schedule, and how the last ones went.
import { z } from 'zod';
import type { Notice } from '../../core/base/context.ts';
import { decodeTimestamp } from '../../core/base/time.ts';
import { gaugesOf } from '../../core/plugin/gauges.ts';
import { type AnyPlugin, definePlugin, type Gauge } from '../../core/plugin/plugin.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { backupEndpoints } from './endpoints.ts';
import { restoreEndpoints } from './restore-endpoints.ts';
import type { Backups } from './run/backups.ts';
import { releaseRecordOf } from './run/lease.ts';
import { runningTable } from './run/record.ts';

export function backupPlugin({ backups, store }: { readonly backups: Backups; readonly store: OpenStore }): AnyPlugin {
  return definePlugin({
    name: 'backup',
    contract: 1,
    config: z.unknown(),
    provision() {
      const { job } = backups;
      return {
        endpoints: [...backupEndpoints(backups), ...restoreEndpoints(store)],
        jobs: job === undefined ? [] : [job],
        gauges: backupGauges(backups),
        notices: ({ isSystem }) => (isSystem ? backupNotices(backups) : []),
        dropAppliance: (transaction, appliance) => releaseRecordOf(transaction, runningTable(store), appliance),
        health() {
          const part = backups.health();
          return part === undefined ? [] : [{ name: 'backup', ...part }];
        },
      };
    },
  });
}

/** Failures and overdue ones are a part of health. */
function backupNotices(backups: Backups): readonly Notice[] {
  const { scheduled, lastSuccessAt, lastTakenAt, failuresInARow } = backups.status();
  if (failuresInARow > 0) return [{ name: 'backup-failing', text: 'Backups to the targets fail', path: statusPath }];
  if (scheduled || lastSuccessAt !== undefined || lastTakenAt !== undefined) return [];
  const text = 'No backup was made yet, and none is scheduled';
  return [{ name: 'backup-missing', text, path: statusPath }];
}

const statusPath = '/v1/state/system/backup-status';

/** From records in the store: the same in every process. Times, size and duration have no sample until there was a backup. */
function backupGauges(backups: Backups): readonly Gauge[] {
  return gaugesOf(
    () => backups.status(),
    [
      {
        name: 'keystored_backup_last_success_timestamp_seconds',
        help: 'When the last scheduled backup had reached all its targets, seconds since 1970',
        value: ({ lastSuccessAt }) => (lastSuccessAt === undefined ? undefined : secondsOf(lastSuccessAt)),
      },
      {
        name: 'keystored_backup_last_size_bytes',
        help: 'Size of the last scheduled backup',
        value: ({ lastBytes }) => lastBytes,
      },
      {
        name: 'keystored_backup_last_duration_seconds',
        help: 'Time the last scheduled backup took, to all its targets',
        value: ({ lastSeconds }) => lastSeconds,
      },
      {
        name: 'keystored_backup_interval_seconds',
        help: 'Time from one scheduled backup to the next; no sample without a schedule',
        value: () => backups.intervalSeconds,
      },
      {
        name: 'keystored_backup_running',
        help: '1 while a backup is made, scheduled or requested',
        value: ({ running }) => (running === undefined ? 0 : 1),
      },
      {
        kind: 'counter',
        name: 'keystored_backup_failures_total',
        help: 'Scheduled backups that failed or were interrupted, over all starts of the appliance',
        value: ({ failures }) => failures,
      },
    ],
  );
}

/** Parses a timestamp; undefined for a text that is not a time. */
function secondsOf(timestamp: string): number | undefined {
  const instant = decodeTimestamp(timestamp);
  return instant === undefined ? undefined : instant.epochMilliseconds / 1_000;
}
