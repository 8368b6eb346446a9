// The TLS identities of the appliance's listeners: certificates of the CA `appliance`, whose key is in the token, and their private keys.
import type { Clock } from '../../../core/base/context.ts';
import type { ListenerIdentity, ListenerKeyPlace } from '../../../core/plugin/services/certificate-authority.ts';
import { approveListener } from '../issuing/approval.ts';
import { formatCertificatePem, readCertificate } from '../der/certificate.ts';
import { ensureOwnCa, rollOwnCa } from './own-ca.ts';
import { isStranded } from './keys-in-token.ts';
import { HsmError } from '../../../hsm/api.ts';
import type { CaContext } from '../context.ts';
import { issueCertificate } from '../issuing/issue.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { linksBack } from '../authority/trust.ts';
import { clearListenerKeys, exchangeListenerKeys, forgetTokenListener, isThere, listenerKey, makeListenerKey } from './listener-keys.ts';
import { type ListenerRecord, newestGeneration, requireNewestGeneration } from '../records/records.ts';

/** Name of the CA of the listeners in tenant `system`: a TLS CA like any other, except that nobody but the appliance uses, changes or deletes it. */
export const applianceCaName = 'appliance';

/** See `listenerIdentity` of the service. */
export async function ensureListenerIdentity(
  doubting: CaContext,
  systemTenantId: string,
  hosts: readonly string[],
  place: ListenerKeyPlace = 'store',
): Promise<ListenerIdentity> {
  const context = { ...doubting, clock: withoutDoubt(doubting.clock) };
  const ca = await ensureApplianceCa(context, systemTenantId);
  if (place === 'store-rsa') {
    const rsa = await ensureRecord(context, ca, hosts, place);
    return formatIdentity(rsa, rsa, ca, context);
  }
  const inStore = await ensureRecord(context, ca, hosts, 'store');
  if (place === 'token') return formatIdentity(await ensureRecord(context, ca, hosts, 'token'), inStore, ca, context);
  await forgetTokenListener(context);
  return formatIdentity(inStore, inStore, ca, context);
}

/** Returns the identity on record at that place, or a new one. */
async function ensureRecord(context: CaContext, ca: FoundCa, hosts: readonly string[], place: ListenerKeyPlace): Promise<ListenerRecord> {
  const { identities } = context.tables;
  const key = listenerKey(context, place);
  const present = identities.get(key);
  if (present !== undefined && isFresh(context, present, ca, hosts) && (await isThere(context, present))) return present;

  const { publicKey, kept: keptKey } = await makeListenerKey(context, ca.tenantId, place, present);
  const approved = approveListener(publicKey, hosts, place === 'store-rsa' ? 'rsa' : 'ec');
  const issued = await issueCertificate(context, ca, approved, { ttlSeconds: listenerTtlSeconds, via: 'listener' });
  const made: ListenerRecord = {
    ...keptKey,
    certificate: issued.record.certificate,
    serial: issued.serial,
    generation: issued.issuer.generation,
    hosts: [...hosts],
  };
  const kept = await context.store.write((transaction) => {
    const other = transaction.get(identities, key);
    if (other !== undefined && other.serial !== present?.serial) return other;
    exchangeListenerKeys(context, transaction, present, made);
    transaction.put(identities, key, made);
    return made;
  });
  await clearListenerKeys(context, present, made, kept);
  return kept;
}

/** End of the certificate of the listeners; undefined before there is one. */
export function listenerNotAfter(context: CaContext): Temporal.Instant | undefined {
  const { identities } = context.tables;
  const present = identities.get(listenerKey(context, 'token')) ?? identities.get(listenerKey(context, 'store'));
  return present === undefined ? undefined : readCertificate(present.certificate).notAfter;
}

/** An identity is needed to say that the clock is right. */
function withoutDoubt(clock: Clock): Clock {
  return { now: () => clock.now(), monotonicMs: () => clock.monotonicMs() };
}

const listenerTtlSeconds = 90 * 86_400;
const caRollSeconds = 365 * 86_400;
const applianceCa = { name: applianceCaName, commonName: 'keystored appliance CA' };

function isFresh(context: CaContext, present: ListenerRecord, ca: FoundCa, hosts: readonly string[]): boolean {
  const { notBefore, notAfter } = readCertificate(present.certificate);
  const now = context.clock.now();
  const secondsLeft = notAfter.since(now).total('seconds');
  const newest = newestGeneration(ca.record);
  // Issued while the clock was ahead, it would be refused until then. None can begin before its issuer.
  const hasBegun =
    Temporal.Instant.compare(notBefore, now) <= 0 ||
    (newest !== undefined && Temporal.Instant.compare(notBefore, readCertificate(newest.certificate).notBefore) <= 0);
  return (
    hasBegun &&
    secondsLeft > notAfter.since(notBefore).total('seconds') / 3 &&
    present.generation === newest?.generation &&
    present.hosts.join() === hosts.join()
  );
}

function formatIdentity(serving: ListenerRecord, inStore: ListenerRecord, ca: FoundCa, context: CaContext): ListenerIdentity {
  const now = context.clock.now();
  const roots = ca.record.generations.map(({ certificate }) => certificate).toReversed();
  const pemOf = (record: ListenerRecord): string => ('keyPem' in record ? record.keyPem : '');
  return {
    key: 'keyPem' in serving ? { pem: serving.keyPem } : serving.tokenKey,
    chainPem: chainPem(serving, ca, now),
    serial: serving.serial,
    notAfter: readCertificate(serving.certificate).notAfter,
    caPem: roots
      .filter((root) => Temporal.Instant.compare(readCertificate(root).notAfter, now) > 0)
      .map(formatCertificatePem)
      .join(''),
    whileSealed: { keyPem: pemOf(inStore), chainPem: chainPem(inStore, ca, now), serial: inStore.serial },
  };
}

/** The certificate, and what links its root to the ones before it: clients that trust one of those find a way to it after any number of renewals. */
function chainPem({ certificate, generation }: ListenerRecord, { record }: FoundCa, now: Temporal.Instant): string {
  return [certificate, ...linksBack(record, generation, now)].map(formatCertificatePem).join('');
}

async function ensureApplianceCa(context: CaContext, tenantId: string): Promise<FoundCa> {
  const { tenantId: of, record } = await ensureOwnCa(context, tenantId, applianceCa);
  const newest = requireNewestGeneration(record);
  const { notBefore, notAfter } = readCertificate(newest.certificate);
  const now = context.clock.now();
  const ca = { tenantId: of, record };
  // A certificate that was made while the clock was ahead has not begun, nor has anything that it issues.
  const hasBegun = Temporal.Instant.compare(notBefore, now) <= 0;
  if (!hasBegun || notAfter.since(now).total('seconds') <= caRollSeconds) return rollOwnCa(context, ca, applianceCa);
  if (!isStranded(context, newest)) return ca;
  return rollOwnCa(context, ca, applianceCa).catch((error: unknown) => {
    // The token that has the key signs the link to the new one; while it is away, the listeners keep the identity they have.
    if (error instanceof HsmError) return ca;
    throw error;
  });
}
