// Records of backups in the store: the running one, and the results of the last ones.
import { z } from 'zod';
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import { timestampText } from '../../../core/wire/fields.ts';

/** Reason for a backup. `request` and `pull` are answers to a request; `schedule` and `now` go to the targets of the configuration. */
export type Purpose = 'request' | 'pull' | 'schedule' | 'now';

/** A backup that runs. It counts as ended when `beatAt` is old: its process was killed. */
export type RunningRecord = {
  readonly id: string;
  /** that makes it, in a cluster */
  readonly appliance?: string;
  /** of the worker */
  readonly pid: number;
  readonly purpose: Purpose;
  readonly stage: 'copying' | 'sending';
  /** present target, for people */
  readonly target: string;
  readonly startedAt: string;
  readonly beatAt: string;
  readonly doneBytes: number;
  /** 0 while it is not known */
  readonly totalBytes: number;
};

/** Results of backups. Times are absent until there was one. Only scheduled backups have failures and a next time. */
export type HistoryRecord = {
  /** start of the last scheduled one that began, whatever came of it */
  readonly begunAt?: string;
  /** when it had succeeded or failed */
  readonly endedAt?: string;
  readonly lastSuccessAt?: string;
  readonly lastBytes?: number;
  readonly lastSeconds?: number;
  readonly lastDigest?: string;
  /** when somebody last took one, as an answer to a request */
  readonly lastTakenAt?: string;
  readonly failures: number;
  /** since the last success */
  readonly failuresInARow: number;
  readonly lastFailureAt?: string;
  readonly lastFailure?: string;
  /** when the schedule was first seen: a backup is missing from then on */
  readonly since?: string;
};

/** [`running`] */
export const runningTable = (store: Store): Table<RunningRecord> => store.table<RunningRecord>('backup-running');
/** [`history`] */
export const historyTable = (store: Store): Table<HistoryRecord> => store.table<HistoryRecord>('backup-history');
/** One at a time, whichever appliance makes it: the record names it. */
export const backupTableKinds: TableKinds = {
  'backup-running': { of: 'all', fills: true },
  'backup-history': { of: 'all', fills: true },
};

export const runningKey = ['running'] as const;
export const historyKey = ['history'] as const;

export const noHistory: HistoryRecord = { failures: 0, failuresInARow: 0 };

/** The answer of `backup-status`. */
export const statusSchema = z.object({
  running: z
    .object({
      purpose: z.enum(['request', 'pull', 'schedule', 'now']).describe('What it was begun for.'),
      stage: z.enum(['copying', 'sending']).describe('`copying` while the store is still copied, then `sending`.'),
      target: z.string().meta({ description: 'Where it goes.', example: 'directory' }),
      startedAt: timestampText().describe('When it began.'),
      doneBytes: z.int().describe('Octets so far.'),
      totalBytes: z.int().describe('Octets when it is done.'),
    })
    .optional()
    .describe('The backup that runs.'),
  targets: z.int().describe('How many targets the configuration has.'),
  scheduled: z.boolean().describe('`true` if the configuration has a schedule.'),
  nextAt: timestampText().optional().describe('When the next one begins.'),
  lastSuccessAt: timestampText().optional().describe('When the last one was complete.'),
  lastBytes: z.int().optional().describe('Its octets.'),
  lastSeconds: z.number().optional().describe('How long it took.'),
  lastDigest: z
    .string()
    .optional()
    .meta({ description: 'Its SHA-256.', example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
  lastTakenAt: timestampText().optional().describe('When somebody last took a backup, by `backup` or `pull-backup`.'),
  failures: z.int().describe('How many failed.'),
  failuresInARow: z.int().describe('How many failed since the last complete one.'),
  lastFailureAt: timestampText().optional().describe('When the last failure was.'),
  lastFailure: z.string().optional().meta({ description: 'What it was.', example: 'the target directory is full' }),
});

export type BackupStatus = z.output<typeof statusSchema>;
