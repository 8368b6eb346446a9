// The invariants of the plugin's records, checked after every test and by the appliance's own check.
import type { CheckFinding } from '../../core/base/context.ts';
import type { StoreKey } from '../../core/store/store.ts';
import { besideOf, cipherOf, isSymmetric } from './ciphers.ts';
import { type Attachment, isPublishedBy, referenceOf } from './records/attachments.ts';
import type { Key, Version } from './records/keyring.ts';
import type { Transit } from './context.ts';
import type { KeyRecord, VersionRecord } from './records/records.ts';
import { isNoted, isPrivateKey } from './records/private-key-uses.ts';
import { isRemoved } from './versions/removal.ts';

/** Checks that keys have exactly their versions, versions their material and order in time, and index entries their keys. */
export function* check(transit: Transit): Iterable<CheckFinding> {
  const { tables, keyring } = transit;
  const ids = new Map<string, KeyRecord>();
  for (const [[tenantId, name], record] of tables.keys.entries([], { uncached: true })) {
    const key: Key = { tenantId: tenantId as string, name: name as string, record };
    ids.set(`${key.tenantId}/${record.id}`, record);
    yield* checkKey(transit, key, [...keyring.versions(key)]);
  }
  for (const table of [tables.versions, tables.usage, tables.versionMaterials]) {
    for (const [tenantId, keyId, version] of table.keys([])) {
      const record = ids.get(`${tenantId}/${keyId}`);
      const where = `${table.name} ${tenantId}/${keyId}/${version}`;
      if (isRemoved(transit, tenantId as string, keyId as string, version as number)) continue;
      if (record === undefined) yield { where, problem: 'belongs to no key' };
      else if ((version as number) < record.floor || (version as number) > record.latest)
        yield { where, problem: 'is outside the versions of its key' };
    }
  }
  for (const [[tenantId, thumbprint, keyId, version]] of tables.privateKeyUses.entries([])) {
    const record = tables.versions.get([tenantId, keyId, version] as StoreKey);
    // That of a version that did not open stays, and says nothing without it.
    if (record !== undefined && !isPrivateKey(record, thumbprint as string))
      yield { where: `private key ${tenantId}/${keyId}/${version}`, problem: 'is not that of its version' };
  }
  for (const [[rotatesAt, tenantId, name], keyId] of tables.rotations.entries([])) {
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record?.id !== keyId || record.rotatesAt !== rotatesAt)
      yield { where: `rotation of ${tenantId}/${name}`, problem: 'does not match its key' };
  }
  for (const [[deletesAt, tenantId, name], keyId] of tables.deletions.entries([])) {
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record?.id !== keyId || record.deletesAt !== deletesAt)
      yield { where: `deletion of ${tenantId}/${name}`, problem: 'does not match its key' };
  }
  for (const [[tenantId, name], keyId] of tables.published.entries([])) {
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record?.id !== keyId || record.publish !== true)
      yield { where: `published key ${tenantId}/${name}`, problem: 'does not match its key' };
  }
  for (const attachment of transit.attachments) {
    yield* checkReferences(transit, attachment);
    yield* checkPublished(transit, attachment);
  }
  yield* checkLedger(transit);
}

function* checkReferences({ tables, attachments }: Transit, attachment: Attachment): Iterable<CheckFinding> {
  const { table } = attachment.reference;
  for (const [tenantId, other, name] of attachments.indexOf(attachment).keys([])) {
    const where = `${table} ${tenantId}/${name}`;
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record === undefined || referenceOf(attachment, record) !== other) yield { where, problem: 'does not refer to this key' };
    if (!tables.keys.has([tenantId as string, other as string])) yield { where, problem: 'refers to a key that does not exist' };
  }
}

function* checkPublished({ tables, attachments }: Transit, attachment: Attachment): Iterable<CheckFinding> {
  for (const [[tenantId, name], keyId] of attachments.publishedOf(attachment).entries([])) {
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record?.id !== keyId || !isPublishedBy(attachment, record))
      yield { where: `${attachment.published.table} ${tenantId}/${name}`, problem: 'does not match its key' };
  }
}

// A token key of a version is not in the ledger, or the next sweep would destroy a key in use.
function* checkLedger({ tables, ledger }: Transit): Iterable<CheckFinding> {
  for (const { stored, binding } of ledger.entries()) {
    const version = tables.versions.get([binding.tenant, binding.keyId, binding.version]);
    if ([version?.stored, version?.agreement].some((held) => held !== undefined && Buffer.compare(held.blob, stored.blob) === 0))
      yield { where: `pending key ${binding.tenant}/${binding.keyId}/${binding.version}`, problem: 'names a key that a version holds' };
  }
}

function* checkKey(transit: Transit, { tenantId, name, record }: Key, versions: readonly Version[]): Iterable<CheckFinding> {
  const where = `transit key ${tenantId}/${name}`;
  const { tables, attachments } = transit;
  if (versions.length !== record.latest - record.floor + 1)
    yield { where, problem: `has ${versions.length} versions for ${record.floor} to ${record.latest}` };
  if (record.minEncryptionVersion > record.latest || record.minDecryptionVersion > record.latest)
    yield { where, problem: 'a minimum version is above the latest' };
  if (record.derived !== (record.kdf !== undefined)) yield { where, problem: 'derivation parameters do not match derived' };
  if ((record.timers === undefined) !== (record.rotatesAt === undefined)) yield { where, problem: 'timers and due rotation do not match' };
  if (record.publish === true && tables.published.get([tenantId, name]) !== record.id)
    yield { where, problem: 'is missing among the published keys' };
  if (record.rotatesAt !== undefined && tables.rotations.get([record.rotatesAt, tenantId, name]) !== record.id)
    yield { where, problem: 'is missing among the due rotations' };
  for (const attachment of attachments) {
    const { table } = attachment.reference;
    const other = referenceOf(attachment, record);
    if (other !== undefined && !attachments.indexOf(attachment).has([tenantId, other, name]))
      yield { where, problem: `is missing among the ${table} of the key it refers to` };
    if (isPublishedBy(attachment, record) && attachments.publishedOf(attachment).get([tenantId, name]) !== record.id)
      yield { where, problem: `is missing among ${attachment.published.table}` };
  }
  if (record.verificationOnly !== versions.every((version) => version.record.stored === undefined))
    yield { where, problem: 'verification-only does not match its versions' };
  for (const [index, version] of versions.entries()) {
    const problem = problemOf(record, version, record.floor + index, versions[index + 1]?.record);
    if (problem !== undefined) yield { where: `${where} version ${version.number}`, problem };
    if (tables.privateKeysNoted.has([tenantId]) && !isNoted(transit, { tenantId, name, record }, version))
      yield { where: `${where} version ${version.number}`, problem: 'is missing among the private keys of the tenant' };
  }
}

function problemOf(
  record: KeyRecord,
  { number, record: version }: Version,
  expected: number,
  next: VersionRecord | undefined,
): string | undefined {
  if (number !== expected) return `stands where version ${expected} should`;
  if (!partsFit(record, version)) return 'has not the key material its cipher needs';
  if (version.supersededAt !== next?.createdAt) return 'supersession does not match the next version';
  if (next !== undefined && (next.createdAt < version.createdAt || next.activatesAt < version.activatesAt))
    return 'is younger than the next version';
  return undefined;
}

function partsFit(record: KeyRecord, version: VersionRecord): boolean {
  const isAsymmetric = !isSymmetric(cipherOf(record));
  if (isAsymmetric !== (version.publicKey !== undefined)) return false;
  const isSecond = besideOf(cipherOf(record)) !== undefined;
  if (isSecond !== (version.agreement !== undefined) || isSecond !== (version.agreementPublicKey !== undefined)) return false;
  if (version.stored === undefined) return isAsymmetric && version.hmac === undefined && version.convergent === undefined;
  return version.hmac !== undefined && record.convergentEncryption === (version.convergent !== undefined);
}
