// Action restore: replaces everything of a key but its name by a backup.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { formatOutput, shapeOf } from '../../../core/wire/schema.ts';
import { anyValue } from '../../../core/access/policy/constraints.ts';
import { equalConstantTime, parseBase64 } from '../../../core/base/bytes.ts';
import { fail as coreFail, isOvertaken } from '../../../core/base/errors.ts';
import { type AnyEndpoint, type EndpointCall, Reply } from '../../../core/http/endpoint.ts';
import { shortened, sizeOf } from '../../../core/http/audit-parameters.ts';
import { withNewChangeId } from '../../../core/http/resource/change-id.ts';
import { labelsOf, withLabels } from '../../../core/http/resource/labels.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import { inTurn } from '../../../core/base/async/turns.ts';
import type { KeyReference } from '../../../hsm/api.ts';
import { type Backup, custodyIn, parseBackup } from '../backup/format.ts';
import { type KnownMaterial, proveSecret, recallMaterial, rememberMaterial, uniteUsage } from '../custody/past-material.ts';
import { fail } from '../errors.ts';
import { actingFieldRights, requireActions } from '../keys/acting-fields.ts';
import { configurationOf, requireAllowedSettings, type Settings, settingsOf } from '../keys/judged-settings.ts';
import { microseconds } from '../instants.ts';
import { useOf } from '../ciphers.ts';
import { putIndexed } from '../records/indexes.ts';
import { type Key, removedMeanwhile, requireEnabled } from '../records/keyring.ts';
import { publicKeysOf } from '../records/private-key-uses.ts';
import { lineOf } from '../versions/new-version.ts';
import type { KeyRecord } from '../records/records.ts';
import type { UsageRecord } from '../records/usage-record.ts';
import { shareUses } from '../records/shared-uses.ts';
import { unused } from '../records/usage-record.ts';
import { requireNamedKeys, requireVersionsRemovable } from '../versions/attached.ts';
import { finishRemoval, removeVersions, versionsIn } from '../versions/removal.ts';
import { type RestoredKey, claimRestored, discardRestored, loadRestored, readRestored } from '../backup/restored-key.ts';
import type { Transit } from '../context.ts';
import { importInput } from './import.ts';
import { defineKeyAction } from './action.ts';

const bodyLimit = 64 * 1024 * 1024;
/** Attempts while other processes change the key. */
const attempts = 64;

const inputSchema = z.object({
  key: z.string().meta({
    description: 'What backup answered, here or on another appliance.',
    contentEncoding: 'base64',
    maxLength: bodyLimit,
    'x-produced': true,
  }),
});

/** POST …/restore */
export function restore(transit: Transit): AnyEndpoint {
  return defineKeyAction<z.output<typeof inputSchema>, never>(transit, 'restore', {
    summary: 'Restore a key from a backup',
    description:
      'The key keeps its name and labels and takes everything else from the backup; of material that this tenant has or had, the higher count of uses stays, and flags that were set once. Its versions are destroyed; therefore it must still be unused, or have `deletion-allowed`. ' +
      'Policies judge the settings in the backup as an `update` of the key, which must be allowed as well, and `execute` of `…/import`: the material is that of who made the backup.',
    audit: 'required',
    // The backup may bring every setting: publish, deletion-allowed, exportable.
    act: () => ['take-keys-out', 'bring-keys-in', 'destroy', 'change-trust'],
    fieldRights: [
      { field: 'key', operation: 'update', path: '/v1/config/keystore/transit-keys/{name}' },
      { field: 'key', operation: 'execute', path: '/v1/state/keystore/transit-keys/{name}/import' },
      ...actingFieldRights(transit).map((right) => ({ ...right, field: 'key', when: `it changes ${right.field}` })),
    ],
    usesNamed: transit.attachments.namedFields,
    input: inputSchema,
    bodyLimit,
    successStatus: 204,
    secretInput: ['key'],
    shown: ({ key }) => ({ sha256: hash('sha256', key, 'hex') }),
    commandLine: { input: 'key', ends: 'replaces every version of the key with those of the backup' },
    errors: [
      'invalid-key-data',
      'invalid-certificate-chain',
      'key-type-mismatch',
      'private-key-in-use',
      'unsupported-cipher',
      'publish-limit',
      'restore-would-destroy',
      'key-disabled',
      'conflict',
      'in-use',
    ],
    run: async (call, input, { tenantId, name, record }) => {
      call.access.requireAt(configurationOf(name), 'update');
      const read = (): Backup => parseBackup(parseBase64(input.key, 'key'), transit.attachments);
      // Read again for each attempt: loading material into the token zeroes it.
      let backup: Backup | undefined = read();
      const settings = settingsOf(transit, { ...backup.document, custody: custodyIn(backup.document) }, labelsOf(record));
      call.noteAudit({ requestParameters: { key: sizeOf(input.key), document: shortened(settings) } });
      requireAllowedSettings(transit, call.access, 'update', name, settings);
      requireNamedKeys(transit, call.access, backup.document);
      requireActions(transit, call.access, name, backup.document, record);
      // The maker of a backup chooses its material, as for an import in clear.
      const there = ['v1', 'state', 'keystore', 'transit-keys', name, 'import'];
      call.access.requireEffectAt(there, 'execute', { wire: { data: anyValue }, shape: shapeOf(importInput) });
      const judge = (flags: OneWayFlags): void =>
        requireAllowedSettings(transit, call.access, 'update', name, { ...settings, ...(formatOutput(flags) as Settings) });
      return inTurn(lineOf(tenantId, name), async () => {
        for (let attempt = 1; attempt <= attempts; attempt += 1) {
          transit.store.refresh();
          const key = transit.keyring.find(tenantId, name);
          if (key === undefined) throw removedMeanwhile();
          requireEnabled(key);
          // Stores the uses of the present versions that this process has counted.
          await transit.usage.flush();
          const restored = await restoreOnce(transit, key, backup ?? read(), judge, call);
          backup = undefined;
          if (restored === undefined) continue;
          call.noteAudit({ keyVersion: restored.key.record.latest });
          return new Reply(204);
        }
        throw coreFail('conflict');
      });
    },
  });
}

type OneWayFlags = Pick<KeyRecord, 'exportable' | 'allowPlaintextBackup'>;
/**
 * Throws policy-denied for flags that follow from the known facts about the material, and that the rules do not let its caller give the
 * key.
 */
type Judge = (flags: OneWayFlags) => void;

/** Restores once; undefined if another process changed the key meanwhile; then nothing was changed here. */
async function restoreOnce(transit: Transit, key: Key, backup: Backup, judge: Judge, call: EndpointCall): Promise<RestoredKey | undefined> {
  const validated = await readRestored(transit, key, backup);
  requireReplaceable(key.record, transit.tables.usage.has([key.tenantId, key.record.id, 1]));
  const loaded = await loadRestored(transit, validated);
  let replaced: readonly KeyReference[];
  try {
    const broughtBack = await versionsBroughtBack(transit, key, loaded);
    const past = await recallMaterial(transit, loaded.key, loaded.versions);
    await rememberMaterial(transit, key);
    replaced = await transit.store.write((transaction) =>
      replace(transit, transaction, key, { ...loaded, broughtBack, past }, judge, call),
    );
  } catch (error) {
    await discardRestored(transit, loaded);
    if (isOvertaken(error)) return undefined;
    throw error;
  }
  await finishRemoval(transit, key, replaced);
  return loaded;
}

type BroughtBack = RestoredKey & { readonly broughtBack: ReadonlySet<number>; readonly past: KnownMaterial };

// Returns the keys that were replaced, to be destroyed after the commit.
function replace(
  transit: Transit,
  transaction: WriteTransaction,
  target: Key,
  restored: BroughtBack,
  judge: Judge,
  call: EndpointCall,
): KeyReference[] {
  const { tables } = transit;
  const now = microseconds(call.now);
  const current = transaction.get(tables.keys, [target.tenantId, target.name]);
  if (current === undefined) throw removedMeanwhile();
  if (current.id !== target.record.id || current.latest !== target.record.latest) throw coreFail('conflict', { overtaken: true });
  requireEnabled({ ...target, record: current });
  requireReplaceable(current, transaction.get(tables.usage, [target.tenantId, current.id, 1]) !== undefined);
  const before: Key = { ...target, record: current };
  const versions = versionsIn(transit, transaction, before);
  const present = new Map(versions.map((version) => [version.number, version.record]));
  requireVersionsRemovable(transit, transaction, before, versions, call.access, restored);
  const usageHere = (number: number): UsageRecord | undefined => transaction.get(tables.usage, [target.tenantId, current.id, number]);
  const known = new Map([...restored.broughtBack].map((number) => [number, usageHere(number) ?? unused]));
  const references = removeVersions(transit, transaction, before);
  // A restore in its own place gives a private key no second use, also where it has two since `allow-dual-use` was set.
  const isOfOneUse = useOf(current) === useOf(restored.key.record);
  claimRestored(transit, transaction, restored, isOfOneUse ? versions.flatMap(({ record }) => publicKeysOf(record)) : []);
  for (const { number, record, uses } of restored.versions) {
    const storeKey = [target.tenantId, restored.key.record.id, number] as const;
    const isSame = restored.past.shared.get(number)?.others.some(([, id, other]) => id === current.id && other === number) === true;
    const firstKeyId = isSame ? (present.get(number)?.firstKeyId ?? current.id) : undefined;
    transaction.put(tables.versions, storeKey, { ...record, ...defined({ firstKeyId }) });
    const usage = usageAfter(uses, uniteUsage(known.get(number) ?? unused, restored.past.versions.get(number)));
    if (usage.reserved > 0) transaction.put(tables.usage, storeKey, usage);
    countTogether(transit, transaction, storeKey, { known: usage, shared: restored.past.shared.get(number) });
  }
  const record: KeyRecord = { ...restored.key.record, history: { restoredAt: now } };
  const here = known.size === 0 ? record : withWhatIsKnown(record, current);
  const united = withPast(here, restored.past);
  judge({ exportable: united.exportable, allowPlaintextBackup: united.allowPlaintextBackup });
  putIndexed(transit, transaction, before, withNewChangeId(withLabels(united, labelsOf(current))));
  return references;
}

/**
 * Numbers of the versions that a backup of this key itself brings back: made at the same moment here and there, and the newest of them proven, because
 * keys that were made together have that moment in common.
 */
async function versionsBroughtBack({ tables, hsm }: Transit, present: Key, { key, versions }: RestoredKey): Promise<ReadonlySet<number>> {
  const { tenantId, record } = present;
  const pairs = versions.flatMap(({ number, record: restored }) => {
    const here = tables.versions.get([tenantId, record.id, number]);
    return here?.createdAt === restored.createdAt
      ? [
          [
            { number, record: here },
            { number, record: restored },
          ] as const,
        ]
      : [];
  });
  const newest = pairs.at(-1);
  if (record.cipher !== key.record.cipher || newest === undefined) return new Set();
  const [here, restored] = newest;
  const isSame =
    here.record.hmac === undefined || restored.record.hmac === undefined
      ? isEqual(here.record.publicKey, restored.record.publicKey)
      : isEqual(...(await Promise.all([proveSecret(hsm, present, here), proveSecret(hsm, key, restored)])));
  return new Set(isSame ? pairs.map(([{ number }]) => number) : []);
}

function isEqual(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && equalConstantTime(one, other);
}

/** Counts uses together with the other keys that have the material now: each copy would have the whole limit of the cipher for itself. */
function countTogether(
  { tables }: Transit,
  transaction: WriteTransaction,
  storeKey: readonly [string, string, number],
  { known, shared }: { readonly known: UsageRecord; readonly shared: ReturnType<KnownMaterial['shared']['get']> },
): void {
  if (shared === undefined) return;
  const [tenantId] = storeKey;
  const { proof } = shared;
  const others = shared.others.filter((other) => transaction.has(tables.versions, other));
  if (others.length === 0 && !transaction.has(tables.sharedUses, [tenantId, proof])) return;
  shareUses(transaction, tables, { tenantId, proof }, [storeKey, ...others], known);
}

/** The higher count stays: what was encrypted since the backup was made counts for the material, and is there to be rewrapped. */
function usageAfter(uses: number, known: UsageRecord): UsageRecord {
  return {
    ...known,
    reserved: Math.max(uses, known.reserved),
    uses: Math.max(uses, known.uses),
    rewrapped: uses > known.uses ? 0 : known.rewrapped,
  };
}

/** Keeps flags that were set once, and known exports: the material may have left since the backup was made. */
function withWhatIsKnown(restored: KeyRecord, { exportable, allowPlaintextBackup, history }: KeyRecord): KeyRecord {
  return {
    ...restored,
    exportable: restored.exportable || exportable,
    allowPlaintextBackup: restored.allowPlaintextBackup || allowPlaintextBackup,
    history: { ...history, ...restored.history },
  };
}

/** Keeps flags and known exports of other keys, removed or present, as far as this one has their material. */
function withPast(record: KeyRecord, { versions, histories }: KnownMaterial): KeyRecord {
  if (versions.size === 0) return record;
  const some = (flag: 'exportable' | 'allowPlaintextBackup'): boolean => versions.values().some((material) => material[flag]);
  const known = [record.history ?? {}, ...histories].toSorted((one, other) => (other.exportCount ?? 0) - (one.exportCount ?? 0));
  return {
    ...record,
    exportable: record.exportable || some('exportable'),
    allowPlaintextBackup: record.allowPlaintextBackup || some('allowPlaintextBackup'),
    history: { ...known[0], ...record.history, ...defined({ exportCount: known[0]?.exportCount, exports: known[0]?.exports }) },
  };
}

// A version that was never used can be replaced without loss.
function requireReplaceable(record: KeyRecord, used: boolean): void {
  if (record.deletionAllowed || (record.latest === 1 && !used)) return;
  throw fail('restore-would-destroy', { detail: 'The key has been used or rotated: set deletion-allowed to true to give it up.' });
}
