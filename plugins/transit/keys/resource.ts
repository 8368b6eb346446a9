// The resource `transit-keys`: creating, reading, changing and deleting keys.
import { isDeepStrictEqual } from 'node:util';
import { drawUuid } from '../../../core/base/uuid.ts';
import { defined } from '../../../core/base/defined.ts';
import type { Custody, KeyReference } from '../../../hsm/api.ts';
import type { Caller } from '../../../core/access/caller.ts';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { requireToldOfAll } from '../../../core/http/checks/told.ts';
import type { FieldRight } from '../../../core/http/endpoint.ts';
import { defineResource, type Change, type Plan } from '../../../core/http/resource/resource.ts';
import { toKebab } from '../../../core/wire/schema.ts';
import { Unreadable, type WriteTransaction } from '../../../core/store/store.ts';
import { derivationIterations, derivationSaltBytes } from '../versions/derivation.ts';
import { cipherOf, defaultUse } from '../ciphers.ts';
import { type KeyDocument, documentSchema, stateSchema } from './document.ts';
import { reindex } from '../records/indexes.ts';
import { microseconds } from '../instants.ts';
import { withFlags } from '../custody/history.ts';
import { rememberMaterial } from '../custody/past-material.ts';
import { deletionOf, documentOf, draftOf, fieldsOf, requireRotatable } from './definition.ts';
import { requireCreatable, requireDisabling, requireMinimumVersions, requireOutlets, requireUsableCipher } from './field-rules.ts';
import { actingFieldRights, requireActions } from './acting-fields.ts';
import { actsOfKey, joinsPublic } from './acts.ts';
import { configurationOf } from './judged-settings.ts';
import { listFilters } from './list-filters.ts';
import { stateOf } from './state.ts';
import type { Key } from '../records/keyring.ts';
import { type CertifiedVersion, certify, recertify, requireDefinition, requireNamedKeys, requireRemovable } from '../versions/attached.ts';
import { subjectOf } from '../versions/new-version.ts';
import { keyObjectOf, requireCompositeModulus } from '../formats/public-keys.ts';
import { hkdf, type KeyRecord } from '../records/records.ts';
import { finishRemoval, removeVersions } from '../versions/removal.ts';
import type { Transit } from '../context.ts';
import { type VersionMaterial, claim, discard, makeMaterial } from '../versions/material.ts';
import { activationUnder, timesOfNewVersion } from '../records/version-rules.ts';
import { transitKeysTag } from '../tags.ts';

/** Results of preparing a change, before it is committed. */
type Prepared = {
  readonly record?: KeyRecord;
  readonly material?: VersionMaterial;
  readonly certified?: CertifiedVersion;
  readonly recertified?: (transaction: WriteTransaction) => void;
};

/** Deletion after a time is a deletion. */
const deletionRight: FieldRight = {
  field: 'delete-after',
  operation: 'delete',
  path: '/v1/config/keystore/transit-keys/{name}',
};

const timers = ['rotateAfter', 'activateAfter', 'deprecateAfter', 'invalidateAfter'].map((timer) => `autoRotate.${timer}`);

const path = 'keystore/transit-keys';

/** The resource entry. */
export function transitKeys(transit: Transit): ReturnType<typeof defineResource> {
  return defineResource<KeyDocument, KeyRecord, Prepared>({
    path,
    tag: transitKeysTag,
    noun: 'transit key',
    acts({ call, before, after }) {
      const joins = joinsPublic(transit, call.caller.tenantId, defined({ before, after }));
      return [...new Set([...actsOfKey({ before, after }, transit.attachments), ...(joins ? (['change-trust'] as const) : [])])];
    },
    removalEnds: 'destroys every version of the key: what it encrypted can never be opened again',
    nameField: 'name',
    filters: listFilters(transit),
    inBatches: true,
    scope: 'tenant',
    table: transit.tables.keys,
    document: transit.attachments.extend(documentSchema, 'schema'),
    stateFields: stateSchema,
    creationFields: [
      'cipher',
      'use',
      'allowSharedSecret',
      'derived',
      'kdf',
      'convergentEncryption',
      'custody',
      'publicKey',
      ...(transit.attachments.fixedFields as (keyof KeyDocument)[]),
    ],
    fieldRights: [...actingFieldRights(transit), deletionRight],
    oneWayFields: ['exportable', 'allowPlaintextBackup'],
    notRemovableByMerge: ['autoRotate'],
    judgedBy: {
      ...transit.attachments.judgedBy,
      minEncryptionVersion: ['latestVersion', 'minDecryptionVersion'],
      minDecryptionVersion: ['latestVersion', 'minEncryptionVersion'],
      disabledVersions: ['latestVersion', 'oldestVersion'],
      deleteAfter: ['deletionAllowed'],
      deletionAllowed: ['deleteAfter'],
      ...Object.fromEntries(timers.map((timer) => [timer, timers.filter((other) => other !== timer)])),
    },
    validAnyway: { deletionAllowed: true },
    removalJudgedBy: ['deletionAllowed', ...transit.attachments.references.map(({ to }) => to as keyof KeyDocument)],
    removalTells: transit.attachments.references.map(({ field, to }) => ({
      ...{ list: path, field: toKebab(field), when: `the key has ${toKebab(to)}` },
      depends: (_, current) => hasField(current, to),
    })),
    errors: [
      'unsupported-cipher',
      'invalid-key-data',
      'key-type-mismatch',
      'version-trimmed',
      'publish-limit',
      'operation-not-supported',
      'deletion-not-allowed',
      'key-disabled',
      'in-use',
    ],
    complete: ({ document, current }) => (current === undefined ? completed(transit, document) : document),
    plan: (change) => (change.current === undefined ? planCreation(transit, change) : planUpdate(transit, change, change.current)),
    planRemoval: (call, names, current) =>
      planRemoval(transit, { tenantId: call.caller.tenantId, name: names.at(-1) as string, record: current }, call.caller),
    toDocument: (record) => documentOf(transit.attachments, record),
    toState: (record, call, shows) => stateOf(transit, { tenantId: call.caller.tenantId, record }, call, shows),
  });
}

function planCreation(transit: Transit, { call, names, document }: Change<KeyDocument, KeyRecord>): Plan<KeyRecord, Prepared> {
  const cipher = requireUsableCipher(document, transit.hsm);
  const publicKey = requireCreatable(document, cipher);
  requireMinimumVersions(names.at(-1) as string, document, undefined);
  requireDisabling(document, undefined);
  const now = microseconds(call.now);
  const times = timesOfNewVersion({}, undefined, now);
  // Id and salt are random octets from the token; `prepare` adds them.
  const draft: KeyRecord = {
    ...draftOf(transit.attachments, document, now),
    custody: custodyOf(transit, document),
    latest: 1,
    floor: 1,
    createdAt: now,
    verificationOnly: publicKey !== undefined,
    ...defined({ history: withFlags(undefined, undefined, document, now) }),
  };
  const key: Key = { tenantId: call.caller.tenantId, name: names.at(-1) as string, record: draft };
  requireRotatable(draft);
  requireDefinition(transit, key, undefined);
  return {
    prepare: async () => {
      if (publicKey !== undefined) await requireCompositeModulus(keyObjectOf(publicKey));
      const [id, salt] = await Promise.all([drawUuid(transit.hsm), document.derived ? transit.hsm.random(derivationSaltBytes) : undefined]);
      const kdf = salt === undefined ? {} : { kdf: document.kdf === hkdf ? hkdf : { salt, iterations: derivationIterations } };
      const record = { ...draft, id, ...kdf };
      const subject = { ...subjectOf({ ...key, record }), number: 1 };
      const material = publicKey === undefined ? await makeMaterial(transit, subject) : { publicKey };
      try {
        return { record, material, certified: await certify(transit, { ...key, record }, 1, material, times) };
      } catch (error) {
        await discard(transit, subject, material);
        throw error;
      }
    },
    discard: ({ record = draft, material = {} }) => discard(transit, { ...subjectOf({ ...key, record }), number: 1 }, material),
    commit: (transaction, { record = draft, material = {}, certified }) => {
      certified?.recheck(transaction);
      claim(transit, transaction, { ...subjectOf({ ...key, record }), number: 1 }, material);
      transaction.put(transit.tables.versions, [key.tenantId, record.id, 1], { ...times, ...material, ...certified?.kept });
      reindex(transit, transaction, key, undefined, record);
      return record;
    },
  };
}

function completed(transit: Transit, document: KeyDocument): KeyDocument {
  const kdf = document.derived ? (document.kdf ?? 'pbkdf2') : document.kdf;
  return { ...document, kdf, custody: custodyOf(transit, document), use: document.use ?? defaultUse(document.cipher) };
}

/** Custody of a new key. A key that only verifies at first is wrapped later unless its document says otherwise. */
function custodyOf({ hsm }: Transit, { custody, publicKey }: KeyDocument): Custody {
  return custody ?? (publicKey === undefined ? hsm.defaultCustody : 'wrapped');
}

function planUpdate(
  transit: Transit,
  { call, names, document, blindly }: Change<KeyDocument, KeyRecord>,
  current: KeyRecord,
): Plan<KeyRecord, Prepared> {
  requireMinimumVersions(names.at(-1) as string, document, current);
  requireDisabling(document, current);
  requireOutlets(document, cipherOf(current));
  const now = microseconds(call.now);
  const before: Key = { tenantId: call.caller.tenantId, name: names.at(-1) as string, record: current };
  const latest = transit.keyring.version(before, current.latest).record;
  const {
    autoRotate,
    timers: _timers,
    rotatesAt,
    deleteAfter,
    deletesAt: _deletesAt,
    ...kept
  } = transit.attachments.withoutFields(current);
  const changed = fieldsOf(transit.attachments, document, latest.createdAt);
  const sameInterval = autoRotate?.rotateAfter === document.autoRotate?.rotateAfter && rotatesAt !== undefined;
  const history = defined({ history: withFlags(kept.history, current, document, now) });
  const after: Key = {
    ...before,
    record: { ...kept, ...changed, ...history, ...deletionOf(document, current, now), ...(sameInterval ? { rotatesAt } : {}) },
  };
  // A caller who sets a timer makes what it makes.
  requireActions(transit, call.access, before.name, document, current, (field) => blindly(field) !== undefined);
  if (document.deleteAfter !== undefined && (document.deleteAfter !== deleteAfter || blindly('deleteAfter') !== undefined)) {
    call.access.requireAt(configurationOf(before.name), 'delete');
    for (const { field, to } of transit.attachments.references)
      if (hasField(current, to)) requireToldOfAll(call, path.split('/'), toKebab(field));
    requireRemovable(transit, before);
  }
  const usesNamed = transit.attachments.usingNamed.some((field) => !isDeepStrictEqual(valueOf(document, field), valueOf(current, field)));
  if (usesNamed || (document.autoRotate !== undefined && !isDeepStrictEqual(document.autoRotate, autoRotate)))
    requireNamedKeys(transit, call.access, current);
  requireRotatable(after.record);
  if (call.query.get('validate') === 'true') requireReferencesTold(transit, { call, document, blindly }, current);
  requireDefinition(transit, after, before);
  return {
    prepare: async () => ({ recertified: await recertify(transit, after, before) }),
    commit: (transaction, { recertified }) => {
      recertified?.(transaction);
      moveActivations(transit, transaction, after, now);
      reindex(transit, transaction, before, current, after.record);
      return after.record;
    },
  };
}

/** Refuses a dry run of a change after which no key could name this one, where it would tell a caller who may not read them which do. */
function requireReferencesTold(
  { attachments }: Transit,
  { call, document, blindly }: Pick<Change<KeyDocument, KeyRecord>, 'call' | 'document' | 'blindly'>,
  current: object,
): void {
  for (const { field, to } of attachments.references)
    if (!hasField(document, to) && (hasField(current, to) || blindly(to) !== undefined))
      requireToldOfAll(call, path.split('/'), toKebab(field));
}

function hasField(source: object, name: string): boolean {
  return valueOf(source, name) !== undefined;
}

function valueOf(source: object, name: string): unknown {
  return (source as Record<string, unknown>)[name];
}

/** Tells whether root may give up a key that must not be deleted: one of its versions does not open, and nothing can be changed. */
function isBroken({ tables }: Transit, { tenantId, record }: Key, caller: Caller): boolean {
  if (!caller.policies.includes('root')) return false;
  return Iterator.from(tables.versions.entriesFound([tenantId, record.id])).some(([, version]) => version instanceof Unreadable);
}

function planRemoval(
  transit: Transit,
  key: Key,
  caller: Caller,
): { prepare(): Promise<void>; commit(transaction: WriteTransaction): void; after(): Promise<void> } {
  if (!key.record.deletionAllowed && !isBroken(transit, key, caller))
    throw coreFail('deletion-not-allowed', { detail: 'Set deletion-allowed to true first.' });
  requireRemovable(transit, key);
  let removed: readonly KeyReference[] = [];
  return {
    prepare: () => rememberMaterial(transit, key),
    commit: (transaction) => {
      requireRemovable(transit, key, transaction);
      removed = removeKeyParts(transit, transaction, key);
    },
    after: () => finishRemoval(transit, key, removed),
  };
}

export function removeKeyParts(transit: Transit, transaction: WriteTransaction, key: Key): readonly KeyReference[] {
  reindex(transit, transaction, key, key.record, undefined);
  return removeVersions(transit, transaction, key);
}

/** Removes the keys of a deleted tenant, whatever their flags: no caller can reach them. */
export async function dropKeys(transit: Transit, tenantId: string): Promise<void> {
  const { store, tables } = transit;
  store.refresh();
  for (const [storeKey, { id }] of Array.from(tables.keys.entries([tenantId]))) {
    const removed = await store.write((transaction) => {
      const record = transaction.get(tables.keys, storeKey);
      if (record === undefined) return [];
      transaction.delete(tables.keys, storeKey);
      return removeKeyParts(transit, transaction, { tenantId, name: String(storeKey[1]), record });
    });
    await finishRemoval(transit, { tenantId, record: { id } }, removed);
  }
}

// A shorter or absent activate-after activates waiting versions earlier; active versions stay active.
function moveActivations(transit: Transit, transaction: WriteTransaction, key: Key, now: number): void {
  for (let number = key.record.latest; number > key.record.floor; number -= 1) {
    const storeKey = [key.tenantId, key.record.id, number];
    const version = transaction.get(transit.tables.versions, storeKey);
    if (version === undefined || version.activatesAt <= now) return;
    const activatesAt = activationUnder(key.record.timers, version, now);
    if (activatesAt !== version.activatesAt) transaction.put(transit.tables.versions, storeKey, { ...version, activatesAt });
  }
}
