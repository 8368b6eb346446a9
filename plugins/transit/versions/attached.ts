// Attachments in the life of keys: they check, certify, and may veto changes to keys and versions.
import type { ZodType } from 'zod';
import type { Certified, Recertified } from '../../../core/plugin/services/transit-keys.ts';
import type { Authorized } from '../../../core/access/access-control.ts';
import { requireNamed } from '../../../core/http/named-entries.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { Transit } from '../context.ts';
import type { SignatureMethod } from '../formats/signatures.ts';
import { type AttachedFields, type Attachment, fieldsOf, keptOf, withKept } from '../records/attachments.ts';
import type { Key, Version } from '../records/keyring.ts';
import type { VersionRecord } from '../records/records.ts';
import type { VersionTimes } from '../records/version-rules.ts';
import type { GivenMaterial, VersionMaterial } from './material.ts';
import type { UsedKey } from '../uses/used-key.ts';
import { definitionOf, keyView, type KeyView, versionView } from './views.ts';

/** Throws what attachments refuse about the definition of a key; `before` is undefined for a new one. */
export function requireDefinition(transit: Transit, key: Key, before: Key | undefined): void {
  for (const attachment of transit.attachments)
    attachment.requireDefinition(definitionOf(attachment, key), before === undefined ? undefined : viewOf(transit, attachment, before));
}

/**
 * Throws policy-denied unless the caller may use the keys that this one names: each new version of a subkey is bound by its primary key. A timer
 * was judged when it was set.
 */
export function requireNamedKeys({ attachments }: Transit, access: Authorized, fields: object): void {
  requireNamed(access, attachments.namedFields, attachments.fieldsIn(fields));
}

/** Parameters that attachments add to `import`. */
export function importParameters({ attachments }: Transit): Readonly<Record<string, ZodType>> {
  return Object.assign({}, ...Array.from(attachments, ({ importForm }) => importForm.parameters)) as Record<string, ZodType>;
}

/** A key as attachments read it: PKCS#8 if its text is in a form of one of them, and what they are told when it is certified. */
export async function readBrought(
  { attachments }: Transit,
  key: Key,
  { data, passphrase, ...parameters }: { readonly data?: string | undefined; readonly passphrase?: string | undefined },
  now: Temporal.Instant,
): Promise<{ readonly pkcs8: Uint8Array | undefined; readonly origins: ReadonlyMap<string, unknown> }> {
  const origins = new Map<string, unknown>();
  let pkcs8: Uint8Array | undefined;
  for (const attachment of attachments) {
    const brought = await attachment.importForm.read(definitionOf(attachment, key), data, passphrase, parameters, now);
    pkcs8 ??= brought.pkcs8;
    if (brought.origin !== undefined) origins.set(attachment.name, brought.origin);
  }
  return { pkcs8, origins };
}

/** Data that attachments keep with a version that is not committed yet: members of its record. */
export type CertifiedVersion = { readonly kept: AttachedFields; recheck(transaction: WriteTransaction): void };

/** Lets attachments certify a version whose key is in the token. */
export async function certify(
  transit: Transit,
  key: Key,
  number: number,
  material: VersionMaterial,
  times: VersionTimes,
  origins?: GivenMaterial['origins'],
): Promise<CertifiedVersion> {
  const kept: Record<string, unknown> = {};
  const all: Certified<unknown>[] = [];
  for (const attachment of transit.attachments) {
    const version = versionView(attachment, key, { number, record: { ...times, ...material } });
    const certified = await attachment.certify(definitionOf(attachment, key), version, origins?.get(attachment.name));
    if (certified === undefined) continue;
    kept[attachment.name] = certified.kept;
    all.push(certified);
  }
  return { kept, recheck: (transaction) => all.forEach((one) => one.recheck(transaction)) };
}

/** Lets attachments certify the versions of a changed key again. Answers what is to be done inside the transaction of the change. */
export async function recertify(transit: Transit, after: Key, before: Key): Promise<(transaction: WriteTransaction) => void> {
  const all: [Attachment, Recertified<unknown>][] = [];
  for (const attachment of transit.attachments) {
    const recertified = await attachment.recertify(definitionOf(attachment, after), viewOf(transit, attachment, before));
    if (recertified !== undefined) all.push([attachment, recertified]);
  }
  return (transaction) => {
    for (const [attachment, recertified] of all) {
      for (const [number, one] of recertified.kept)
        putKept(transit, transaction, attachment, [before.tenantId, before.record.id, number], one);
      recertified.commit(transaction);
    }
  };
}

/** Replaces the data that an attachment keeps with a version. False if the version is gone. */
export function putKept(
  { tables }: Transit,
  transaction: WriteTransaction,
  attachment: Attachment,
  storeKey: readonly [string, string, number],
  kept: unknown,
): boolean {
  const version: VersionRecord | undefined = transaction.get(tables.versions, storeKey);
  if (version === undefined) return false;
  transaction.put(tables.versions, storeKey, withKept(attachment, version, kept));
  return true;
}

/** Throws in-use while an attachment needs the key; asked when its removal is planned, and again inside the transaction. */
export function requireRemovable(transit: Transit, key: Key, transaction?: WriteTransaction): void {
  for (const attachment of transit.attachments) attachment.requireRemovable(viewOf(transit, attachment, key), transaction);
}

/** Throws in-use when an attachment needs one of the versions that a trim or a restore removes. */
export function requireVersionsRemovable(
  transit: Transit,
  transaction: WriteTransaction,
  key: Key,
  going: readonly Version[],
  access: Authorized,
  restored?: { readonly key: Key; readonly versions: readonly Version[] },
): void {
  if (going.length === 0) return;
  const shows = (name: string, field: string): boolean =>
    ['config', 'state'].some((tree) => access.shownAt(['v1', tree, 'keystore', 'transit-keys', name])(field));
  for (const attachment of transit.attachments) {
    const view = keyView(attachment, key, () => going);
    const inPlace = restored?.versions.map((version) => versionView(attachment, restored.key, version)) ?? [];
    attachment.requireVersionsRemovable(view, { going: view.versions, restored: inPlace }, transaction, shows);
  }
}

/** A version as a backup describes it. */
type BackupVersion = { readonly version: number; readonly publicKey?: Uint8Array | undefined; readonly material?: Uint8Array | undefined };

/** Lets attachments check what a backup has kept with its versions. Answers members of version records, by number. */
export async function acceptRestored(
  transit: Transit,
  target: Key,
  key: Key,
  versions: readonly BackupVersion[],
): Promise<ReadonlyMap<number, AttachedFields>> {
  const accepted = new Map<number, AttachedFields>();
  for (const attachment of transit.attachments) {
    const described = versions.map((version) => ({
      version: version.version,
      publicKey: version.publicKey,
      hasPrivateKey: version.material !== undefined,
      attached: (version as AttachedFields)[attachment.name],
    }));
    const kept = await attachment.acceptRestored(viewOf(transit, attachment, target), definitionOf(attachment, key), described);
    for (const [number, one] of kept) accepted.set(number, { ...accepted.get(number), [attachment.name]: one });
  }
  return accepted;
}

/** Throws when an attachment refuses a raw signature. */
export function requireSignable(
  used: Pick<UsedKey, 'transit' | 'key' | 'allows'>,
  version: Version,
  method: SignatureMethod,
  text: Uint8Array,
  isMadeHere = false,
): void {
  const { transit, key } = used;
  const prehashed = 'prehashed' in method && method.prehashed;
  const request = { text, family: method.family, prehashed, isMadeHere, allows: (action: string) => used.allows(action) };
  for (const attachment of transit.attachments)
    attachment.requireSignable(fieldsOf(attachment, key.record), keptOf(attachment, version.record), request);
}

function viewOf(transit: Transit, attachment: Attachment, key: Key): KeyView {
  return keyView(attachment, key, () => transit.keyring.versions(key));
}
