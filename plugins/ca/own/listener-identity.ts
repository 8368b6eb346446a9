// The TLS identity of the appliance's listeners: a certificate of the CA `appliance`, whose key is in the token, and its private key.
import { generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../../../core/base/context.ts';
import type { ListenerIdentity } from '../../../core/plugin/services/certificate-authority.ts';
import { ownKey, type StoreKey } from '../../../core/store/store.ts';
import { approveListener } from '../issuing/approval.ts';
import { formatCertificatePem, readCertificate } from '../der/certificate.ts';
import { ensureOwnCa, rollOwnCa } from './own-ca.ts';
import type { CaContext } from '../context.ts';
import { issueCertificate } from '../issuing/issue.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { type ListenerRecord, newestGeneration, requireNewestGeneration } from '../records/records.ts';

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
const caRollSeconds = 365 * 86_400;
const applianceCa = { name: applianceCaName, commonName: 'keystored appliance CA' };

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
  const { tenantId: of, record } = await ensureOwnCa(context, tenantId, applianceCa);
  const newest = requireNewestGeneration(record);
  const secondsLeft = readCertificate(newest.certificate).notAfter.since(context.clock.now()).total('seconds');
  return secondsLeft > caRollSeconds ? { tenantId: of, record } : rollOwnCa(context, { tenantId: of, record }, applianceCa);
}
