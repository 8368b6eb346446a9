// Facts about key material that may come back from a backup, after its entry is gone or beside it. They are found by a proof of the
// material, whatever the name of its key.
import { hash } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import { concat, encodeHex, encodeUtf8 } from '../../../core/base/bytes.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { type Hsm, isKeyLost } from '../../../hsm/api.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import type { Transit } from '../context.ts';
import { type Key, referenceTo, type Version } from '../records/keyring.ts';
import type { KeyHistory, KeyRecord, PastMaterial } from '../records/records.ts';
import type { UsageRecord } from '../records/usage-record.ts';
import { countedUses } from '../records/shared-uses.ts';
import { unused } from '../records/usage-record.ts';

/** Versions proven together: their jobs share batches of the token. */
const provenAtOnce = 64;

/**
 * Keeps counts, flags and history of versions below `end` that a backup may have, all without `end`; called before they are removed.
 * Rejects with HsmError if the token is unreachable.
 */
export async function rememberMaterial(transit: Transit, key: Key, end = Number.POSITIVE_INFINITY): Promise<void> {
  const { store, tables, usage } = transit;
  const { tenantId, record } = key;
  if (!mayComeBack(record)) return;
  // Stores the uses that this process has counted.
  await usage.flush();
  store.refresh();
  const versions = Array.from(tables.versions.entries([tenantId, record.id]), ([storeKey, version]) => ({
    number: Number(storeKey[2]),
    record: version,
  })).filter(({ number }) => number >= record.floor && number < end);
  const { exportable, allowPlaintextBackup, id: keyId } = record;
  const kept: (readonly [string, PastMaterial])[] = [];
  for (const [number, proof] of await proofsOf(transit.hsm, key, versions)) {
    const counted = countedUses(tables, [tenantId, keyId, number]);
    kept.push([proof, { ...counted, exportable, allowPlaintextBackup, keyId }]);
  }
  await writeInPieces(store, kept, (transaction, [proof, material]) => {
    const before = transaction.get(tables.pastMaterial, [tenantId, proof]);
    transaction.put(tables.pastMaterial, [tenantId, proof], before === undefined ? material : uniteMaterial(material, before));
  });
  const { history } = record;
  if (history !== undefined && kept.length > 0)
    await store.write((transaction) => transaction.put(tables.pastHistories, [tenantId, keyId], history));
}

/** A backup was made, or may have been: by an earlier version, which kept no list, or where this one came from. */
function mayComeBack({ allowPlaintextBackup, history }: KeyRecord): boolean {
  if (!allowPlaintextBackup) return false;
  return history === undefined || (history.exportCount ?? 0) > 0 || history.restoredAt !== undefined;
}

/** Known facts about the material of restored versions, by number, and about the exports of the keys that it was in. */
export type KnownMaterial = {
  readonly versions: ReadonlyMap<number, PastMaterial>;
  readonly histories: readonly KeyHistory[];
  /** proof of the material, and the versions of other keys that have it, by number */
  readonly shared: ReadonlyMap<number, { readonly proof: string; readonly others: readonly StoreKey[] }>;
};

/** Notes the material of a key that is backed up, so that a restore under another name finds the facts about this one. */
export async function noteMaterial(transit: Transit, key: Key, versions: readonly Version[]): Promise<void> {
  await notePlaces(transit, key, await proofsOf(transit.hsm, key, versions));
}

async function notePlaces({ store, tables }: Transit, key: Key, proofs: readonly (readonly [number, string])[]): Promise<void> {
  const places = proofs.map(([number, proof]) => ({ number, storeKey: [key.tenantId, proof, key.record.id] }));
  await writeInPieces(
    store,
    places.filter(({ storeKey }) => !tables.materialPlaces.has(storeKey)),
    (transaction, { number, storeKey }) => transaction.put(tables.materialPlaces, storeKey, { name: key.name, number }),
  );
}

/** `key` and `versions`: as they were loaded into the token; they are found from now on, too, once they are in the store. */
export async function recallMaterial(transit: Transit, key: Key, versions: readonly Version[]): Promise<KnownMaterial> {
  const { hsm, store, tables } = transit;
  const { tenantId } = key;
  const proofs = await proofsOf(hsm, key, versions);
  store.refresh();
  const found = new Map<number, PastMaterial>();
  const histories = new Map<string, KeyHistory>();
  const shared = new Map<number, { readonly proof: string; readonly others: readonly StoreKey[] }>();
  for (const [number, proof] of proofs) {
    const past = tables.pastMaterial.get([tenantId, proof]);
    const history = past && tables.pastHistories.get([tenantId, past.keyId]);
    if (past !== undefined && history !== undefined) histories.set(past.keyId, history);
    const living = Array.from(livingWith(transit, tenantId, proof));
    for (const { material, history: own } of living) if (own !== undefined) histories.set(material.keyId, own);
    const all = [...(past === undefined ? [] : [past]), ...living.map(({ material }) => material)];
    if (all.length > 0) found.set(number, all.reduce(uniteMaterial));
    shared.set(number, { proof, others: living.map(({ version }) => version) });
  }
  await notePlaces(transit, key, proofs);
  return { versions: found, histories: [...histories.values()], shared };
}

type Living = { readonly version: StoreKey; readonly material: PastMaterial; readonly history: KeyHistory | undefined };

/** The keys of the tenant that have the material now. */
function* livingWith({ tables, keyring }: Transit, tenantId: string, proof: string): Iterable<Living> {
  for (const [storeKey, { name, number }] of tables.materialPlaces.entries([tenantId, proof])) {
    const keyId = String(storeKey.at(-1));
    const record = keyring.find(tenantId, name)?.record;
    if (record?.id !== keyId || number < record.floor) continue;
    const { exportable, allowPlaintextBackup, history } = record;
    const version = [tenantId, keyId, number];
    yield { version, material: { ...countedUses(tables, version), exportable, allowPlaintextBackup, keyId }, history };
  }
}

/** Keeps flags that were set once, and the higher count. `one`: of the key that had it last. */
function uniteMaterial(one: PastMaterial, other: PastMaterial): PastMaterial {
  return {
    ...uniteUsage(one, other),
    exportable: one.exportable || other.exportable,
    allowPlaintextBackup: one.allowPlaintextBackup || other.allowPlaintextBackup,
    keyId: one.keyId,
  };
}

/** The higher count stays; what is not rewrapped is never said to be less. */
export function uniteUsage(one: UsageRecord, other: UsageRecord = unused): UsageRecord {
  const [more, less] = one.uses >= other.uses ? [one, other] : [other, one];
  const lastUsedAt = Math.max(one.lastUsedAt ?? 0, other.lastUsedAt ?? 0);
  return {
    reserved: Math.max(one.reserved, other.reserved),
    uses: more.uses,
    rewrapped: more.uses === less.uses ? Math.min(more.rewrapped, less.rewrapped) : more.rewrapped,
    ...defined({ lastUsedAt: lastUsedAt === 0 ? undefined : lastUsedAt }),
  };
}

/** Proofs by version; versions without one are left out, as are those that the token has lost, which cannot come back. */
async function proofsOf(hsm: Hsm, key: Key, versions: readonly Version[]): Promise<readonly (readonly [number, string])[]> {
  const proofs: (readonly [number, string])[] = [];
  for (let at = 0; at < versions.length; at += provenAtOnce) {
    const some = versions.slice(at, at + provenAtOnce);
    const made = await Promise.all(some.map((version) => proofOf(hsm, key, version)));
    for (const [index, proof] of made.entries()) if (proof !== undefined) proofs.push([some[index]?.number ?? 0, encodeHex(proof)]);
  }
  return proofs;
}

async function proofOf(hsm: Hsm, key: Key, version: Version): Promise<Uint8Array | undefined> {
  const { publicKey, agreementPublicKey } = version.record;
  if (publicKey !== undefined) return hash('sha256', concat(publicKey, agreementPublicKey ?? new Uint8Array()), 'buffer');
  if (version.record.hmac === undefined) return undefined;
  try {
    return await proveSecret(hsm, key, version);
  } catch (error) {
    if (isKeyLost(error)) return undefined;
    throw error;
  }
}

/** The same for the same secret, which a version has beside its key and which is in its backups. */
export function proveSecret(hsm: Hsm, key: Key, version: Version): Promise<Uint8Array> {
  return hsm.hmac(referenceTo(key, version, 'hmac'), 'sha256', encodeUtf8('keystored: is this the version that was here'));
}
