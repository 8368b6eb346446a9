// The TLS identity of the appliance's listeners: a certificate of the CA `appliance`, whose key is in the token, and its private key.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { formatTimestamp, parseDuration } from '../../core/base/time.ts';
import type { ListenerIdentity } from '../../core/plugin/services/certificate-authority.ts';
import { ownKey, type StoreKey } from '../../core/store/store.ts';
import { approveListener } from './issuing/approval.ts';
import { formatCertificatePem, readCertificate } from './der/certificate.ts';
import { ledgerReference, makeGeneration, rollRoot } from './authority/generation.ts';
import type { CaContext } from './context.ts';
import { issueCertificate } from './issuing/issue.ts';
import type { FoundCa } from './authority/lookup.ts';
import { commonName } from './der/name.ts';
import {
  type CaGeneration,
  type CaRecord,
  disabledEnrolment,
  type ListenerRecord,
  newestGeneration,
  requireNewestGeneration,
} from './records/records.ts';

/** Name of the CA of the listeners in tenant `system`: a TLS CA like any other, except that it cannot be deleted. */
export const applianceCaName = 'appliance';

/** See `listenerIdentity` of the service. */
export async function ensureListenerIdentity(
  doubting: CaContext,
  systemTenantId: string,
  hosts: readonly string[],
): Promise<ListenerIdentity> {
  const context = { ...doubting, clock: withoutDoubt(doubting.clock) };
  const ca = await ensureApplianceCa(context, systemTenantId);
  const { identities } = context.tables;
  const present = identities.get(identityKey(context));
  if (present !== undefined && isFresh(context, present, ca, hosts)) return formatIdentity(present, ca, context);

  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const approved = approveListener(publicKey.export({ format: 'der', type: 'spki' }), hosts);
  const issued = await issueCertificate(context, ca, approved, { ttlSeconds: listenerTtlSeconds, via: 'listener' });
  const made: ListenerRecord = {
    keyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    certificate: issued.record.certificate,
    serial: issued.serial,
    generation: issued.issuer.generation,
    hosts: [...hosts],
  };
  const kept = await context.store.write((transaction) => {
    const other = transaction.get(identities, identityKey(context));
    if (other !== undefined && other.serial !== present?.serial) return other;
    transaction.put(identities, identityKey(context), made);
    return made;
  });
  return formatIdentity(kept, ca, context);
}

/** When the certificate of the listeners ends; undefined before there is one. */
export function listenerNotAfter(context: CaContext): Temporal.Instant | undefined {
  const present = context.tables.identities.get(identityKey(context));
  return present === undefined ? undefined : readCertificate(present.certificate).notAfter;
}

/** An identity is needed to say that the clock is right. */
function withoutDoubt(clock: Clock): Clock {
  return { now: () => clock.now(), monotonicMs: () => clock.monotonicMs() };
}

/** Of this appliance: others of a cluster have other names and keys. */
const identityKey = ({ store }: CaContext): StoreKey => ownKey(store, 'listener');
const listenerTtlSeconds = 90 * 86_400;
const caTtl = '20y';
const caRollSeconds = 365 * 86_400;

function isFresh(context: CaContext, present: ListenerRecord, ca: FoundCa, hosts: readonly string[]): boolean {
  const { notBefore, notAfter } = readCertificate(present.certificate);
  const secondsLeft = notAfter.since(context.clock.now()).total('seconds');
  return (
    secondsLeft > notAfter.since(notBefore).total('seconds') / 3 &&
    present.generation === newestGeneration(ca.record)?.generation &&
    present.hosts.join() === hosts.join()
  );
}

function formatIdentity(identity: ListenerRecord, ca: FoundCa, context: CaContext): ListenerIdentity {
  const signer = ca.record.generations.find(({ generation }) => generation === identity.generation);
  const link = signer?.rollover?.newWithOld;
  const now = context.clock.now();
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

async function ensureApplianceCa(context: CaContext, tenantId: string): Promise<FoundCa> {
  context.store.refresh();
  const present = context.tables.cas.get([tenantId, applianceCaName]);
  if (present === undefined) return found(tenantId, await makeCa(context, tenantId));
  const newest = newestGeneration(present);
  if (newest === undefined) throw fail('internal-error');
  const secondsLeft = readCertificate(newest.certificate).notAfter.since(context.clock.now()).total('seconds');
  return found(tenantId, secondsLeft > caRollSeconds ? present : await rollCa(context, tenantId, present, newest));
}

async function makeCa(context: CaContext, tenantId: string): Promise<CaRecord> {
  const id = randomUUID();
  const first = await makeGeneration(context, planOf(tenantId, id, 1));
  const made: CaRecord = {
    id,
    name: applianceCaName,
    createdAt: formatTimestamp(context.clock.now()),
    keyType: 'ecdsa-p256',
    subject: `CN=${caCommonName}`,
    ttl: caTtl,
    issuingCa: undefined,
    trustCertificate: undefined,
    generations: [first],
    est: disabledEnrolment,
    ownedByAppliance: true,
  };
  return keepUnlessOther(context, tenantId, undefined, made);
}

async function rollCa(context: CaContext, tenantId: string, present: CaRecord, newest: CaGeneration): Promise<CaRecord> {
  const next = await rollRoot(context, planOf(tenantId, present.id, newest.generation + 1), newest);
  return keepUnlessOther(context, tenantId, present, { ...present, generations: [...present.generations, next] });
}

/** Commits the record and claims its newest key, unless another process was first: then its record is kept, and our key is removed later. */
function keepUnlessOther(context: CaContext, tenantId: string, before: CaRecord | undefined, made: CaRecord): Promise<CaRecord> {
  return context.store.write((transaction) => {
    const other = transaction.get(context.tables.cas, [tenantId, applianceCaName]);
    if (other !== undefined && other.generations.length !== before?.generations.length) return other;
    context.ledger.claim(transaction, [ledgerReference({ tenantId, caId: made.id }, requireNewestGeneration(made))]);
    transaction.put(context.tables.cas, [tenantId, applianceCaName], made);
    return made;
  });
}

const caCommonName = 'keystored appliance CA';

function planOf(tenantId: string, caId: string, generation: number) {
  const ttlSeconds = parseDuration(caTtl, 'ttl').seconds;
  return {
    tenantId,
    caId,
    generation,
    keyType: 'ecdsa-p256',
    subject: commonName(caCommonName),
    namesOnRecord: generation > 1,
    ttlSeconds,
    pathLength: 0,
  } as const;
}

function found(tenantId: string, record: CaRecord): FoundCa {
  return { tenantId, record };
}
