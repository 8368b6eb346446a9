// Action trim: removes the versions older than the given one permanently.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { integer } from '../../../core/wire/fields.ts';
import { telling } from '../../../core/http/response/telling.ts';
import { type AnyEndpoint, Reply } from '../../../core/http/endpoint.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { rememberMaterial } from '../custody/past-material.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { putIndexed } from '../records/indexes.ts';
import { type Key, removedMeanwhile, toldOfKey } from '../records/keyring.ts';
import type { VersionRecord } from '../records/records.ts';
import { newestActive, type VersionTimes } from '../records/version-rules.ts';
import { requireVersionsRemovable } from '../versions/attached.ts';
import { finishRemoval, removeVersions, versionsIn } from '../versions/removal.ts';
import type { Transit } from '../context.ts';
import { maxVersion } from '../formats/value-format.ts';
import { defineKeyAction } from './action.ts';

const inputSchema = z.object({ version: integer(1, maxVersion).describe('Oldest version to keep.') });

/** POST …/trim */
export function trim(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, never>(transit, 'trim', {
    summary: 'Remove old versions',
    description:
      'Destroys key material for good: what only these versions can decrypt is lost. Versions older than the given one go; where they are gone already, nothing happens. While a newer version waits for `activate-after`, the one that encrypts and signs is not removed.',
    idempotent: true,
    audit: 'required',
    act: 'destroy',
    input: inputSchema,
    successStatus: 204,
    auditFields: ['version'],
    commandLine: { positional: ['version'], ends: 'destroys the older versions of the key: what they encrypted can never be opened again' },
    errors: ['version-unknown', 'in-use'],
    run: async (call, { version: oldest }, key) => {
      const { tables } = transit;
      const now = microseconds(call.now);
      await rememberMaterial(transit, key, oldest);
      const removed = await transit.store.write((transaction) => {
        const current = transaction.get(tables.keys, [key.tenantId, key.name]);
        if (current?.id !== key.record.id) throw removedMeanwhile();
        if (oldest > current.latest) {
          const unseen = fail('version-unknown', { detail: 'The key has no such version.' });
          throw telling(unseen, toldOfKey(key.name, ['latest-version'], `The latest version is ${current.latest}.`));
        }
        const present: Key = { ...key, record: current };
        requireNotInUse(transit, transaction, present, oldest, now);
        const going = versionsIn(transit, transaction, present, oldest);
        requireVersionsRemovable(transit, transaction, present, going, call.access);
        const references = removeVersions(transit, transaction, present, oldest);
        const disabledVersions = current.disabledVersions?.filter((version) => version >= oldest);
        if (oldest > current.floor)
          putIndexed(transit, transaction, present, { ...current, floor: oldest, ...defined({ disabledVersions }) });
        return references;
      });
      await finishRemoval(transit, key, removed);
      return new Reply(204);
    },
  });
}

/** Throws in-use if the version that encrypts and signs would go: the newer one waits because not everybody has it yet. */
function requireNotInUse(
  { tables }: Transit,
  transaction: WriteTransaction,
  { tenantId, name, record }: Key,
  oldest: number,
  now: number,
): void {
  const timesOf = (version: number): VersionTimes => transaction.get(tables.versions, [tenantId, record.id, version]) as VersionRecord;
  const inUse = newestActive(record, timesOf, now);
  if (oldest <= inUse) return;
  const detailOf = (version: string): string =>
    `${version} encrypts and signs until a newer one is active; what it made would be lost. Set min-encryption-version to ${oldest} first: that puts version ${oldest} into service.`;
  const unseen = coreFail('in-use', { detail: detailOf('One of these versions') });
  throw telling(unseen, toldOfKey(name, ['versions'], detailOf(`Version ${inUse}`)));
}
