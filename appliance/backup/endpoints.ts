// Endpoints of backups: as an answer, to the targets of the configuration, and how they went. For the system tenant only.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { Secret } from '../../core/base/secret.ts';
import { type AnyEndpoint, defineEndpoint, Reply } from '../../core/http/endpoint.ts';
import { type BackupStatus, statusSchema } from './run/record.ts';
import { tags } from '../../core/http/tags.ts';
import type { Backups } from './run/backups.ts';

const shared = { tag: tags.system, access: 'token' } as const;

/**
 * The endpoints. A caller that may choose the readers of a backup may read everything: that needs `root`; the others need a policy for
 * their path. Long because it is a list, of which each entry is read by itself.
 */
export function backupEndpoints(backups: Backups): AnyEndpoint[] {
  return [
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/backup',
      act: 'take-keys-out',
      operation: 'execute',
      summary: 'Take an encrypted backup of the whole appliance',
      documented: { exampleInput: { passphrase: 'correct horse battery staple' } },
      description:
        'The answer is an age file around a tar archive, encrypted under the passphrase or to the recipients. It is complete only if it has the length that content-length says. Keep what opens it apart from it: nothing else does.',
      audit: 'required',
      produces: 'application/octet-stream',
      input: z.object({
        passphrase: z
          .string()
          .min(12)
          .max(1024)
          .optional()
          .meta({ description: 'Opens the backup again; 12 characters or more.', example: 'correct horse battery staple' }),
        recipients: z
          .array(z.string().min(1).max(4096))
          .min(1)
          .max(32)
          .optional()
          .meta({
            description: 'age recipients, in place of a passphrase: all age1… or all age1pq1….',
            example: ['age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj'],
          }),
      }),
      secretInput: ['passphrase'],
      auditFields: ['recipients'],
      errors: ['not-found', 'backup-running', 'storage-unavailable'],
      reservedFor: 'system-root',
      async run(_call, { passphrase, recipients }) {
        if (passphrase !== undefined && recipients !== undefined) {
          throw fail('invalid-value', { detail: 'Give a passphrase or recipients, not both: an age file has one kind.' });
        }
        if (passphrase !== undefined) return reply(await backups.open('request', { passphrase: new Secret(passphrase) }));
        if (recipients !== undefined) return reply(await backups.open('request', { recipients }));
        throw fail('missing-field', { detail: 'Give a passphrase, or recipients (age1…), to encrypt the backup to.' });
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/pull-backup',
      act: 'take-keys-out',
      operation: 'execute',
      summary: 'Take a backup to the recipients of the configuration',
      description:
        'As backup, for a caller that may fetch backups and open none: the recipients are those of the configuration, and it cannot choose others. A policy that allows execute on this path alone is enough.',
      audit: 'required',
      produces: 'application/octet-stream',
      errors: ['not-found', 'backup-running', 'backup-not-configured', 'storage-unavailable'],
      reservedFor: 'system-tenant',
      run: async () => reply(await backups.pull()),
    }),
    defineEndpoint({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/run-backup',
      act: 'take-keys-out',
      operation: 'execute',
      summary: 'Begin a backup to the targets of the configuration now',
      description: 'Answered when it has begun; backup-status tells how far it is and how it went.',
      audit: 'required',
      errors: ['not-found', 'backup-running', 'backup-not-configured'],
      reservedFor: 'system-tenant',
      async run() {
        await backups.runNow();
        return undefined;
      },
    }),
    defineEndpoint<undefined, BackupStatus>({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/backup-status',
      operation: 'read',
      summary: 'The backup that runs, with its progress, and how the scheduled ones went',
      named: 'Backups',
      description: 'Times and sizes of the last backups to the targets of the configuration, and why the last one failed, if it did.',
      audit: 'reads-go-on',
      output: statusSchema,
      errors: ['not-found'],
      reservedFor: 'system-tenant',
      run: async () => backups.status(),
    }),
  ];
}

/** With its length, by which a client sees that it has all of it. */
function reply({ bytes, pieces }: Awaited<ReturnType<Backups['open']>>): Reply {
  return new Reply(200, pieces, { 'content-type': 'application/octet-stream', 'content-length': String(bytes) });
}
