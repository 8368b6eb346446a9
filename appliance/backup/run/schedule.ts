// When the next scheduled backup is due, and from when on one is missing.
import type { BackupSchedule } from '../../../core/config/backup.ts';
import { decodeTimestamp } from '../../../core/base/time.ts';
import type { HistoryRecord } from './record.ts';

const daySeconds = 86_400;
/** A failed backup is tried again after this long, and each time after twice as long. */
const firstRetrySeconds = 60;
const longestRetrySeconds = 3_600;
/** Room for the backup itself and its repetitions. */
const graceSeconds = 600;

/** The time from one backup to the next. */
export function periodSeconds(schedule: BackupSchedule): number {
  return 'everySeconds' in schedule ? schedule.everySeconds : daySeconds;
}

/**
 * When the next one is due, in seconds since 1970; a time in the past: now. The first one is due at once, and so is one that was missed
 * while the appliance was stopped.
 */
export function nextDue(schedule: BackupSchedule, history: HistoryRecord, nowSeconds: number): number {
  const begun = secondsOf(history.begunAt);
  // A beginning in the future is from a clock that was ahead: counting from it could wait for years.
  if (begun === undefined || begun > nowSeconds + firstRetrySeconds) return nowSeconds;
  const regular = 'everySeconds' in schedule ? begun + schedule.everySeconds : nextAtMinute(schedule.minuteOfDay, begun);
  const failures = history.failuresInARow + (wasInterrupted(history) ? 1 : 0);
  if (failures === 0) return regular;
  const last = Math.max(begun, secondsOf(history.lastFailureAt) ?? 0);
  return Math.min(regular, last + Math.min(firstRetrySeconds * 2 ** Math.min(failures - 1, 10), longestRetrySeconds));
}

/** Tells whether the last one began and neither succeeded nor failed: its process was killed. */
export function wasInterrupted({ begunAt, endedAt }: HistoryRecord): boolean {
  return begunAt !== undefined && (endedAt === undefined || endedAt < begunAt);
}

/** Tells whether the last good backup is older than the schedule allows. */
export function isOverdue(schedule: BackupSchedule, history: HistoryRecord, nowSeconds: number): boolean {
  const good = secondsOf(history.lastSuccessAt ?? history.since);
  return good !== undefined && nowSeconds - good > 1.5 * periodSeconds(schedule) + graceSeconds;
}

function nextAtMinute(minuteOfDay: number, afterSeconds: number): number {
  const midnight = Math.floor(afterSeconds / daySeconds) * daySeconds;
  const today = midnight + minuteOfDay * 60;
  return today > afterSeconds ? today : today + daySeconds;
}

function secondsOf(timestamp: string | undefined): number | undefined {
  const instant = timestamp === undefined ? undefined : decodeTimestamp(timestamp);
  return instant === undefined ? undefined : instant.epochMilliseconds / 1_000;
}
