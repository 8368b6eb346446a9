// The section `backup`: recipients, schedule and targets of backups.
import { z } from 'zod';
import { durationField, integer } from '../wire/fields.ts';
import { headerText, serverUrl } from './other-servers.ts';

/** A place that backups are sent to. */
export type BackupTarget = DirectoryTarget | S3Target;

/** A directory of this machine; `keep` and `keepMonthly`: how many files stay, 0 for all. */
export type DirectoryTarget = {
  readonly kind: 'directory';
  readonly directory: string;
  readonly keep: number;
  readonly keepMonthly: number;
};

/** A bucket of a store that speaks the S3 protocol. */
export type S3Target = {
  readonly kind: 's3';
  /** base URL, without a slash at the end */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** in front of the name of each file: empty, or ends with a slash */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKeyFile: string;
  readonly caFile?: string;
};

/** `everySeconds`: from start to start. `minuteOfDay`: once a day, minutes after midnight UTC. */
export type BackupSchedule = { readonly everySeconds: number } | { readonly minuteOfDay: number };

export type BackupConfig = {
  readonly recipients: readonly string[];
  readonly schedule?: BackupSchedule;
  readonly to: readonly BackupTarget[];
};

const interval = durationField({ minSeconds: 60, maxSeconds: 31 * 86_400 });

const schedule = z.string().transform((text, context): BackupSchedule => {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) return { minuteOfDay: Number(hours) * 60 + Number(minutes) };
  const every = interval.safeParse(text);
  if (every.success) return { everySeconds: every.data.seconds };
  context.addIssue('must be an interval of 1m to 31d such as 6h or 1d, or a time of day in UTC such as 02:30');
  return z.NEVER;
});

const s3 = z.strictObject({
  endpoint: serverUrl(['http', 'https'], 'access-key-id and secret-access-key-file')
    .transform((url) => url.replace(/\/+$/, ''))
    .describe('URL of the store; buckets are addressed by path'),
  region: headerText(64).default('us-east-1').describe('region that requests are signed for'),
  bucket: z
    .string()
    .min(3)
    .max(63)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be a name of letters, digits, dots, hyphens and underscores')
    .describe('bucket that receives the files'),
  prefix: z
    .string()
    .max(512)
    .regex(/^(?:[\w.-]+\/)*$/, 'must be empty, or names that each end with a slash')
    .default('')
    .describe('in front of the name of each file, for example plant-7/'),
  accessKeyId: headerText(256).describe('id of the credential; the right to write objects is enough'),
  secretAccessKeyFile: z.string().min(1).describe('file with the secret of the credential; mode 0600'),
  caFile: z.string().min(1).exactOptional().describe('certificates (PEM) that are trusted for this store, in place of those of the system'),
});

const target = z
  .strictObject({
    directory: z
      .string()
      .startsWith('/', 'must be an absolute path')
      .exactOptional()
      .describe('a directory that exists, for example on a network share'),
    keep: integer(0, 10_000).exactOptional().describe('how many files stay in the directory; 0, the default: all'),
    keepMonthly: integer(0, 1_200).exactOptional().describe('for how many months the first file of the month stays as well'),
    s3: s3.exactOptional(),
  })
  .transform((given, context): BackupTarget => {
    const { directory, keep = 0, keepMonthly = 0, s3: store } = given;
    if (directory !== undefined && store === undefined) return { kind: 'directory', directory, keep, keepMonthly };
    if (directory === undefined && store !== undefined && given.keep === undefined && given.keepMonthly === undefined)
      return { kind: 's3', ...store };
    context.addIssue(
      store !== undefined && directory === undefined
        ? 'must not have keep for s3: files are removed by a lifecycle rule of the bucket, so that this appliance cannot delete its backups'
        : 'must have exactly one of directory and s3',
    );
    return z.NEVER;
  });

/** The section of the configuration file; the checksums of recipients are checked by the start. */
export const backupSection = z
  .strictObject({
    recipients: z
      .array(z.string().min(1).max(4_096))
      .min(1)
      .max(32)
      .describe('age recipients that can open the backups: all age1… or all age1pq1…; the identities are kept elsewhere'),
    schedule: schedule
      .exactOptional()
      .describe('an interval such as 6h or 1d, or a time of day in UTC such as 02:30; without it nothing is made without a request'),
    to: z.array(target).max(8).default([]).describe('where scheduled backups go; each receives every backup'),
  })
  .refine(
    (section) => section.schedule === undefined || section.to.length > 0,
    'must have to, a list of at least one target, with a schedule',
  );
