// Records of drills in the store: the one that runs, the last one, and when one has last proven a backup.
import { z } from 'zod';
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import { getIfOpen, getOrDrop, type Store, type Table } from '../../../core/store/store.ts';
import { timestampText } from '../../../core/wire/fields.ts';

const said = z.object({
  where: z.string().meta({ description: 'What it is about.', example: 'the store' }),
  problem: z.string().meta({ description: 'What is wrong there.', example: 'has 41 records, and the manifest says 42' }),
});

/** Result of a drill or a look. */
export const resultSchema = z.object({
  at: timestampText().describe('When it ended.'),
  by: z.string().meta({ description: 'User who began it.', example: 'alice' }),
  kind: z
    .enum(['drill', 'look', 'noted'])
    .meta({ typeName: 'DrillKind' })
    .describe('`drill`: restored for trial. `look`: opened to see what is in it. `noted`: a drill elsewhere, of which a person has told.'),
  outcome: z
    .enum(['restores', 'found', 'not-opened', 'looked'])
    .meta({ typeName: 'DrillOutcome' })
    .describe(
      '`restores`: every record and key opened. `found`: it restored, with `findings`. `not-opened`: it did not, for the `reason`. `looked`: it opened, and was not restored for trial.',
    ),
  reason: z.string().optional().meta({
    description: 'Why it did not open, or was not restored for trial.',
    example: 'the passphrase is wrong, or the backup is damaged',
  }),
  source: z.string().meta({
    description: 'Which backup it was: the name of the file, or what was noted.',
    example: 'keystored-plant-7-20260101T023000.417Z.tar.age',
  }),
  seconds: z.int().min(0).optional().describe('How long it took.'),
  madeAt: timestampText().optional().describe('When the backup was made.'),
  madeBy: z.string().optional().meta({ description: 'Host name of the appliance that made it.', example: 'plant-7' }),
  version: z.string().optional().meta({ description: 'Version of keystored that made it.', example: '0.2.0' }),
  signedBy: z
    .enum(['this-appliance', 'another', 'nobody'])
    .meta({ typeName: 'BackupSigner' })
    .optional()
    .describe('Who signed its manifest, as the public keys of the audit trail of this appliance tell.'),
  keyId: z.string().optional().meta({ description: 'The key that signed it.', example: '9f86d081884c7d659a2feaa0c55ad015' }),
  manifest: z.string().optional().meta({
    description: 'SHA-256 of its manifest, as in the record `backup-made` of the audit trail.',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  }),
  records: z.int().min(0).optional().describe('Entries of its store.'),
  files: z.int().min(0).optional().describe('Files in it.'),
  bytes: z.int().min(0).optional().describe('Octets of these files.'),
  embedded: z.boolean().optional().describe('`true` if the token itself is in it.'),
  tokens: z.array(z.string()).optional().describe('Tokens that its keys are in, or are wrapped under.'),
  keys: z
    .array(
      z.object({
        type: z.string().meta({ description: 'Type of the keys.', example: 'aes-256' }),
        count: z.int().min(0).describe('How many were loaded and used.'),
      }),
    )
    .optional()
    .describe('Keys that were loaded and used once, by type.'),
  findings: z.array(said).optional().describe('What does not restore as it should; the first fifty.'),
  findingCount: z.int().min(0).optional().describe('How many findings there are.'),
  notes: z.array(said).optional().describe('What an administrator should know and breaks nothing.'),
});
export type DrillResult = z.output<typeof resultSchema>;

export type DrillHistory = {
  readonly last?: DrillResult;
  /** the last one that restored, whatever came after it */
  readonly lastGood?: Pick<DrillResult, 'at' | 'by' | 'source' | 'kind'>;
};

/** With `isOpen`: a drill found faults, and none has restored since. What does not open, or is only looked at, says nothing of them. */
type KeptHistory = DrillHistory & { readonly isOpen?: boolean };

export type RunningDrill = {
  readonly id: string;
  readonly appliance?: string;
  readonly pid: number;
  readonly beatAt: string;
  readonly startedAt: string;
  readonly by: string;
  readonly source: string;
  readonly stage: 'reading' | 'proving';
};

/** [`history`] */
const historyTable = (store: Store): Table<KeptHistory> => store.table<KeptHistory>('drill-history');
const historyKey = ['history'];
/** [`running`] */
export const runningDrills = (store: Store): Table<RunningDrill> => store.table<RunningDrill>('drill-running');
export const drillTableKinds: TableKinds = {
  'drill-history': { of: 'all', fills: true },
  'drill-running': { of: 'all', fills: true },
};

export function drillHistory(store: Store): DrillHistory {
  const { isOpen: _, ...history } = getIfOpen(historyTable(store), historyKey) ?? {};
  return history;
}

/** Tells whether the faults that a drill has found are still to be mended. */
export function hasFoundFaults(store: Store): boolean {
  return areOpenIn(getIfOpen(historyTable(store), historyKey) ?? {});
}

/** An earlier version kept the last result alone. */
function areOpenIn({ isOpen, last }: KeptHistory): boolean {
  return isOpen ?? last?.outcome === 'found';
}

export async function keepResult(store: Store, result: DrillResult): Promise<void> {
  await store.write((transaction) => {
    const { at, by, source, kind } = result;
    const before: KeptHistory = getOrDrop(transaction, historyTable(store), historyKey) ?? {};
    const isOpen = result.outcome === 'found' || (result.outcome !== 'restores' && areOpenIn(before));
    const good = result.outcome === 'restores' ? { lastGood: { at, by, source, kind } } : {};
    transaction.put(historyTable(store), historyKey, { ...before, last: result, ...good, isOpen });
  });
}
