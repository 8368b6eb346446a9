// The service `transit-keys`: what other plugins may do with transit keys (core/plugin/services/transit-keys.ts).
import { fail as coreFail } from '../../core/base/errors.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import type { TransitKey, TransitKeys } from '../../core/plugin/services/transit-keys.ts';
import { requireCipher } from './ciphers.ts';
import { documentSchema } from './keys/document.ts';
import { reindex } from './records/indexes.ts';
import { microseconds } from './instants.ts';
import { newKeyId } from './key-id.ts';
import { draftOf } from './keys/definition.ts';
import { type Key, type Version, referenceTo, removedMeanwhile } from './records/keyring.ts';
import { keyView, versionView } from './versions/views.ts';
import { formatPublicKey, keyObjectOf, requireCompositeModulus, requireKeyOf } from './formats/public-keys.ts';
import type { KeyRecord } from './records/records.ts';
import type { Transit } from './context.ts';
import { barForDecryption, timesOfNewVersion } from './records/version-rules.ts';

/** Makes the service. */
export function createTransitKeys(transit: Transit): TransitKeys {
  const { tables, keyring } = transit;

  const find = (tenantId: string, name: string, transaction?: WriteTransaction): TransitKey | undefined => {
    const record = transaction === undefined ? tables.keys.get([tenantId, name]) : transaction.get(tables.keys, [tenantId, name]);
    if (record === undefined) return undefined;
    const key: Key = { tenantId, name, record };
    return keyView(key, () => versionsOf(transit, key, transaction));
  };

  // A view is of the moment it was made; decisions rest on the record as it is now.
  const present = (view: TransitKey): Key => {
    const key = keyring.find(view.tenantId, view.name);
    if (key?.record.id !== view.keyId) throw removedMeanwhile();
    return key;
  };

  return {
    find,
    *subkeysOf(tenantId, primaryName, transaction) {
      const prefix = [tenantId, primaryName];
      const entries = transaction === undefined ? tables.subkeys.entries(prefix) : transaction.entries(tables.subkeys, prefix);
      for (const [storeKey] of entries) {
        const subkey = find(tenantId, storeKey[2] as string, transaction);
        if (subkey !== undefined) yield subkey;
      }
    },
    *all() {
      for (const [[tenantId, name], record] of tables.keys.entries([])) {
        const key: Key = { tenantId: tenantId as string, name: name as string, record };
        yield keyView(key, () => keyring.versions(key));
      }
    },
    requireSigningVersion: (view, requested, now) => {
      const key = present(view);
      const version = keyring.forEncryption(key, requested, microseconds(now));
      referenceTo(key, version, 'sign');
      return versionView(key, version);
    },
    countSignature: async (view, number, now) => {
      const key = present(view);
      await transit.usage.take(key, keyring.version(key, number), 1, microseconds(now));
    },
    isBarredForVerification: (view, number, now) => {
      const key = present(view);
      return barForDecryption(key.record, number, keyring.version(key, number).record, microseconds(now)) !== undefined;
    },
    putOpenpgpRecord: (transaction, view, number, openpgp) => {
      const storeKey = [view.tenantId, view.keyId, number];
      const version = transaction.get(tables.versions, storeKey);
      if (version === undefined) throw coreFail('conflict', { detail: 'The key version was removed meanwhile.', overtaken: true });
      transaction.put(tables.versions, storeKey, { ...version, openpgp });
    },
    createVerificationOnly: async (caller, { name, cipher: cipherName, publicKey, openpgp }) => {
      const cipher = requireCipher(cipherName);
      requireKeyOf(keyObjectOf(publicKey), cipherName, cipher);
      await requireCompositeModulus(keyObjectOf(publicKey));
      const now = microseconds(transit.clock.now());
      const document = documentSchema.parse({ cipher: cipherName, publicKey: formatPublicKey(publicKey) });
      const record: KeyRecord = {
        ...draftOf(document, now),
        id: await newKeyId(transit.hsm),
        custody: 'wrapped',
        latest: 1,
        floor: 1,
        createdAt: now,
        verificationOnly: true,
      };
      await transit.store.write((transaction) => {
        const storeKey = [caller.tenantId, name];
        if (transaction.get(tables.keys, storeKey) !== undefined)
          throw coreFail('already-exists', { detail: 'A transit key of that name exists.' });
        transaction.put(tables.versions, [caller.tenantId, record.id, 1], { ...timesOfNewVersion({}, undefined, now), publicKey, openpgp });
        reindex(tables, transaction, { tenantId: caller.tenantId, name }, undefined, record);
        transaction.put(tables.keys, storeKey, record);
      });
    },
    attachOpenpgp: (hooks) => {
      if (transit.openpgp !== undefined) throw new Error('the OpenPGP plugin attached itself twice');
      transit.openpgp = hooks;
    },
  };
}

function* versionsOf(transit: Transit, key: Key, transaction: WriteTransaction | undefined): Iterable<Version> {
  if (transaction === undefined) {
    yield* transit.keyring.versions(key);
    return;
  }
  for (const [storeKey, record] of transaction.entries(transit.tables.versions, [key.tenantId, key.record.id])) {
    yield { number: storeKey[2] as number, record };
  }
}
