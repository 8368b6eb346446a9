// State of the backups in answers of the appliance, as far as the views read it.

export type BackupStatus = {
  readonly running?: {
    readonly purpose: 'request' | 'pull' | 'schedule' | 'now';
    readonly stage: 'copying' | 'sending';
    readonly target: string;
    readonly 'started-at': string;
    readonly 'done-bytes': number;
    readonly 'total-bytes': number;
  };
  readonly targets: number;
  readonly scheduled: boolean;
  readonly 'next-at'?: string;
  readonly 'last-success-at'?: string;
  readonly 'last-bytes'?: number;
  readonly 'last-seconds'?: number;
  readonly 'last-digest'?: string;
  readonly 'last-taken-at'?: string;
  readonly failures: number;
  readonly 'failures-in-a-row': number;
  readonly 'last-failure-at'?: string;
  readonly 'last-failure'?: string;
};

export const backupPath = '/v1/state/system/backup';
export const statusPath = '/v1/state/system/backup-status';
export const runPath = '/v1/state/system/run-backup';
