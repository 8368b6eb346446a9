// OpenPGP's attachment to transit keys: certifies new versions, certifies again for another User ID, and vetoes removals.
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { defined } from '../../core/base/defined.ts';
import { fail as failCore } from '../../core/base/errors.ts';
import type { Clock } from '../../core/base/context.ts';
import type { Certified, Recertified } from '../../core/plugin/services/transit-keys.ts';
import {
  expiryOf,
  lifetimeOf,
  type OpenpgpAttachment,
  type OpenpgpDefinition,
  openpgpFields,
  type OpenpgpFields,
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
import { bindingTime, bindSubkey, certifyPrimary, type EarlierBinding, type Statement } from './certificates/certificate.ts';
import { requireDefinition, requireNoLiveSubkeys, requirePrimary, requireUnbound, requireUserId } from './definition.ts';
import { parsedCertificate } from './format/keyblock.ts';
import { formatFingerprint } from './format/packets.ts';
import { broughtBy, createdElsewhere, requireKeptFingerprint, secretKeyImport } from './certificates/import-secret-key.ts';
import { planSecretExport } from './certificates/secret-keyblock.ts';
import { openpgpSeconds, type Signer, requireSigner } from './format/signer.ts';

/**
 * Attachment that the transit plugin calls when keys are created, changed, used and removed. Long because its functions share the keys, of which
 * each is read by itself.
 */
export function openpgpAttachment(hsm: Hsm, clock: Clock, transitKeys: OpenpgpKeys): OpenpgpAttachment {
  return {
    name: 'openpgp',
    fields: openpgpFields,
    published: { field: 'openpgpPublished', table: 'openpgp-published' },
    reference: { field: 'openpgpPrimary', to: 'openpgpUserId', table: 'subkeys' },
    exportFormat: exportFormatOf(hsm),
    importForm: secretKeyImport,
    actions: openpgpActions,
    signErrors: ['openpgp-sign-only'],
    signNeeds: openpgpSign,
    requireDefinition(definition, current) {
      requireDefinition(definition, current, transitKeys);
      if (current === undefined || !isRecertified(definition, current)) return;
      transitKeys.requireEnabled(current);
      if (definition.fields.openpgpPrimary !== undefined) transitKeys.requireEnabled(requirePrimary(definition, transitKeys));
    },
    async certify(definition, version, origin) {
      if (definition.fields.openpgpPrimary !== undefined) return certifySubkey(definition, version, origin);
      if (definition.fields.openpgpUserId === undefined) return undefined;
      const signer = signerOf(hsm, definition, version, origin);
      const kept = await primaryRecord(signer, definition.fields, clock, broughtBy(origin, signer));
      return { kept, recheck: () => undefined };
    },
    recertify: async (definition, current) => {
      if (!isRecertified(definition, current)) return undefined;
      return definition.fields.openpgpPrimary === undefined ? recertifyPrimary(definition, current) : rebind(definition, current);
    },
    requireRemovable: (key, transaction) => requireNoLiveSubkeys(key, transitKeys, transaction),
    requireVersionsRemovable: (key, versions, transaction, shows) => requireUnbound(key, versions, transitKeys, transaction, shows),
    acceptRestored: (target, definition, versions) => acceptRestored(target, definition, versions, transitKeys, clock.now()),
    requireSignable: requireNoOpenpgpInput,
  };

  async function certifySubkey(definition: OpenpgpDefinition, version: OpenpgpVersion, origin: unknown): Promise<Certified<OpenpgpRecord>> {
    const primaryKey = requirePrimary(definition, transitKeys);
    const primaryVersion = transitKeys.requireSigningVersion(primaryKey, undefined, clock.now());
    if (primaryVersion.attached === undefined)
      throw failCore('conflict', { detail: 'The primary key is being certified. Try again.', overtaken: true });
    const binding: Binding = { primaryKey, primaryVersion, certified: primaryVersion.attached };
    const signer = signerOf(hsm, definition, version, origin);
    const earlier = broughtBy(origin, signer)?.binding(binding.certified.fingerprints[0] ?? '');
    const kept = await bind(binding, definition.fields, signer, earlier);
    return { kept, recheck: (transaction) => requireUnchanged(transaction, binding) };
  }

  async function bind(
    { primaryKey, primaryVersion, certified }: Binding,
    fields: OpenpgpFields,
    signer: Signer,
    earlier: EarlierBinding | undefined,
  ): Promise<OpenpgpRecord> {
    const primary = requireSigner(hsm, primaryKey, primaryVersion);
    await transitKeys.countSignature(primaryKey, primaryVersion.version, clock.now());
    const lifetime = lifetimeOf(fields);
    const bound = await bindSubkey(primary, signer, lifetime, earlier);
    await untilCome(bound.certified, clock);
    return checked({
      fingerprints: [formatFingerprint(signer.fingerprint)],
      created: signer.created,
      notBefore: bindingTime(primary, signer),
      certificate: certified.certificate,
      ...defined({ lifetime, certified: bound.certified }),
      subkey: {
        packets: bound.packets,
        primaryVersion: primaryVersion.version,
        primaryFingerprint: formatFingerprint(primary.fingerprint),
        ...defined({ primaryExpires: expiryOf(certified) }),
      },
    });
  }

  /** Throws `conflict` when the certificate of the primary key, which a subkey's block starts with, is another one by now. */
  function requireUnchanged(transaction: WriteTransaction, { primaryKey, certified }: Binding): void {
    const now = transitKeys.find(primaryKey.tenantId, primaryKey.name, transaction);
    const still = now?.versions.find((one) => one.attached?.fingerprints[0] === certified.fingerprints[0])?.attached;
    if (now?.fields.openpgpUserId === undefined || still === undefined || Buffer.compare(still.certificate, certified.certificate) !== 0)
      throw failCore('conflict', { overtaken: true });
  }

  /** Every version makes a statement again: an older one is in the blocks as well. */
  async function recertifyPrimary(definition: OpenpgpDefinition, current: OpenpgpKey): Promise<Recertified<OpenpgpRecord>> {
    const records = new Map<number, OpenpgpRecord>();
    for (const version of current.versions) {
      const { attached } = version;
      if (version.key === undefined) continue;
      const earlier = attached === undefined || attached.subkey !== undefined ? undefined : attached;
      const signer = requireSigner(hsm, definition, version);
      records.set(version.version, await primaryRecord(signer, definition.fields, clock, earlier));
    }
    return { kept: records, commit: (transaction) => refreshSubkeys(transaction, current, [...records.values()]) };
  }

  /** Every version of a subkey is bound again, by the version of the primary key that has bound it. */
  async function rebind(definition: OpenpgpDefinition, current: OpenpgpKey): Promise<Recertified<OpenpgpRecord>> {
    const primaryKey = requirePrimary(definition, transitKeys);
    const records = new Map<number, OpenpgpRecord>();
    const bindings: Binding[] = [];
    for (const version of current.versions) {
      const { key, attached } = version;
      if (key === undefined || attached?.subkey === undefined) continue;
      const { packets, primaryFingerprint } = attached.subkey;
      const primaryVersion = primaryKey.versions.find((one) => one.attached?.fingerprints[0] === primaryFingerprint);
      if (primaryVersion?.attached === undefined)
        throw failCore('conflict', { detail: `The version of the primary key that bound this subkey is gone: ${primaryFingerprint}.` });
      const binding = { primaryKey, primaryVersion, certified: primaryVersion.attached };
      bindings.push(binding);
      const earlier: EarlierBinding = { packets, ...defined({ certified: attached.certified }) };
      records.set(version.version, await bind(binding, definition.fields, requireSigner(hsm, definition, version), earlier));
    }
    return { kept: records, commit: (transaction) => bindings.forEach((binding) => requireUnchanged(transaction, binding)) };
  }

  // The block of a subkey starts with the certificate of its primary, which has changed.
  function refreshSubkeys(transaction: WriteTransaction, primary: OpenpgpKey, records: readonly OpenpgpRecord[]): void {
    const renewed = new Map(records.map((record) => [record.fingerprints[0], record]));
    // Collected before the first write, because the iteration runs inside the transaction that writes.
    const subkeys = Array.from(transitKeys.referringTo(primary.tenantId, primary.name, transaction));
    for (const key of subkeys) {
      for (const { version, attached } of key.versions) {
        const record = renewed.get(attached?.subkey?.primaryFingerprint);
        if (attached?.subkey === undefined || record === undefined) continue;
        const { primaryExpires: _former, ...subkey } = attached.subkey;
        const bound = { ...subkey, ...defined({ primaryExpires: expiryOf(record) }) };
        transitKeys.put(transaction, key, version, { ...attached, certificate: record.certificate, subkey: bound });
      }
    }
  }
}

/** A primary key that binds, with the record of its version at the time. */
type Binding = { readonly primaryKey: OpenpgpKey; readonly primaryVersion: OpenpgpVersion; readonly certified: OpenpgpRecord };

function exportFormatOf(hsm: Hsm): OpenpgpAttachment['exportFormat'] {
  return {
    name: 'openpgp',
    title: 'OpenPGP private key blocks',
    parameters: {
      openpgpUserId: userIdSchema
        .optional()
        .meta({ description: 'User ID of the block; default: that of the key.', example: 'Releases <releases@example.com>' }),
    },
    value: z.string().meta({ description: 'OpenPGP private key block.', example: pemExample('PGP PRIVATE KEY BLOCK') }),
    plan: (key, versions, { openpgpUserId }) => planSecretExport(hsm, key, versions, openpgpUserId as string | undefined),
  };
}

/** The signer of a new version, which may have been an OpenPGP key elsewhere. */
function signerOf(hsm: Hsm, definition: OpenpgpDefinition, version: OpenpgpVersion, origin: unknown): Signer {
  const signer = requireSigner(hsm, definition, version, createdElsewhere(origin));
  requireKeptFingerprint(origin, signer);
  return signer;
}

/**
 * Tells whether every version makes another statement. A key that loses its role keeps its records: they count again when it gets one.
 */
function isRecertified({ fields }: OpenpgpDefinition, { fields: before }: OpenpgpKey): boolean {
  if (fields.openpgpPrimary !== undefined) return lifetimeOf(fields) !== lifetimeOf(before);
  if (fields.openpgpUserId === undefined) return false;
  return !isDeepStrictEqual(statementOf(fields), before.openpgpUserId === undefined ? undefined : statementOf(before));
}

function statementOf(fields: OpenpgpFields): Statement {
  const { openpgpUserId = '', openpgpUserIds = [], openpgpRevokedUserIds = [] } = fields;
  const userIds = [openpgpUserId, ...openpgpUserIds].map((text) => requireUserId(text));
  return { userIds, revokedUserIds: openpgpRevokedUserIds, lifetime: lifetimeOf(fields) };
}

async function primaryRecord(
  signer: Signer,
  fields: OpenpgpFields,
  clock: Clock,
  earlier?: Pick<OpenpgpRecord, 'certificate' | 'certified' | 'brought'>,
): Promise<OpenpgpRecord> {
  const statement = statementOf(fields);
  const { brought } = earlier ?? {};
  const present = earlier && {
    ...defined({ certified: earlier.certified }),
    certificate: earlier.certificate,
    brought: brought?.userIds ?? [],
  };
  const certified = await certifyPrimary(signer, statement, openpgpSeconds(clock.now()), present);
  await untilCome(certified.certified, clock);
  return checked({
    fingerprints: [formatFingerprint(signer.fingerprint)],
    created: signer.created,
    notBefore: signer.created,
    ...certified,
    ...defined({ lifetime: statement.lifetime, brought }),
  });
}

/**
 * Waits for the date of a new statement, so that none is published that others take for one of the future, and none has the date of the one
 * before it. There is time to wait only right after a key was made, or a statement elsewhere.
 */
async function untilCome(date: number | undefined, clock: Clock): Promise<void> {
  const aheadMs = (date ?? 0) * 1000 - clock.now().epochMilliseconds;
  if (aheadMs > mostAheadMs) {
    const earlier = Temporal.Instant.fromEpochMilliseconds((date ?? 0) * 1000 - 1000).toString();
    const detail = `The key has a self-signature dated ${earlier}, which the clock here has not reached. Correct the clock, or try again then.`;
    throw failCore('conflict', { detail });
  }
  if (aheadMs > 0) await setTimeout(aheadMs);
}

/** Time that a change waits for, at most: more comes from a clock that is wrong, here or on another appliance. */
const mostAheadMs = 5_000;

/** Checks a new certificate with openpgp.js, an independent reader: one that others refuse must not be stored. */
async function checked(record: OpenpgpRecord): Promise<OpenpgpRecord> {
  const certificate = await parsedCertificate(record);
  const signingKey = await certificate.getSigningKey(undefined, new Date(record.notBefore * 1000));
  if (signingKey.getFingerprint().toUpperCase() !== record.fingerprints[0]) throw new Error('a new certificate names another signing key');
  return record;
}
