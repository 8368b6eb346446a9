// What happens to OpenPGP keys when transit keys live: certifying new versions, another User ID, removal. One record per version.
import { fail as failCore } from '../../core/base/errors.ts';
import type { Clock } from '../../core/base/context.ts';
import type {
  Certified,
  OpenpgpDefinition,
  OpenpgpHooks,
  OpenpgpRecord,
  Recertified,
  TransitKey,
  TransitKeys,
  TransitKeyVersion,
} from '../../core/plugin/services/transit-keys.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import type { Hsm } from '../../hsm/api.ts';
import { acceptRestored } from './backup.ts';
import { bindingTime, bindSubkey, certifyPrimary } from './certificates/certificate.ts';
import { requireDefinition, requireNoLiveSubkeys, requirePrimary, requireUnbound, requireUserId } from './definition.ts';
import { parsedCertificate } from './format/keyblock.ts';
import { formatFingerprint } from './format/packets.ts';
import { planSecretExport } from './certificates/secret-keyblock.ts';
import { type Signer, requireSigner } from './format/signer.ts';

/** The hooks the transit plugin calls. */
export function openpgpHooks(hsm: Hsm, clock: Clock, transitKeys: TransitKeys): OpenpgpHooks {
  return {
    requireDefinition: (definition, current) => requireDefinition(definition, current, transitKeys),
    async certify(definition, version) {
      if (definition.openpgpPrimary !== undefined) return certifySubkey(definition, version);
      if (definition.openpgpUserId === undefined) return undefined;
      const record = await primaryRecord(requireSigner(hsm, definition, version), definition.openpgpUserId);
      return { record, recheck: () => undefined };
    },
    recertify,
    requireRemovable: (key, transaction) => requireNoLiveSubkeys(key, transitKeys, transaction),
    requireUnbound: (key, going, transaction) => requireUnbound(key, going, transitKeys, transaction),
    acceptRestored: (target, definition, versions) => acceptRestored(target, definition, versions, transitKeys, clock.now()),
    planSecretExport: (key, versions, userId) => planSecretExport(hsm, key, versions, userId),
  };

  async function certifySubkey(definition: OpenpgpDefinition, version: TransitKeyVersion): Promise<Certified> {
    const primaryKey = requirePrimary(definition, transitKeys);
    const primaryVersion = transitKeys.requireSigningVersion(primaryKey, undefined, clock.now());
    const ground = primaryVersion.openpgp;
    if (ground === undefined) throw failCore('conflict', { detail: 'The primary key is being certified. Try again.', overtaken: true });
    const primary = requireSigner(hsm, primaryKey, primaryVersion);
    await transitKeys.countSignature(primaryKey, primaryVersion.version, clock.now());
    const record = await subkeyRecord(primary, ground.certificate, primaryVersion.version, requireSigner(hsm, definition, version));
    return {
      record,
      recheck(transaction) {
        const now = transitKeys.find(definition.tenantId, primaryKey.name, transaction);
        const still = now?.versions.find((one) => one.openpgp?.fingerprints[0] === ground.fingerprints[0])?.openpgp;
        if (now?.openpgpUserId === undefined || still === undefined || Buffer.compare(still.certificate, ground.certificate) !== 0)
          throw failCore('conflict', { overtaken: true });
      },
    };
  }

  async function recertify(definition: OpenpgpDefinition, current: TransitKey): Promise<Recertified> {
    const userId = definition.openpgpUserId;
    const records = new Map<number, OpenpgpRecord>();
    for (const version of current.versions) {
      if (userId === undefined || version.key === undefined) continue;
      records.set(version.version, await primaryRecord(requireSigner(hsm, definition, version), userId));
    }
    return { records, commit: (transaction) => refreshSubkeys(transaction, current, [...records.values()]) };
  }

  // A subkey's block starts with its primary's certificate; without this it would show the old User ID for ever.
  function refreshSubkeys(transaction: WriteTransaction, primary: TransitKey, records: readonly OpenpgpRecord[]): void {
    const renewed = new Map(records.map((record) => [record.fingerprints[0], record.certificate]));
    // Read to the end before the first write: the iteration runs inside the transaction that writes.
    const subkeys = Array.from(transitKeys.subkeysOf(primary.tenantId, primary.name, transaction));
    for (const subkey of subkeys) {
      for (const { version, openpgp } of subkey.versions) {
        const certificate = renewed.get(openpgp?.subkey?.primaryFingerprint);
        if (openpgp === undefined || certificate === undefined) continue;
        transitKeys.putOpenpgpRecord(transaction, subkey, version, { ...openpgp, certificate });
      }
    }
  }
}

async function primaryRecord(signer: Signer, userId: string): Promise<OpenpgpRecord> {
  return checked({
    fingerprints: [formatFingerprint(signer.fingerprint)],
    created: signer.created,
    notBefore: signer.created,
    certificate: await certifyPrimary(signer, requireUserId(userId)),
  });
}

async function subkeyRecord(primary: Signer, certificate: Uint8Array, primaryVersion: number, subkey: Signer): Promise<OpenpgpRecord> {
  return checked({
    fingerprints: [formatFingerprint(subkey.fingerprint)],
    created: subkey.created,
    notBefore: bindingTime(primary, subkey),
    certificate,
    subkey: { packets: await bindSubkey(primary, subkey), primaryVersion, primaryFingerprint: formatFingerprint(primary.fingerprint) },
  });
}

/** Lets openpgp.js, which did not write it, read a new certificate: one that others refuse must not be stored. */
async function checked(record: OpenpgpRecord): Promise<OpenpgpRecord> {
  const certificate = await parsedCertificate(record);
  const signingKey = await certificate.getSigningKey(undefined, new Date(record.notBefore * 1000));
  if (signingKey.getFingerprint().toUpperCase() !== record.fingerprints[0]) throw new Error('a new certificate names another signing key');
  return record;
}
