// What is known of key material that may come back from a backup after its entry is gone: by what proves the material, whatever its key is called.
import { hash } from 'node:crypto';
import { defined } from '../../../core/base/defined.ts';
import { encodeHex, encodeUtf8 } from '../../../core/base/bytes.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { type Hsm, isKeyLost } from '../../../hsm/api.ts';
import type { Transit } from '../context.ts';
import { type Key, referenceTo, type Version } from '../records/keyring.ts';
import type { KeyHistory, KeyRecord, PastMaterial, UsageRecord } from '../records/records.ts';
import { unused } from '../records/usage-record.ts';

/** Versions proven together: their jobs share batches of the token. */
const provenAtOnce = 64;

/**
 * Before versions below `end` are removed, all without it: keeps counts, flags and history of those of which there may be a backup. Rejects with HsmError
 * where the token is away.
 */
export async function rememberMaterial(transit: Transit, key: Key, end = Number.POSITIVE_INFINITY): Promise<void> {
  const { store, tables, usage } = transit;
  const { tenantId, record } = key;
  if (!mayComeBack(record)) return;
  // What this process has counted.
  await usage.flush();
  store.refresh();
  const versions = Array.from(tables.versions.entries([tenantId, record.id]), ([storeKey, version]) => ({
    number: Number(storeKey[2]),
    record: version,
  })).filter(({ number }) => number >= record.floor && number < end);
  const { exportable, allowPlaintextBackup, id: keyId } = record;
  const kept: (readonly [string, PastMaterial])[] = [];
  for (const [number, proof] of await proofsOf(transit.hsm, key, versions)) {
    const counted = tables.usage.get([tenantId, keyId, number]) ?? unused;
    kept.push([proof, { ...counted, exportable, allowPlaintextBackup, keyId }]);
  }
  await writeInPieces(store, kept, (transaction, [proof, material]) => {
    const before = transaction.get(tables.pastMaterial, [tenantId, proof]);
    const flags = {
      exportable: exportable || before?.exportable === true,
      allowPlaintextBackup: allowPlaintextBackup || before?.allowPlaintextBackup === true,
    };
    transaction.put(tables.pastMaterial, [tenantId, proof], { ...uniteUsage(material, before), ...flags, keyId });
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

/** What is known of the material of restored versions, by number, and of the exports of the keys that it was in. */
export type KnownMaterial = {
  readonly versions: ReadonlyMap<number, PastMaterial>;
  readonly histories: readonly KeyHistory[];
};

/** `key` and `versions`: as they were loaded into the token. */
export async function recallMaterial({ hsm, tables }: Transit, key: Key, versions: readonly Version[]): Promise<KnownMaterial> {
  const { tenantId } = key;
  const found = new Map<number, PastMaterial>();
  if (tables.pastMaterial.count([tenantId]) === 0) return { versions: found, histories: [] };
  for (const [number, proof] of await proofsOf(hsm, key, versions)) {
    const material = tables.pastMaterial.get([tenantId, proof]);
    if (material !== undefined) found.set(number, material);
  }
  const keyIds = new Set(found.values().map(({ keyId }) => keyId));
  return { versions: found, histories: [...keyIds].flatMap((keyId) => tables.pastHistories.get([tenantId, keyId]) ?? []) };
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

/** By version; those without a proof are left out, as are those that the token has lost, of which nothing comes back. */
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
  if (version.record.publicKey !== undefined) return hash('sha256', version.record.publicKey, 'buffer');
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
