// State of restore drills in answers of the appliance, as far as the views read it.

type Said = { readonly where: string; readonly problem: string };

export type DrillResult = {
  readonly at: string;
  readonly by: string;
  readonly kind: 'drill' | 'look' | 'noted';
  readonly outcome: 'restores' | 'found' | 'not-opened' | 'looked';
  readonly reason?: string;
  readonly source: string;
  readonly seconds?: number;
  readonly 'made-at'?: string;
  readonly 'made-by'?: string;
  readonly version?: string;
  readonly 'signed-by'?: 'this-appliance' | 'another' | 'nobody';
  readonly 'key-id'?: string;
  readonly records?: number;
  readonly bytes?: number;
  readonly embedded?: boolean;
  readonly tokens?: readonly string[];
  readonly keys?: readonly { readonly type: string; readonly count: number }[];
  readonly findings?: readonly Said[];
  readonly 'finding-count'?: number;
  readonly notes?: readonly Said[];
};

export type DrillState = {
  readonly running?: { readonly source: string; readonly stage: 'reading' | 'proving'; readonly 'started-at': string; readonly by: string };
  readonly upload?: { readonly bytes: number; readonly at: string };
  readonly last?: DrillResult;
  readonly 'last-good'?: Pick<DrillResult, 'at' | 'by' | 'source' | 'kind'>;
};

export type StoredBackup = { readonly file: string; readonly bytes: number };

export const drillPaths = {
  state: '/v1/state/system/restore-drill',
  stored: '/v1/state/system/stored-backups',
  upload: '/v1/state/system/upload-backup',
  run: '/v1/state/system/run-restore-drill',
  note: '/v1/state/system/note-restore-drill',
} as const;
