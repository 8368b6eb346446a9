// The TLS identity of both listeners: a certificate from the appliance's own CA, whose key is in the token, and its private key.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { fail } from '../../core/base/errors.ts';
import type { Store } from '../../core/store/store.ts';
import { formatTimestamp, parseDuration } from '../../core/base/time.ts';
import { approveListener } from '../../plugins/ca/issuing/approval.ts';
import { formatCertificatePem, readCertificate } from '../../plugins/ca/der/certificate.ts';
import { makeGeneration, rollRoot } from '../../plugins/ca/authority/generation.ts';
import type { CaHouse } from '../../plugins/ca/context.ts';
import { issueCertificate } from '../../plugins/ca/issuing/issue.ts';
import type { FoundCa } from '../../plugins/ca/authority/lookup.ts';
import { commonName } from '../../plugins/ca/der/name.ts';
import {
  type CaGeneration,
  type CaRecord,
  disabledEst,
  newestGeneration,
  requireNewestGeneration,
} from '../../plugins/ca/records/records.ts';
import { claimKey } from '../../plugins/ca/authority/unclaimed-keys.ts';

/** Name of the appliance's own CA in tenant `system`; a TLS CA like any other, except that it cannot be deleted. */
export const applianceCaName = 'appliance';

/** What a TLS server needs. `chainPem`: the certificate, and the link to the previous root after a roll-over. */
export type ListenerIdentity = {
  readonly keyPem: string;
  readonly chainPem: string;
  /** changes when the identity does */
  readonly serial: string;
  readonly notAfter: Temporal.Instant;
  /** roots that clients trust, newest first: DIR/tls/ca.pem */
  readonly caPem: string;
};

/**
 * The identity for these host names and addresses (the first is the common name): the one on record, or a new one when there is
 * none, when it has less than a third of its life left, when the hosts changed, or when the CA got a new key. Makes the CA on first
 * use and rolls it over a year before its end. Call it at start and then every hour; a changed `serial` means `setSecureContext`.
 * Safe to repeat after a crash at any line; processes that race end with the same identity.
 */
export async function ensureListenerIdentity(house: CaHouse, systemTenantId: string, hosts: readonly string[]): Promise<ListenerIdentity> {
  const ca = await ensureApplianceCa(house, systemTenantId);
  const identities = house.store.table<IdentityRecord>('listener-identity');
  const present = identities.get(identityKey);
  if (present !== undefined && isFresh(house, present, ca, hosts)) return formatIdentity(present, ca, house);

  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const approved = approveListener(publicKey.export({ format: 'der', type: 'spki' }), hosts);
  const issued = await issueCertificate(house, ca, approved, { ttlSeconds: listenerTtlSeconds, via: 'listener' });
  const made: IdentityRecord = {
    keyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    certificate: issued.record.certificate,
    serial: issued.serial,
    generation: issued.issuer.generation,
    hosts: [...hosts],
  };
  const kept = await house.store.write((transaction) => {
    const other = transaction.get(identities, identityKey);
    if (other !== undefined && other.serial !== present?.serial) return other;
    transaction.put(identities, identityKey, made);
    return made;
  });
  return formatIdentity(kept, ca, house);
}

/** When the certificate of both listeners ends; undefined before there is one. */
export function listenerNotAfter(store: Store): Temporal.Instant | undefined {
  const present = store.table<IdentityRecord>('listener-identity').get(identityKey);
  return present === undefined ? undefined : readCertificate(present.certificate).notAfter;
}

type IdentityRecord = {
  /** PKCS#8; on the disk only inside the sealed record */
  readonly keyPem: string;
  readonly certificate: Uint8Array;
  readonly serial: string;
  readonly generation: number;
  readonly hosts: readonly string[];
};

const identityKey = ['listener'];
const listenerTtlSeconds = 90 * 86_400;
const caTtl = '20y';
const caRollSeconds = 365 * 86_400;

function isFresh(house: CaHouse, present: IdentityRecord, ca: FoundCa, hosts: readonly string[]): boolean {
  const { notBefore, notAfter } = readCertificate(present.certificate);
  const secondsLeft = notAfter.since(house.clock.now()).total('seconds');
  return (
    secondsLeft > notAfter.since(notBefore).total('seconds') / 3 &&
    present.generation === newestGeneration(ca.record)?.generation &&
    present.hosts.join() === hosts.join()
  );
}

function formatIdentity(identity: IdentityRecord, ca: FoundCa, house: CaHouse): ListenerIdentity {
  const signer = ca.record.generations.find(({ generation }) => generation === identity.generation);
  const link = signer?.rollover?.newWithOld;
  const now = house.clock.now();
  const roots = ca.record.generations.map(({ certificate }) => certificate).toReversed();
  return {
    keyPem: identity.keyPem,
    chainPem: [identity.certificate, ...(link === undefined ? [] : [link])].map(formatCertificatePem).join(''),
    serial: identity.serial,
    notAfter: readCertificate(identity.certificate).notAfter,
    caPem: roots
      .filter((root) => Temporal.Instant.compare(readCertificate(root).notAfter, now) > 0)
      .map(formatCertificatePem)
      .join(''),
  };
}

async function ensureApplianceCa(house: CaHouse, tenantId: string): Promise<FoundCa> {
  house.store.refresh();
  const present = house.tables.cas.get([tenantId, applianceCaName]);
  if (present === undefined) return found(tenantId, await makeCa(house, tenantId));
  const newest = newestGeneration(present);
  if (newest === undefined) throw fail('internal-error');
  const secondsLeft = readCertificate(newest.certificate).notAfter.since(house.clock.now()).total('seconds');
  return found(tenantId, secondsLeft > caRollSeconds ? present : await rollCa(house, tenantId, present, newest));
}

async function makeCa(house: CaHouse, tenantId: string): Promise<CaRecord> {
  const id = randomUUID();
  const first = await makeGeneration(house, planOf(tenantId, id, 1));
  const made: CaRecord = {
    id,
    name: applianceCaName,
    createdAt: formatTimestamp(house.clock.now()),
    keyType: 'ecdsa-p256',
    subject: `CN=${caCommonName}`,
    ttl: caTtl,
    issuingCa: undefined,
    trustCertificate: undefined,
    generations: [first],
    est: disabledEst,
    ownedByAppliance: true,
  };
  return keepUnlessOther(house, tenantId, undefined, made);
}

async function rollCa(house: CaHouse, tenantId: string, present: CaRecord, newest: CaGeneration): Promise<CaRecord> {
  const next = await rollRoot(house, planOf(tenantId, present.id, newest.generation + 1), newest);
  return keepUnlessOther(house, tenantId, present, { ...present, generations: [...present.generations, next] });
}

/** Commits the record and claims its newest key, unless another process was first: then its record stands, and our key is swept away. */
function keepUnlessOther(house: CaHouse, tenantId: string, before: CaRecord | undefined, made: CaRecord): Promise<CaRecord> {
  return house.store.write((transaction) => {
    const other = transaction.get(house.tables.cas, [tenantId, applianceCaName]);
    if (other !== undefined && other.generations.length !== before?.generations.length) return other;
    claimKey(house, transaction, made.id, requireNewestGeneration(made).key.stored);
    transaction.put(house.tables.cas, [tenantId, applianceCaName], made);
    return made;
  });
}

const caCommonName = 'keystored appliance CA';

function planOf(tenantId: string, caId: string, generation: number) {
  const ttlSeconds = parseDuration(caTtl, 'ttl').seconds;
  return { tenantId, caId, generation, keyType: 'ecdsa-p256', subject: commonName(caCommonName), ttlSeconds, pathLength: 0 } as const;
}

function found(tenantId: string, record: CaRecord): FoundCa {
  return { tenantId, record };
}
