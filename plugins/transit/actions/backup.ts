// Action backup: definition and all key material in clear, as one text.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { encodeBase64 } from '../../../core/base/bytes.ts';
import type { AnyEndpoint } from '../../../core/http/endpoint.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { type Backup, formatBackup } from '../backup/format.ts';
import { readInClear } from '../versions/clear-material.ts';
import { noteExport } from '../custody/history.ts';
import { noteMaterial } from '../custody/past-material.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { documentOf } from '../keys/definition.ts';
import { type Key, type Version, mainPurpose, referenceTo, requireAllEnabled } from '../records/keyring.ts';
import type { Transit } from '../context.ts';
import { defineKeyAction } from './action.ts';

const outputSchema = z.object({
  key: z.string().meta({ description: 'Definition and key material in clear, for restore.', contentEncoding: 'base64' }),
  keyVersion: z.int().describe('Latest version in the backup.'),
});

/** POST …/backup */
export function backup(transit: Transit): AnyEndpoint {
  return defineKeyAction<unknown, z.output<typeof outputSchema>>(transit, 'backup', {
    summary: 'Back up a key in clear',
    description:
      'One text that restore takes, with all versions and their material in clear: keep it like the key. The key must have `allow-plaintext-backup`, which cannot be set back.',
    idempotent: true,
    audit: 'required',
    act: 'take-keys-out',
    output: outputSchema,
    secretOutput: ['key'],
    commandLine: { output: 'key' },
    errors: ['backup-not-allowed', 'key-disabled', 'operation-not-supported'],
    run: async (call, _input, key) => {
      if (key.record.verificationOnly) throw fail('operation-not-supported', { detail: 'The key has no private part to back up.' });
      requireAllEnabled(key);
      if (!key.record.allowPlaintextBackup)
        throw fail('backup-not-allowed', { detail: 'Set allow-plaintext-backup to true first; it cannot be set back.' });
      const { floor: oldest, latest: newest } = key.record;
      call.noteAudit({ keyVersion: newest });
      const { requestId, now } = call;
      await noteExport(transit, key, { kind: 'backup', format: 'clear', oldest, newest, at: microseconds(now), requestId });
      await noteMaterial(transit, key, [...transit.keyring.versions(key)]);
      const collected = await collect(transit, key);
      try {
        return { key: encodeBase64(formatBackup(collected)), keyVersion: newest };
      } finally {
        for (const { material, hmac, convergent, agreement } of collected.versions)
          for (const secret of [material, hmac, convergent, agreement]) secret?.fill(0);
      }
    },
  });
}

async function collect(transit: Transit, key: Key): Promise<Backup> {
  const { createdAt, latest, floor, kdf } = key.record;
  const versions: Backup['versions'] = [];
  for (const version of transit.keyring.versions(key)) versions.push(await collectVersion(transit, key, version));
  return { name: key.name, document: documentOf(transit.attachments, key.record), createdAt, latest, floor, ...defined({ kdf }), versions };
}

async function collectVersion(transit: Transit, key: Key, version: Version): Promise<Backup['versions'][number]> {
  const { createdAt, activatesAt, stored, hmac, convergent, agreement, publicKey, certificateChain } = version.record;
  const read = (reference: KeyReference): Promise<Uint8Array> => readInClear(transit.hsm, reference);
  return {
    version: version.number,
    createdAt,
    // In a backup, no version is active before it was made.
    activatesAt: Math.max(createdAt, activatesAt),
    uses: transit.usage.view(key, version.number).usesAtMost,
    ...(stored === undefined ? {} : { material: await read(referenceTo(key, version, mainPurpose(key.record))) }),
    ...(hmac === undefined ? {} : { hmac: await read(referenceTo(key, version, 'hmac')) }),
    ...(convergent === undefined ? {} : { convergent: await read(referenceTo(key, version, 'convergent')) }),
    ...(agreement === undefined ? {} : { agreement: await read(referenceTo(key, version, 'agree')) }),
    ...defined({ publicKey }),
    ...defined({ certificateChain: certificateChain && [...certificateChain] }),
    ...transit.attachments.keptWith(version.record),
  };
}
