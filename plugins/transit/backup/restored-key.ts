// A key from a backup: validated like untrusted input, then loaded into the token of this appliance.
import { drawUuid } from '../../../core/base/uuid.ts';
import { defined } from '../../../core/base/defined.ts';
import { concat } from '../../../core/base/bytes.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { type Backup, custodyIn } from './format.ts';
import { requireChainOf } from '../certificates/chain.ts';
import { besideOf, cipherOf, isSymmetric, requireCipher, requireOffered } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { draftOf, requireRotatable } from '../keys/definition.ts';
import { requireCreatable, requireDisabling, requireMinimumVersions, requireOwnNonces } from '../keys/field-rules.ts';
import type { Key } from '../records/keyring.ts';
import { subjectOf } from '../versions/new-version.ts';
import { acceptRestored, requireDefinition } from '../versions/attached.ts';
import { type MaterialTarget, parseMaterialOctets } from '../formats/private-keys.ts';
import { keyObjectOf, requirePssParameters } from '../formats/public-keys.ts';
import { isSameKey, type PssRule, pssRuleOf } from '../formats/rsa-pss.ts';
import type { AttachedFields } from '../records/attachments.ts';
import { kdfOf, type KeyRecord, type VersionRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { claim, discard, makeMaterial } from '../versions/material.ts';

type BackupVersion = Backup['versions'][number];

/** A validated backup under the name of its target: records without key material, and the material beside them. */
type ValidatedKey = {
  readonly key: Key;
  readonly versions: readonly BackupVersion[];
  /** data that attachments keep with each version */
  readonly kept: ReadonlyMap<number, AttachedFields>;
};

/** Key and versions with their material in the token, ready to be committed. */
export type RestoredKey = {
  readonly key: Key;
  readonly versions: readonly { readonly number: number; readonly record: VersionRecord; readonly uses: number }[];
};

const secretBytes = 32;

/** Versions whose material is loaded together: their jobs share batches of the token. */
const versionsAtOnce = 16;

/** Validates definition and material. Throws the same errors as creation and import. */
export async function readRestored(transit: Transit, target: Key, backup: Backup): Promise<ValidatedKey> {
  const { document, kdf, latest, floor, createdAt, versions } = backup;
  const cipher = requireCipher(document.cipher, document.use);
  const givenPublicKey = requireCreatable(document, cipher);
  requireOffered(document.cipher, cipher, transit.hsm);
  requireOwnNonces(document, transit.hsm);
  const record: KeyRecord = {
    ...draftOf(transit.attachments, document, (versions.at(-1) as BackupVersion).createdAt),
    ...defined({ kdf }),
    custody: custodyIn(document),
    latest,
    floor,
    createdAt,
    verificationOnly: false,
  };
  requireMinimumVersions(target.name, document, record);
  requireRotatable(record);
  // Backups of earlier versions do not name the one derivation that there was.
  if (record.derived !== (kdf !== undefined) || (document.kdf ?? kdfOf(kdf)) !== kdfOf(kdf)) throw contradiction('derived');
  if (document.disabled || document.deleteAfter !== undefined) throw contradiction('a disabled key has no backup');
  requireDisabling(document, record);
  requireSequence(backup);
  const materialTarget = { cipherName: document.cipher, cipher, derived: document.derived };
  const validated: BackupVersion[] = [];
  for (const version of versions) validated.push(await validateVersion(version, record, materialTarget, givenPublicKey));
  const key: Key = { ...target, record };
  requireDefinition(transit, key, undefined);
  return { key, versions: validated, kept: await acceptRestored(transit, target, key, validated) };
}

/** Loads the material under a new key id; when one version fails, those loaded before are discarded. */
export async function loadRestored(transit: Transit, { key, versions: given, kept }: ValidatedKey): Promise<RestoredKey> {
  const versions = activeWithBefore(given);
  const loadedKey: Key = { ...key, record: { ...key.record, id: await drawUuid(transit.hsm) } };
  const loaded: RestoredKey['versions'][number][] = [];
  for (let at = 0; at < versions.length; at += versionsAtOnce) {
    const outcomes = await Promise.allSettled(
      versions.slice(at, at + versionsAtOnce).map(async (version) => {
        const record = await loadVersion(transit, loadedKey, versions, version, kept.get(version.version));
        return { number: version.version, record, uses: version.uses };
      }),
    );
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') loaded.push(outcome.value);
    const failed = outcomes.find((one) => one.status === 'rejected');
    if (failed === undefined) continue;
    await discardRestored(transit, { key: loadedKey, versions: loaded });
    throw failed.reason;
  }
  return { key: loadedKey, versions: loaded };
}

/** Discards the material that loadRestored made, if it is not committed. Never rejects. */
export async function discardRestored(transit: Transit, { key, versions }: RestoredKey): Promise<void> {
  for (const { number, record } of versions) await discard(transit, { ...subjectOf(key), number }, record);
}

/** Claims the token objects of a restored key, inside the transaction that commits it; `had` as in claim(). Throws conflict, private-key-in-use. */
export function claimRestored(
  transit: Transit,
  transaction: WriteTransaction,
  { key, versions }: RestoredKey,
  had: readonly Uint8Array[],
): void {
  for (const { number, record } of versions) claim(transit, transaction, { ...subjectOf(key), number }, record, had);
}

/** Makes a version that had not to wait active with the one before it, as in timesOfNewVersion(): a backup has its creation instead. */
function activeWithBefore(versions: readonly BackupVersion[]): readonly BackupVersion[] {
  let before = 0;
  return versions.map((version) => {
    const { createdAt, activatesAt } = version;
    if (activatesAt > createdAt) before = activatesAt;
    return { ...version, activatesAt: before };
  });
}

async function loadVersion(
  transit: Transit,
  key: Key,
  all: readonly BackupVersion[],
  version: BackupVersion,
  kept: AttachedFields | undefined,
): Promise<VersionRecord> {
  const { version: number, createdAt, activatesAt, material, hmac, convergent, agreement, publicKey, certificateChain } = version;
  const next = all.find((one) => one.version === number + 1);
  const given = {
    ...defined({ main: material, hmac, convergent, agreement, publicKey }),
  };
  return {
    createdAt,
    activatesAt,
    ...defined({ supersededAt: next?.createdAt, publicKey, certificateChain }),
    ...(material === undefined
      ? {}
      : { ...(await makeMaterial(transit, { ...subjectOf(key), number }, given)), origin: 'restored' as const }),
    ...kept,
  };
}

// The versions from the oldest to the latest, complete and in order.
function requireSequence({ versions, floor, latest, createdAt }: Backup): void {
  if (versions.length !== latest - floor + 1) throw contradiction('versions');
  let previous = { createdAt, activatesAt: 0 };
  versions.forEach((version, index) => {
    const { createdAt: made, activatesAt } = version;
    if (version.version !== floor + index || made < previous.createdAt || activatesAt < Math.max(made, previous.activatesAt)) {
      throw contradiction(`version ${version.version}`);
    }
    previous = version;
  });
}

/** The version with its material in the form that the HSM imports. */
async function validateVersion(
  version: BackupVersion,
  record: KeyRecord,
  target: MaterialTarget,
  givenPublicKey: Uint8Array | undefined,
): Promise<BackupVersion> {
  const { material, hmac, convergent, agreement, publicKey, certificateChain } = version;
  const where = `version ${version.version}`;
  if (isSymmetric(cipherOf(record)) !== (publicKey === undefined)) throw contradiction(where);
  if (certificateChain !== undefined && publicKey === undefined) throw contradiction(where);
  const second = besideOf(cipherOf(record));
  if ((second === undefined) !== (agreement === undefined)) throw contradiction(where);
  if (material === undefined) {
    requireOnlyVerifying(version, record, givenPublicKey);
    if (certificateChain !== undefined) requireChainOf(publicKey as Uint8Array, certificateChain);
    return version;
  }
  const secrets = [hmac, record.convergentEncryption ? convergent : hmac];
  if (secrets.some((secret) => secret?.length !== secretBytes) || record.convergentEncryption !== (convergent !== undefined))
    throw contradiction(where);
  // A copy: parsing private keys zeroes its input.
  const validated = await parseMaterialOctets(concat(material), target);
  if (publicKey !== undefined && (validated.publicKey === undefined || !isPublicKeyOf(publicKey, validated.publicKey))) {
    validated.octets.fill(0);
    throw contradiction(where);
  }
  try {
    if (certificateChain !== undefined) requireChainOf(publicKey as Uint8Array, certificateChain);
    if (second === undefined || agreement === undefined) return { ...version, material: validated.octets };
    const ofSecond = { cipherName: second, cipher: requireCipher(second), derived: false };
    const { octets } = await parseMaterialOctets(concat(agreement), ofSecond);
    return { ...version, material: validated.octets, agreement: octets };
  } catch (error) {
    validated.octets.fill(0);
    throw error;
  }
}

/**
 * Tells whether a public key is that of the material, which does not state the use of a key for RSASSA-PSS; all else is equal, octet by
 * octet.
 */
function isPublicKeyOf(stated: Uint8Array, own: Uint8Array): boolean {
  if (Buffer.compare(stated, own) === 0) return true;
  const rule = rsaPssRuleOf(stated);
  return rule !== undefined && isSameKey(stated, own);
}

/** Rule of a public key; undefined also for octets that are not one: a backup is untrusted. */
function rsaPssRuleOf(spki: Uint8Array): PssRule | undefined {
  try {
    const rule = pssRuleOf(spki);
    if (rule !== undefined) requirePssParameters(keyObjectOf(spki));
    return rule;
  } catch {
    return undefined;
  }
}

// Only version 1 of a key created from a public key has no private part, and such a key has a backup once a later version has one.
function requireOnlyVerifying(
  { version, hmac, convergent, publicKey }: BackupVersion,
  { latest }: KeyRecord,
  given: Uint8Array | undefined,
): void {
  // Versions before this one named the former as a plain RSA key.
  const isGiven =
    publicKey !== undefined && given !== undefined && (Buffer.compare(publicKey, given) === 0 || isPublicKeyOf(given, publicKey));
  if (version !== 1 || latest === 1 || !isGiven || hmac !== undefined || convergent !== undefined)
    throw contradiction(`version ${version}`);
}

function contradiction(where: string): Error {
  return fail('invalid-key-data', { detail: `The backup contradicts itself: ${where}.` });
}
