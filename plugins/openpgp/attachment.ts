// OpenPGP's attachment to transit keys: certifies new versions, certifies again for another User ID, and vetoes removals.
import { z } from 'zod';
import { fail as failCore } from '../../core/base/errors.ts';
import type { Clock } from '../../core/base/context.ts';
import type { Certified, Recertified } from '../../core/plugin/services/transit-keys.ts';
import {
  type OpenpgpAttachment,
  type OpenpgpDefinition,
  openpgpFields,
  type OpenpgpKey,
  type OpenpgpKeys,
  type OpenpgpRecord,
  type OpenpgpVersion,
  userIdSchema,
} from './records.ts';
import type { WriteTransaction } from '../../core/store/store.ts';
import type { Hsm } from '../../hsm/api.ts';
import { pemExample } from '../../core/wire/fields.ts';
import { openpgpActions } from './abilities.ts';
import { acceptRestored } from './backup.ts';
import { openpgpSign, requireNoOpenpgpInput } from './hash-input.ts';
import { bindingTime, bindSubkey, certifyPrimary } from './certificates/certificate.ts';
import { requireDefinition, requireNoLiveSubkeys, requirePrimary, requireUnbound, requireUserId } from './definition.ts';
import { parsedCertificate } from './format/keyblock.ts';
import { formatFingerprint } from './format/packets.ts';
import { planSecretExport } from './certificates/secret-keyblock.ts';
import { type Signer, requireSigner } from './format/signer.ts';

/** Attachment that the transit plugin calls when keys are created, changed, used and removed. */
export function openpgpAttachment(hsm: Hsm, clock: Clock, transitKeys: OpenpgpKeys): OpenpgpAttachment {
  return {
    name: 'openpgp',
    fields: openpgpFields,
    reference: { field: 'openpgpPrimary', to: 'openpgpUserId', table: 'subkeys' },
    exportFormat: {
      name: 'openpgp',
      title: 'OpenPGP private key blocks',
      parameters: {
        openpgpUserId: userIdSchema
          .optional()
          .meta({ description: 'User ID of the block; default: that of the key.', example: 'Releases <releases@example.com>' }),
      },
      value: z.string().meta({ description: 'OpenPGP private key block.', example: pemExample('PGP PRIVATE KEY BLOCK') }),
      plan: (key, versions, { openpgpUserId }) => planSecretExport(hsm, key, versions, openpgpUserId as string | undefined),
    },
    actions: openpgpActions,
    signErrors: ['openpgp-sign-only'],
    signNeeds: openpgpSign,
    requireDefinition(definition, current) {
      requireDefinition(definition, current, transitKeys);
      if (current !== undefined && isRecertified(definition, current)) transitKeys.requireEnabled(current);
    },
    async certify(definition, version) {
      if (definition.fields.openpgpPrimary !== undefined) return certifySubkey(definition, version);
      const { openpgpUserId } = definition.fields;
      if (openpgpUserId === undefined) return undefined;
      const kept = await primaryRecord(requireSigner(hsm, definition, version), openpgpUserId);
      return { kept, recheck: () => undefined };
    },
    recertify,
    requireRemovable: (key, transaction) => requireNoLiveSubkeys(key, transitKeys, transaction),
    requireVersionsRemovable: (key, versions, transaction, shows) => requireUnbound(key, versions, transitKeys, transaction, shows),
    acceptRestored: (target, definition, versions) => acceptRestored(target, definition, versions, transitKeys, clock.now()),
    requireSignable: requireNoOpenpgpInput,
  };

  async function certifySubkey(definition: OpenpgpDefinition, version: OpenpgpVersion): Promise<Certified<OpenpgpRecord>> {
    const primaryKey = requirePrimary(definition, transitKeys);
    const primaryVersion = transitKeys.requireSigningVersion(primaryKey, undefined, clock.now());
    const certified = primaryVersion.attached;
    if (certified === undefined) throw failCore('conflict', { detail: 'The primary key is being certified. Try again.', overtaken: true });
    const primary = requireSigner(hsm, primaryKey, primaryVersion);
    await transitKeys.countSignature(primaryKey, primaryVersion.version, clock.now());
    const kept = await subkeyRecord(primary, certified.certificate, primaryVersion.version, requireSigner(hsm, definition, version));
    return {
      kept,
      recheck(transaction) {
        const now = transitKeys.find(definition.tenantId, primaryKey.name, transaction);
        const still = now?.versions.find((one) => one.attached?.fingerprints[0] === certified.fingerprints[0])?.attached;
        if (
          now?.fields.openpgpUserId === undefined ||
          still === undefined ||
          Buffer.compare(still.certificate, certified.certificate) !== 0
        )
          throw failCore('conflict', { overtaken: true });
      },
    };
  }

  async function recertify(definition: OpenpgpDefinition, current: OpenpgpKey): Promise<Recertified<OpenpgpRecord> | undefined> {
    const userId = definition.fields.openpgpUserId;
    if (userId === undefined || !isRecertified(definition, current)) return undefined;
    const records = new Map<number, OpenpgpRecord>();
    for (const version of current.versions) {
      if (version.key === undefined) continue;
      records.set(version.version, await primaryRecord(requireSigner(hsm, definition, version), userId));
    }
    return { kept: records, commit: (transaction) => refreshSubkeys(transaction, current, [...records.values()]) };
  }

  // The block of a subkey starts with the certificate of its primary, which has changed.
  function refreshSubkeys(transaction: WriteTransaction, primary: OpenpgpKey, records: readonly OpenpgpRecord[]): void {
    const renewed = new Map(records.map((record) => [record.fingerprints[0], record.certificate]));
    // Collected before the first write, because the iteration runs inside the transaction that writes.
    const subkeys = Array.from(transitKeys.referringTo(primary.tenantId, primary.name, transaction));
    for (const subkey of subkeys) {
      for (const { version, attached } of subkey.versions) {
        const certificate = renewed.get(attached?.subkey?.primaryFingerprint);
        if (attached === undefined || certificate === undefined) continue;
        transitKeys.put(transaction, subkey, version, { ...attached, certificate });
      }
    }
  }
}

/** Tells whether every version signs for another User ID. A key that loses its own keeps its records: they count again when it gets one. */
function isRecertified({ fields }: OpenpgpDefinition, current: OpenpgpKey): boolean {
  return fields.openpgpUserId !== undefined && fields.openpgpUserId !== current.fields.openpgpUserId;
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

/** Checks a new certificate with openpgp.js, an independent reader: one that others refuse must not be stored. */
async function checked(record: OpenpgpRecord): Promise<OpenpgpRecord> {
  const certificate = await parsedCertificate(record);
  const signingKey = await certificate.getSigningKey(undefined, new Date(record.notBefore * 1000));
  if (signingKey.getFingerprint().toUpperCase() !== record.fingerprints[0]) throw new Error('a new certificate names another signing key');
  return record;
}
