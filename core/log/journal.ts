// Priority of a line on standard error, for journald: without the prefix all lines have the same priority, and alerts cannot select by it.
import { fstatSync } from 'node:fs';
import type { Log, LogLevel } from '../base/context.ts';

const priorities = { debug: 7, info: 6, warn: 4, error: 3 } as const satisfies Record<LogLevel, number>;

/** Prefix of a line of this level (sd-daemon(3)); empty unless standard error is the journal. */
export function journalMark(level: LogLevel): string {
  return isJournal() ? `<${priorities[level]}>` : '';
}

/** Writes a warning to standard error, for events outside the log. */
export function warnOnStandardError(line: string): void {
  console.error(`${journalMark('warn')}keystored: ${line}`);
}

/** Log of a process without log files: warnings and faults, on standard error. */
export const standardErrorLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => warnOnStandardError(`${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`),
  error: (message, fields) => standardErrorLog.warn(message, fields),
  with: () => standardErrorLog,
};

/** Tells whether journald reads standard error: `JOURNAL_STREAM` has the device and inode of its stream (systemd.exec(5)). */
export function isJournal(): boolean {
  const stream = process.env['JOURNAL_STREAM'];
  if (stream === undefined) return false;
  const { dev, ino } = fstatSync(2);
  return stream === `${dev}:${ino}`;
}
