// Replaces the version that a key was made with, while nothing rests on it, by given material with a number of its own: values that were made
// elsewhere under that number open here.
import { inTurn } from '../../../core/base/async/turns.ts';
import { fail as coreFail, isOvertaken } from '../../../core/base/errors.ts';
import { drawUuid } from '../../../core/base/uuid.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { withNewChangeId } from '../../../core/http/resource/change-id.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { cipherOf, requireOffered } from '../ciphers.ts';
import type { Transit } from '../context.ts';
import { fail } from '../errors.ts';
import { microseconds } from '../instants.ts';
import { putIndexed } from '../records/indexes.ts';
import { type Key, removedMeanwhile } from '../records/keyring.ts';
import { timesOfNewVersion } from '../records/version-rules.ts';
import { certify, requireVersionsRemovable } from './attached.ts';
import { claim, discard, makeMaterial, type VersionSubject } from './material.ts';
import { lineOf, subjectOf, type VersionSource } from './new-version.ts';
import { finishRemoval, removeVersions, versionsIn } from './removal.ts';

/** Attempts while other processes change the key. */
const attempts = 8;

/**
 * Tells whether nothing rests on the only version of a key: it was made here with the key, was never used, as far as this process sees, and has not left.
 * A public key that others may encrypt to leaves no trace of its use.
 */
export async function isUntouched(transit: Transit, key: Key): Promise<boolean> {
  // Stores the uses that this process has counted.
  await transit.usage.flush();
  transit.store.refresh();
  const { tenantId, record } = key;
  if (record.latest !== 1 || record.floor !== 1 || record.verificationOnly) return false;
  if ((record.history?.exportCount ?? 0) > 0) return false;
  const { origin, publicKey } = transit.keyring.version(key, 1).record;
  if (origin !== 'generated' || (publicKey !== undefined && cipherOf(record).kind !== 'signing')) return false;
  return !transit.tables.usage.has([tenantId, record.id, 1]);
}

/**
 * Replaces the version of an untouched key. Throws `restore-would-destroy` for one that was used meanwhile, not-found, conflict,
 * unsupported-cipher, in-use, and what `source` throws.
 */
export async function replaceUntouched(
  transit: Transit,
  { tenantId, name }: Pick<Key, 'tenantId' | 'name'>,
  number: number,
  call: EndpointCall,
  source: VersionSource,
): Promise<void> {
  return inTurn(lineOf(tenantId, name), async () => {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      transit.store.refresh();
      const key = transit.keyring.find(tenantId, name);
      if (key === undefined) throw removedMeanwhile();
      if (!(await isUntouched(transit, key)))
        throw fail('restore-would-destroy', { detail: 'The key has been used or has other versions.' });
      if (await replaceOnce(transit, key, number, call, source)) return;
    }
    throw coreFail('conflict');
  });
}

/** False if another process changed the key meanwhile; then nothing was changed here. */
async function replaceOnce(transit: Transit, key: Key, number: number, call: EndpointCall, source: VersionSource): Promise<boolean> {
  const { store, tables, hsm } = transit;
  const { given } = source(key.record);
  requireOffered(key.record.cipher, cipherOf(key.record), hsm);
  const made: Key = { ...key, record: { ...key.record, id: await drawUuid(hsm), latest: number, floor: number } };
  const subject: VersionSubject = { ...subjectOf(made), number };
  const times = timesOfNewVersion({}, undefined, microseconds(call.now));
  const brought = given?.();
  const material = await makeMaterial(transit, subject, brought);
  let replaced: readonly KeyReference[] | undefined;
  try {
    const certified = await certify(transit, made, number, material, times, brought?.origins);
    const record = { ...times, ...material, ...certified.kept };
    replaced = await store.write((transaction) => {
      const current = transaction.get(tables.keys, [key.tenantId, key.name]);
      if (current?.id !== key.record.id || current.latest !== 1) throw coreFail('conflict', { overtaken: true });
      const isUsed = transaction.has(tables.usage, [key.tenantId, current.id, 1]) || (current.history?.exportCount ?? 0) > 0;
      if (isUsed) throw coreFail('conflict', { overtaken: true });
      const before: Key = { ...key, record: current };
      const going = versionsIn(transit, transaction, before);
      requireVersionsRemovable(transit, transaction, before, going, call.access, { key: made, versions: [{ number, record }] });
      const references = removeVersions(transit, transaction, before);
      certified.recheck(transaction);
      claim(transit, transaction, subject, material);
      transaction.put(tables.versions, [key.tenantId, made.record.id, number], record);
      const { id, latest, floor } = made.record;
      putIndexed(transit, transaction, before, withNewChangeId({ ...current, id, latest, floor, disabledVersions: [] }));
      return references;
    });
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  } finally {
    if (replaced === undefined) await discard(transit, subject, material);
  }
  if (replaced === undefined) return false;
  await finishRemoval(transit, key, replaced);
  return true;
}
