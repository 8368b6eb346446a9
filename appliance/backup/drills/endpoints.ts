// Endpoints of restore drills: a backup is uploaded or chosen, opened, and restored for trial in a process of its own. For the system tenant only.
import { z } from 'zod';
import { Secret } from '../../../core/base/secret.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { tags } from '../../../core/http/tags.ts';
import { base64Field, timestampText } from '../../../core/wire/fields.ts';
import type { Drills } from './drills.ts';
import { resultSchema } from './record.ts';
import { mostPieceBytes } from './upload.ts';

const shared = { tag: tags.system, access: 'token' } as const;
export const drillPath = '/v1/state/system/restore-drill';

const uploaded = z.object({
  bytes: z.int().min(0).describe('Octets that are there.'),
  at: timestampText().describe('When the last of them came.'),
});

const stateSchema = z.object({
  running: z
    .object({
      source: z.string().meta({ description: 'The backup.', example: 'an uploaded file' }),
      stage: z.enum(['reading', 'proving']).describe('`reading`: it is decrypted and verified. `proving`: it is restored for trial.'),
      startedAt: timestampText().describe('When it began.'),
      by: z.string().meta({ description: 'User who began it.', example: 'alice' }),
    })
    .optional()
    .describe('The drill that runs.'),
  upload: uploaded.optional().describe('The uploaded backup that waits for a drill, at the appliance that answers.'),
  last: resultSchema.optional().describe('The last drill or look; absent: there was none.'),
  lastGood: resultSchema
    .pick({ at: true, by: true, source: true, kind: true })
    .optional()
    .describe('The last drill after which every record and key had opened; absent: there was none.'),
});
type DrillState = z.output<typeof stateSchema>;

const secretText = (description: string, example: string) => z.string().min(1).max(65_536).optional().meta({ description, example });

const runInput = z
  .object({
    file: z.string().max(4096).optional().meta({
      description: 'Path of a file in a directory of the configuration, as stored-backups has it; absent: the uploaded one.',
      example: '/mnt/backups/keystored/keystored-plant-7-20260101T023000.417Z.tar.age',
    }),
    lookOnly: z
      .boolean()
      .default(false)
      .describe('`true` opens it to see what is in it, before a restore for example, and restores nothing for trial.'),
    passphrase: secretText('Passphrase that opens the backup.', 'correct horse battery staple'),
    identity: secretText(
      'age identities that open it, as age-keygen writes them, in place of a passphrase. Better stays where it is: a drill at the machine that has it needs no transfer.',
      'AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ',
    ),
    pin: secretText('PIN of the tokens, where neither the backup nor the configuration has it.', '2841-0093-5527'),
  })
  .refine(({ passphrase, identity }) => (passphrase === undefined) !== (identity === undefined), 'must have either passphrase or identity');

/** A caller that begins one reads a whole backup: that needs `root`. Long because it is a list, of which each entry is read by itself. */
export function drillEndpoints(drills: Drills): AnyEndpoint[] {
  return [
    defineEndpoint<undefined, DrillState>({
      ...shared,
      method: 'GET',
      path: drillPath,
      operation: 'read',
      summary: 'Show the restore drill that runs, the last one, and when one has last proven a backup',
      named: 'RestoreDrill',
      description:
        'Drills that were run at the machine (`keystored restore-drill`) are unknown here until note-restore-drill tells of them.',
      audit: 'reads-go-on',
      output: stateSchema,
      errors: ['not-found'],
      reservedFor: 'system-tenant',
      async run() {
        const [running, upload] = [drills.running(), await drills.upload()];
        return {
          ...drills.history(),
          ...(running === undefined ? {} : { running }),
          ...(upload === undefined ? {} : { upload: shownUpload(upload) }),
        };
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/stored-backups',
      operation: 'read',
      summary: 'List the backups in the directories of the configuration',
      named: 'StoredBackups',
      description:
        'The 200 newest. Those in S3 storage are not listed: the appliance has the right to put objects there, and none to read them.',
      audit: 'reads-go-on',
      output: z.object({
        backups: z
          .array(
            z.object({
              file: z
                .string()
                .meta({ description: 'Its path.', example: '/mnt/backups/keystored/keystored-plant-7-20260101T023000.417Z.tar.age' }),
              bytes: z.int().min(0).describe('Its octets.'),
              modifiedAt: timestampText().describe('When it was written.'),
            }),
          )
          .describe('The newest first.'),
      }),
      errors: ['not-found', 'operation-refused'],
      reservedFor: 'system-tenant',
      run: async () => ({ backups: [...(await drills.stored())] }),
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/upload-backup',
      act: 'none',
      operation: 'execute',
      summary: 'Upload a piece of a backup for a drill',
      description:
        'Pieces of at most 2 MiB, one behind the other; offset 0 begins a new file. The file stays encrypted, is used for run-restore-drill alone, and is removed after a drill that proved it, or when it has not been touched for an hour. In a cluster all pieces go to one appliance.',
      audit: 'required',
      auditFields: ['offset'],
      input: z.object({
        offset: z.int().min(0).meta({ description: 'Octets that are there already.', example: 0 }),
        content: base64Field({ minBytes: 1, maxBytes: mostPieceBytes }).meta({
          description: 'The next octets of the file.',
          example: 'YWdlLWVuY3J5cHRpb24ub3JnL3Yx',
        }),
      }),
      secretInput: ['content'],
      output: uploaded,
      commandLine: { input: 'content' },
      errors: ['not-found', 'operation-refused'],
      reservedFor: 'system-root',
      run: async (_call, { offset, content }) => shownUpload(await drills.takePiece(offset, content)),
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/run-restore-drill',
      act: 'none',
      operation: 'execute',
      summary: 'Begin a restore drill: prove that a backup restores',
      description:
        'Answered when it has begun; restore-drill tells how it went. The backup is restored into a directory of its own by a process of its own: every record is opened and every key used once, and what serves is not touched. That is done with what this appliance has signed alone; of any other backup the answer is what is in it, because its store and token could attack the programs that read them.',
      documented: { exampleInput: { passphrase: 'correct horse battery staple' } },
      audit: 'required',
      auditFields: ['file', 'lookOnly'],
      input: runInput,
      secretInput: ['passphrase', 'identity', 'pin'],
      errors: ['not-found', 'operation-refused'],
      reservedFor: 'system-root',
      async run({ caller }, { file, lookOnly, passphrase, identity, pin }) {
        const secret = (text: string | undefined) => (text === undefined ? undefined : new Secret(text));
        await drills.begin({
          ...{ file, kind: lookOnly ? 'look' : 'drill', by: caller.user },
          ...{ passphrase: secret(passphrase), identity: secret(identity), pin: secret(pin) },
        });
        return undefined;
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/note-restore-drill',
      act: 'none',
      operation: 'execute',
      summary: 'Note that a restore drill elsewhere has proven a backup',
      description:
        'For drills on the machine that has the identity, of which the appliance learns nothing by itself. The note says who gave it.',
      audit: 'required',
      auditFields: ['source'],
      input: z.object({
        source: z.string().trim().min(1).max(200).meta({
          description: 'Which backup it was, and where.',
          example: 'keystored-plant-7-20260101T023000.417Z.tar.age, at the vault machine',
        }),
      }),
      output: resultSchema,
      errors: ['not-found'],
      reservedFor: 'system-root',
      run: ({ caller }, { source }) => drills.note(source, caller.user),
    }),
  ];
}

function shownUpload({ bytes, modifiedMs }: { readonly bytes: number; readonly modifiedMs: number }) {
  return { bytes, at: formatTimestamp(Temporal.Instant.fromEpochMilliseconds(Math.round(modifiedMs))) };
}
