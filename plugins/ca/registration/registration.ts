// The registration authority of a CA: a key in the token and its certificate, with which enrolment protocols decrypt requests and sign answers, so that
// the key of the CA does neither.
import { fail } from '../../../core/base/errors.ts';
import type { WriteTransaction } from '../../../core/store/store.ts';
import type { KeyReference, KeyType } from '../../../hsm/api.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { registrationReference } from '../authority/registration-key.ts';
import type { CaContext } from '../context.ts';
import { readCertificate } from '../der/certificate.ts';
import { approveRegistration } from '../issuing/approval.ts';
import { familiesUnder } from '../issuing/csr.ts';
import { type Issued, issueCertificate } from '../issuing/issue.ts';
import { type CaKey, type CaRecord, newestGeneration, type Registration } from '../records/records.ts';

const lifeSeconds = 2 * 365 * 86_400;

/** `via` in the record of its certificate. */
const viaRegistration = 'registration-authority';

/** RSA, which every client knows and SCEP needs; under a CA with a key for ML-DSA, which certifies no other, the kind of its own key. */
function keyTypeUnder(record: CaRecord): KeyType {
  return record.keyType === undefined || canRegister(record) ? 'rsa-2048' : record.keyType;
}

/** Tells whether the CA can have one that decrypts: devices that need it have RSA keys, which a CA with a key for ML-DSA does not certify. */
export function canRegister({ keyType: caKeyType }: CaRecord): boolean {
  return caKeyType !== undefined && familiesUnder(caKeyType).includes('rsa');
}

/**
 * The registrations of the CA, newest first, of which the first is in use and the others still open what was encrypted for them. Made at the
 * first use, and again a quarter of its life before its end, when it was revoked, or when the CA has a new key. Throws as issueCertificate.
 */
export async function ensureRegistrations(context: CaContext, ca: FoundCa): Promise<readonly [Registration, ...Registration[]]> {
  const present = presentRegistrations(context, ca, context.tables.cas.get(storeKey(ca)));
  const [newest, ...older] = present;
  if (newest !== undefined && isFresh(context, ca, newest)) return [newest, ...older];
  return makeOnce(context, ca);
}

/** Renews a registration that is due, at a CA that has had one for a protocol that is on: devices may come too rarely to have it done. Throws as ensureRegistrations. */
export async function renewRegistration(context: CaContext, ca: FoundCa): Promise<void> {
  const { registrations = [], scep, cmp } = ca.record;
  const newest = newestGeneration(ca.record);
  const isUsed = registrations.length > 0 && (scep?.enabled === true || cmp?.enabled === true);
  if (!isUsed || newest === undefined) return;
  const isOver = Temporal.Instant.compare(readCertificate(newest.certificate).notAfter, context.clock.now()) <= 0;
  if (!isOver) await ensureRegistrations(context, ca);
}

/** Makes one at a time in this process. Another process may be first, whose registration is then used. */
function makeOnce(context: CaContext, ca: FoundCa): Promise<readonly [Registration, ...Registration[]]> {
  const running = making.get(context) ?? new Map<string, Promise<readonly [Registration, ...Registration[]]>>();
  making.set(context, running);
  const { id } = ca.record;
  const present = running.get(id);
  if (present !== undefined) return present;
  const made = make(context, ca).finally(() => running.delete(id));
  running.set(id, made);
  return made;
}

const making = new WeakMap<CaContext, Map<string, Promise<readonly [Registration, ...Registration[]]>>>();

async function make(context: CaContext, ca: FoundCa): Promise<readonly [Registration, ...Registration[]]> {
  const current = context.tables.cas.get(storeKey(ca));
  const number = Math.max(0, ...(current?.registrations ?? []).map((one) => one.number)) + 1;
  const own = { tenantId: ca.tenantId, caId: ca.record.id };
  const { binding } = registrationReference(own, number);
  const keyType = keyTypeUnder(ca.record);
  // Wrapped: an object in the token either signs or decrypts.
  const { stored, publicKey } = await context.hsm.generate(keyType, binding, { custody: 'wrapped' });
  if (publicKey === undefined) throw new Error('the token made an asymmetric key without a public key');
  const key: CaKey = { type: keyType, stored, publicKey };
  let kept: readonly [Registration, ...Registration[]] | undefined;
  try {
    await issueCertificate(context, ca, approveRegistration(publicKey, ca.record.name, canRegister(ca.record) ? 'rsa' : 'ml-dsa'), {
      ttlSeconds: lifeSeconds,
      via: viaRegistration,
      keep: (transaction, issued) => void (kept = keep(context, transaction, ca, { number, key, issued })),
    });
  } catch (error) {
    if (!(error instanceof OtherWasFirst)) throw error;
    kept = error.registrations;
  }
  if (kept === undefined) throw new Error('a registration that was not kept');
  return kept;
}

/** Keeps a registration, inside the transaction that records the certificate. */
function keep(
  context: CaContext,
  transaction: WriteTransaction,
  ca: FoundCa,
  { number, key, issued }: { readonly number: number; readonly key: CaKey; readonly issued: Issued },
): readonly [Registration, ...Registration[]] {
  const record = transaction.get(context.tables.cas, storeKey(ca));
  if (record?.id !== ca.record.id) throw fail('not-found');
  const present = presentRegistrations(context, ca, record);
  const [newest, ...older] = present;
  if (newest !== undefined && newest.number >= number) throw new OtherWasFirst([newest, ...older]);
  const reference: KeyReference = { ...registrationReference({ tenantId: ca.tenantId, caId: record.id }, number), stored: key.stored };
  context.ledger.claim(transaction, [reference]);
  const made: Registration = { number, key, certificate: issued.record.certificate };
  transaction.put(context.tables.cas, storeKey(ca), { ...record, registrations: [...present.toReversed(), made] });
  return [made, ...present];
}

/** Undoes the transaction, so that no certificate is recorded whose key nobody keeps. */
class OtherWasFirst extends Error {
  override readonly name = 'OtherWasFirst';
  readonly registrations: readonly [Registration, ...Registration[]];

  constructor(registrations: readonly [Registration, ...Registration[]]) {
    super('another process has made a registration authority first');
    this.registrations = registrations;
  }
}

/** Newest first, without those whose certificate has ended. */
function presentRegistrations(context: CaContext, ca: FoundCa, record: CaRecord | undefined): readonly Registration[] {
  const now = context.clock.now();
  const own = record?.id === ca.record.id ? (record.registrations ?? []) : [];
  return own.filter(({ certificate }) => Temporal.Instant.compare(readCertificate(certificate).notAfter, now) > 0).toReversed();
}

function isFresh(context: CaContext, ca: FoundCa, registration: Registration): boolean {
  return Temporal.Instant.compare(context.clock.now(), renewalTimeOf(context, ca, registration)) < 0;
}

/** From when the next request, or the next run of the housekeeping, has another one made: a time that has passed for one that is out of use. */
function renewalTimeOf(context: CaContext, ca: FoundCa, { certificate }: Registration): Temporal.Instant {
  const { serial, notBefore, notAfter } = readCertificate(certificate);
  const issued = context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
  const isOfNewestKey = issued?.generation === newestGeneration(ca.record)?.generation;
  if (issued === undefined || issued.revoked !== undefined || !isOfNewestKey) return notBefore;
  const lifeSeconds = notBefore.until(notAfter).total('seconds');
  return notAfter.subtract({ seconds: Math.floor(lifeSeconds / 4) });
}

/** Fields of the newest registration in the state of the CA, for each protocol that uses it; nothing before there is one. */
export function registrationState(context: CaContext, ca: FoundCa): Readonly<Record<string, Temporal.Instant>> {
  const newest = ca.record.registrations?.at(-1);
  if (newest === undefined) return {};
  const { notBefore, notAfter } = readCertificate(newest.certificate);
  return {
    registrationNotBefore: notBefore,
    registrationNotAfter: notAfter,
    registrationRenewalTime: renewalTimeOf(context, ca, newest),
  };
}

function storeKey({ tenantId, record }: FoundCa): readonly string[] {
  return [tenantId, record.name];
}
