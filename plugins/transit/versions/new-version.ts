// Adds a version to a key: makes it in the token, and commits it if the key has not changed meanwhile.
import { defined } from '../../../core/base/defined.ts';
import { fail as coreFail, isOvertaken } from '../../../core/base/errors.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { inTurn } from '../../../core/base/async/turns.ts';
import { cipherOf, requireOffered } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { putIndexed } from '../records/indexes.ts';
import type { Key } from '../records/keyring.ts';
import { type CertifiedVersion, certify } from './attached.ts';
import { namedAsBefore } from '../formats/rsa-pss.ts';
import type { KeyRecord, VersionRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { type GivenMaterial, type VersionMaterial, type VersionSubject, claim, discard, makeMaterial } from './material.ts';
import { maxVersion } from '../formats/value-format.ts';
import { timesOfNewVersion } from '../records/version-rules.ts';

/** Decides by the current record on the source of the material of a new version; may throw refusals. */
export type VersionSource = (record: KeyRecord) => { readonly given?: () => GivenMaterial };

/** Attempts to make a version while no other process adds one. */
const attempts = 8;

/**
 * Adds one version to the key (rotate, import, timers) and returns its number. Undefined when `wanted` says, inside the
 * transaction, that the version is not needed. Starts again when another process added a version first: material is bound to
 * its version number. Throws not-found, conflict, version-exhausted, unsupported-cipher, and what `source` throws.
 */
export async function addVersion(
  transit: Transit,
  tenantId: string,
  name: string,
  now: number,
  source: VersionSource,
  wanted: (record: KeyRecord) => boolean = () => true,
): Promise<number | undefined> {
  return inTurn(lineOf(tenantId, name), async () => {
    // Of several processes, one succeeds in each round, so all succeed in the end.
    for (let attempt = 0, seen = 0; attempt < attempts; attempt += 1) {
      transit.store.refresh();
      const key = transit.keyring.find(tenantId, name);
      if (key === undefined) throw coreFail('not-found', { detail: 'No transit key of that name.' });
      if (!wanted(key.record)) return undefined;
      if (key.record.latest !== seen) [attempt, seen] = [0, key.record.latest];
      if (key.record.latest >= maxVersion)
        throw fail('version-exhausted', { detail: `The key has reached version ${maxVersion}, the last there is.` });
      const { given } = source(key.record);
      requireOffered(key.record.cipher, cipherOf(key.record), transit.hsm);
      const outcome = await addOnce(transit, key, now, given?.(), wanted);
      if (outcome !== 'again') return outcome;
    }
    throw coreFail('conflict');
  });
}

async function addOnce(
  transit: Transit,
  key: Key,
  now: number,
  given: GivenMaterial | undefined,
  wanted: (record: KeyRecord) => boolean,
): Promise<number | undefined | 'again'> {
  const number = key.record.latest + 1;
  const subject: VersionSubject = { ...subjectOf(key), number };
  const previous = transit.keyring.version(key, key.record.latest).record;
  const made = await makeMaterial(transit, subject, given);
  const publicKey = given === undefined ? namedAsBefore(previous.publicKey, made.publicKey) : made.publicKey;
  const material = { ...made, ...defined({ publicKey }) };
  let outcome: number | undefined | 'again' = 'again';
  try {
    const certified = await certify(transit, key, number, material, timesOfNewVersion(key.record, previous, now), given?.origins);
    outcome = await transit.store.write((transaction) => {
      const current = transaction.get(transit.tables.keys, [key.tenantId, key.name]);
      if (current?.id !== key.record.id || current.latest !== key.record.latest) return 'again';
      if (!wanted(current)) return undefined;
      certified.recheck(transaction);
      claim(transit, transaction, subject, material);
      commitVersion(transit, transaction, { ...key, record: current }, material, certified, now);
      return number;
    });
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  } finally {
    if (outcome !== number) await discard(transit, subject, material);
  }
  return outcome;
}

/** Name of the queue for changes of the versions of a key. */
export function lineOf(tenantId: string, name: string): string {
  return `transit/versions/${tenantId}/${name}`;
}

/** The part of a VersionSubject that the key gives. */
export function subjectOf(key: Key): Omit<VersionSubject, 'number'> {
  const { id, cipher, use, derived, convergentEncryption, custody } = key.record;
  return { tenantId: key.tenantId, keyId: id, name: key.name, cipher, use, derived, convergentEncryption, custody };
}

function commitVersion(
  transit: Transit,
  transaction: WriteTransaction,
  key: Key,
  material: VersionMaterial,
  certified: CertifiedVersion,
  now: number,
): void {
  const { tables } = transit;
  const previousKey = [key.tenantId, key.record.id, key.record.latest];
  const previous = transaction.get(tables.versions, previousKey) as VersionRecord;
  const times = timesOfNewVersion(key.record, previous, now);
  const number = key.record.latest + 1;
  transaction.put(tables.versions, previousKey, { ...previous, supersededAt: times.createdAt });
  transaction.put(tables.versions, [key.tenantId, key.record.id, number], {
    ...times,
    ...material,
    ...certified.kept,
  });
  const { timers } = key.record;
  putIndexed(transit, transaction, key, {
    ...key.record,
    latest: number,
    verificationOnly: false,
    ...(timers === undefined ? {} : { rotatesAt: now + timers.rotate }),
  });
}
