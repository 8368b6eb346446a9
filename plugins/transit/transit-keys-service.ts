// The service `transit-keys`: what other plugins may do with transit keys, and attach to them (core/plugin/services/transit-keys.ts).
import { drawUuid } from '../../core/base/uuid.ts';
import { defined } from '../../core/base/defined.ts';
import { fail as coreFail } from '../../core/base/errors.ts';
import { withNewChangeId } from '../../core/http/resource/change-id.ts';
import type { AttachedKeys, KeyAttachment, TransitKeys } from '../../core/plugin/services/transit-keys.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import { signingRs256, signRs256 } from './actions/sign-for-service.ts';
import { cipherNames, cipherOf, requireCipher, useOf } from './ciphers.ts';
import type { Transit } from './context.ts';
import { formatPublicKey, keyObjectOf, requireCompositeModulus, requireKeyOf } from './formats/public-keys.ts';
import { microseconds } from './instants.ts';
import { draftOf } from './keys/definition.ts';
import { documentSchema } from './keys/document.ts';
import { requireAllowedSettings, settingsOf } from './keys/judged-settings.ts';
import { type AttachedFields, type Attachment, withKept } from './records/attachments.ts';
import { putIndexed, reindex } from './records/indexes.ts';
import { type Key, type Version, referenceTo, removedMeanwhile, requireAllEnabled } from './records/keyring.ts';
import { notePrivateKeysOfBefore, requireNoOtherUse } from './records/private-key-uses.ts';
import type { KeyRecord } from './records/records.ts';
import { barForDecryption, timesOfNewVersion, versionExists } from './records/version-rules.ts';
import { putKept } from './versions/attached.ts';
import { versionsIn } from './versions/removal.ts';
import { keyView, type KeyView, versionView } from './versions/views.ts';

/** Makes the service. */
export function createTransitKeys(transit: Transit): TransitKeys {
  return {
    cipherNames,
    natureOf(tenantId, name) {
      const key = transit.keyring.find(tenantId, name);
      return key && { cipher: key.record.cipher, signs: cipherOf(key.record).kind === 'signing', isDerived: key.record.derived };
    },
    findVersion(tenantId, name, wanted) {
      const key = transit.keyring.find(tenantId, name);
      const number = wanted ?? (key && transit.keyring.inUse(key, microseconds(transit.clock.now())));
      if (key === undefined || number === undefined || !versionExists(key.record, number)) return undefined;
      const { record } = key;
      const { stored, publicKey, firstKeyId } = transit.keyring.version(key, number).record;
      return {
        ...{ keyId: firstKeyId ?? record.id, cipher: record.cipher, use: useOf(record), version: number },
        ...{ isDerived: record.derived, isExportable: record.exportable, hasSecret: stored !== undefined, ...defined({ publicKey }) },
      };
    },
    requireOneJob: async (tenantId, publicKey, uses) => {
      if (transit.allowsDualUse(tenantId)) return;
      await notePrivateKeysOfBefore(transit, tenantId);
      requireNoOtherUse(transit, tenantId, publicKey, uses);
    },
    requireMaySign(access, name) {
      access.requireEffectAt(['v1', 'state', 'keystore', 'transit-keys', name, 'sign'], 'execute', signingRs256);
    },
    signRs256: (tenantId, name, text) => signRs256(transit, tenantId, name, text),
    attach<Fields extends object, Kept>(make: (keys: AttachedKeys<Fields, Kept>) => KeyAttachment<Fields, Kept>) {
      // The keys need the attachment and the attachment needs the keys: neither is used before both are there.
      const keys = attachedKeys(transit, () => attachment);
      const attachment = make(keys as unknown as AttachedKeys<Fields, Kept>) as unknown as Attachment;
      transit.attachments.add(attachment);
      return keys as unknown as AttachedKeys<Fields, Kept>;
    },
  };
}

/** Transit keys for one attachment. Long because it is the service, of which each function is read by itself. */
function attachedKeys(transit: Transit, attachmentOf: () => Attachment): AttachedKeys<AttachedFields, unknown> {
  const { tables, keyring } = transit;

  const find = (tenantId: string, name: string, transaction?: WriteTransaction): KeyView | undefined => {
    const record = transaction === undefined ? tables.keys.get([tenantId, name]) : transaction.get(tables.keys, [tenantId, name]);
    if (record === undefined) return undefined;
    const key: Key = { tenantId, name, record };
    return keyView(attachmentOf(), key, () => versionsOf(transit, key, transaction));
  };

  // A view is of the moment it was made; decisions rest on the record as it is now.
  const present = (view: KeyView): Key => {
    const key = keyring.find(view.tenantId, view.name);
    if (key?.record.id !== view.keyId) throw removedMeanwhile();
    return key;
  };

  return {
    find,
    *referringTo(tenantId, name, transaction) {
      const { field } = attachmentOf().reference;
      const index = transit.attachments.indexOf(attachmentOf());
      const keys = transaction === undefined ? index.keys([tenantId, name]) : transaction.keys(index, [tenantId, name]);
      for (const storeKey of keys) {
        const key = find(tenantId, storeKey[2] as string, transaction);
        if (key?.fields[field] === name) yield key;
      }
    },
    publishedNames: (tenantId) =>
      Array.from(transit.attachments.publishedOf(attachmentOf()).keys([tenantId]), (storeKey) => storeKey[1] as string),
    *all() {
      for (const [[tenantId, name], record] of tables.keys.entries([])) {
        const key: Key = { tenantId: tenantId as string, name: name as string, record };
        yield keyView(attachmentOf(), key, () => keyring.versions(key));
      }
    },
    requireSigningVersion: (view, requested, now) => {
      const key = present(view);
      const version = keyring.forEncryption(key, requested, microseconds(now));
      referenceTo(key, version, 'sign');
      return versionView(attachmentOf(), key, version);
    },
    requireEnabled: (view) => {
      requireAllEnabled(present(view));
    },
    countSignature: async (view, number, now) => {
      const key = present(view);
      await transit.usage.take(key, keyring.version(key, number), 1, microseconds(now));
    },
    requireVerifyingVersion: (view, number, now) => {
      keyring.forDecryption(present(view), number, microseconds(now));
    },
    isBarredForVerification: (view, number, now) => {
      const key = present(view);
      return barForDecryption(key.record, number, keyring.version(key, number).record, microseconds(now)) !== undefined;
    },
    put: (transaction, view, number, kept) => {
      if (!putKept(transit, transaction, attachmentOf(), [view.tenantId, view.keyId, number], kept))
        throw coreFail('conflict', { detail: 'The key version was removed meanwhile.', overtaken: true });
    },
    dropFields: (view, names) =>
      transit.store.write((transaction) => {
        const current = transaction.get(tables.keys, [view.tenantId, view.name]);
        if (current?.id !== view.keyId || current.latest !== view.latestVersion)
          throw coreFail('conflict', { detail: 'The key was changed meanwhile. Try again.', overtaken: true });
        const kept = Object.entries(current).filter(([name]) => !names.includes(name));
        putIndexed(transit, transaction, { ...view, record: current }, Object.fromEntries(kept) as KeyRecord);
      }),
    createVerificationOnly: async ({ caller: { tenantId }, access }, { name, cipher: cipherName, publicKey, attached }) => {
      const cipher = requireCipher(cipherName, 'sign');
      requireKeyOf(keyObjectOf(publicKey), cipherName, cipher);
      await requireCompositeModulus(keyObjectOf(publicKey));
      const now = microseconds(transit.clock.now());
      const document = documentSchema.parse({ cipher: cipherName, publicKey: formatPublicKey(publicKey), custody: 'wrapped' });
      requireAllowedSettings(transit, access, 'create', name, settingsOf(transit, document));
      const record: KeyRecord = {
        ...draftOf(transit.attachments, document, now),
        id: await drawUuid(transit.hsm),
        custody: 'wrapped',
        latest: 1,
        floor: 1,
        createdAt: now,
        verificationOnly: true,
      };
      const version = withKept(attachmentOf(), { ...timesOfNewVersion({}, undefined, now), publicKey }, attached);
      await transit.store.write((transaction) => {
        const storeKey = [tenantId, name];
        if (transaction.get(tables.keys, storeKey) !== undefined)
          throw coreFail('already-exists', { detail: 'A transit key of that name exists.' });
        transaction.put(tables.versions, [tenantId, record.id, 1], version);
        reindex(transit, transaction, { tenantId, name }, undefined, record);
        transaction.put(tables.keys, storeKey, withNewChangeId(record));
      });
    },
  };
}

function* versionsOf(transit: Transit, key: Key, transaction: WriteTransaction | undefined): Iterable<Version> {
  if (transaction === undefined) {
    yield* transit.keyring.versions(key);
    return;
  }
  yield* versionsIn(transit, transaction, key);
}
