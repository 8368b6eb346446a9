// State of a key, shown beside its document.
import { defined } from '../../../core/base/defined.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { formatChain } from '../certificates/chain.ts';
import { cipherOf } from '../ciphers.ts';
import { instantOf, microseconds } from '../instants.ts';
import type { Key, Version } from '../records/keyring.ts';
import { formatPublicKey } from '../formats/public-keys.ts';
import { keyIdOf } from '../formats/jwk.ts';
import { pssRuleOf } from '../formats/rsa-pss.ts';
import { shownPublicKey } from '../formats/x-wing.ts';
import type { Transit } from '../context.ts';
import { jwksPathOf } from '../publishing.ts';
import { actionsOf } from './abilities.ts';
import { lifeOf, newestActive } from '../records/version-rules.ts';

/** The read-only fields. */
export function stateOf(
  transit: Transit,
  { tenantId, record }: Omit<Key, 'name'>,
  { now: instant }: EndpointCall,
  shows: (field: string) => boolean,
): Record<string, unknown> {
  const now = microseconds(instant);
  const key: Key = { tenantId, name: '', record };
  const versions = [...transit.keyring.versions(key)];
  const inUse = newestActive(record, (number) => (versions[number - record.floor] as Version).record, now);
  const { kind } = cipherOf(record);
  const symmetric = kind === 'aead';
  const encrypts = symmetric || kind === 'opening';
  return {
    // Appliances that share a store share every record of it.
    distributionStatus: { to: record.distribute === 'none' && transit.store.appliance === undefined ? 'none' : 'all' },
    defaultEncryptionVersion: inUse === record.latest ? 0 : inUse,
    latestVersion: record.latest,
    oldestVersion: record.floor,
    creationTime: instantOf(record.createdAt),
    supportsEncryption: encrypts,
    supportsDecryption: (encrypts || kind === 'establishing') && !record.verificationOnly,
    supportsDerivation: symmetric,
    supportsSigning: kind === 'signing' && !record.verificationOnly,
    actions: actionsOf(transit, key, versions, shows),
    keys: byVersion(versions, ({ record: version }) => {
      const publicKey = shownPublicKey(version);
      return publicKey === undefined ? String(version.createdAt) : formatPublicKey(publicKey);
    }),
    usage: byVersion(versions, ({ number }) => {
      const { uses, usesAtMost, rewrapped, lastUsedAt, refused, lastRefusedAt } = transit.usage.view(key, number);
      return {
        uses,
        usesAtMost,
        ...(symmetric ? { notRewrapped: Math.max(0, usesAtMost - rewrapped) } : {}),
        ...(refused === 0 ? {} : { refused }),
        ...instants({ lastUsed: lastUsedAt, lastRefused: lastRefusedAt }),
      };
    }),
    versions: byVersion(versions, (version) => versionState(key, version, now)),
    ...(record.publish === true ? { jwksPath: jwksPathOf(tenantId) } : {}),
    ...instants({ rotates: record.rotatesAt, deletes: record.deletesAt }),
  };
}

function versionState({ record }: Key, { number, record: times }: Version, now: number): Record<string, unknown> {
  const { status, deprecatesAt, invalidatesAt } = lifeOf(record, number, times, now);
  const { createdAt, activatesAt, supersededAt, publicKey, agreementPublicKey, certificateChain } = times;
  const rule = pssRuleOf(publicKey);
  return {
    status,
    ...(rule === undefined ? {} : { signatureAlgorithm: 'pss', ...defined({ hashAlgorithm: rule.hash }) }),
    // No JWK has both public keys of a version.
    ...(publicKey === undefined || agreementPublicKey !== undefined ? {} : { kid: keyIdOf(publicKey) }),
    ...(certificateChain === undefined ? {} : { certificateChain: formatChain(certificateChain) }),
    ...instants({
      created: createdAt,
      activates: activatesAt > createdAt ? activatesAt : undefined,
      superseded: supersededAt,
      deprecates: deprecatesAt,
      invalidates: invalidatesAt,
    }),
  };
}

/** Converts the times that are present, in microseconds since 1970. */
function instants(times: Readonly<Record<string, number | undefined>>): Record<string, Temporal.Instant> {
  return Object.fromEntries(Object.entries(defined(times)).map(([name, micros]) => [name, instantOf(micros as number)]));
}

function byVersion<T>(versions: readonly Version[], valueOf: (version: Version) => T): Record<string, T> {
  return Object.fromEntries(versions.map((version) => [String(version.number), valueOf(version)]));
}
