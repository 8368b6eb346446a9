// One-time secrets: each for one device, its exact subject and names, with an end and a number of uses. Only the hash is stored, but for devices that
// prove the secret with a MAC, for which the appliance needs it.
import { hash, randomBytes } from 'node:crypto';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import { Secret } from '../../../core/base/secret.ts';
import type { FailureLimit } from '../../../core/access/failure-limit.ts';
import type { AcceptedMac, MacQuestion } from '../../../core/plugin/services/certificate-authority.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { EnrolmentSecret, FixedIdentity } from '../records/enrolments.ts';

/** The secret of a device, 120 bits, in letters and digits that are hard to confuse and that every string type of ASN.1 has. */
export async function drawSecret({ hsm }: CaContext): Promise<string> {
  const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  const octets = await hsm.random(24);
  return Array.from(octets, (octet) => alphabet[octet & 31]).join('');
}

export function secretKeyOf({ tenantId, record }: FoundCa, secret: string): StoreKey {
  return [tenantId, record.id, hash('sha256', secret)];
}

/** A credential of a first enrolment that was accepted. `oneTime`: the record that is spent with the enrolment. */
export type Accepted = {
  readonly identity?: FixedIdentity;
  readonly oneTime?: StoreKey;
  /** end of the credential, if it has one */
  readonly until?: string;
  readonly credential: 'shared-secret' | 'one-time-secret' | 'trusted-certificate' | 'registration-authority' | 'none';
};
export type Judged = Accepted | { readonly refusal: string };

type Asked = { readonly secret: string | undefined; readonly clientIp: string };
/** Rules of first enrolments by a protocol. */
export type Rules = { readonly initialEnrollSecret?: string | undefined; readonly approvalRequired: boolean };

/**
 * Judges the secret of a first enrolment. Throws `rate-limited` after too many wrong ones from an address. Without a secret a request is accepted only
 * where a person decides and no secret is configured.
 */
export async function judgeSecret(
  context: CaContext,
  limit: FailureLimit,
  ca: FoundCa,
  { initialEnrollSecret: shared, approvalRequired }: Rules,
  { secret, clientIp }: Asked,
): Promise<Judged> {
  const { id } = ca.record;
  if (secret === undefined || secret === '') {
    if (approvalRequired && shared === undefined) return { credential: 'none' };
    return { refusal: 'the request has no challengePassword: put the secret of the device there' };
  }
  const key = secretKeyOf(ca, secret);
  const known = context.tables.enrolmentSecrets.get(key);
  const problem = known === undefined ? undefined : problemOf(context, known);
  if (known !== undefined && problem === undefined)
    return { credential: 'one-time-secret', identity: known, oneTime: key, until: known.until };
  if (shared !== undefined) {
    limit.requireComparable(shared, id, clientIp);
    if (equalConstantTime(Buffer.from(hash('sha256', secret)), Buffer.from(hash('sha256', shared)))) return { credential: 'shared-secret' };
  }
  await limit.count(id, clientIp);
  return { refusal: problem ?? 'the challengePassword is not a secret of this CA' };
}

/**
 * The end of a secret that is accepted now, or `without-end`; undefined for another. Counts nothing: for requests whose answer does not depend on it, of
 * senders who have known `shared` before.
 */
export function endOfSecret(context: CaContext, ca: FoundCa, shared: string | undefined, secret = ''): string | undefined {
  const known = context.tables.enrolmentSecrets.get(secretKeyOf(ca, secret));
  if (known !== undefined && problemOf(context, known) === undefined) return known.until;
  if (shared === undefined) return undefined;
  return equalConstantTime(Buffer.from(hash('sha256', secret)), Buffer.from(hash('sha256', shared))) ? 'without-end' : undefined;
}

/** A secret that nobody has: a MAC with an unknown reference is compared with it, so that its refusal takes as long as that of a wrong secret. */
const nobodysSecret = randomBytes(24).toString('base64url');

/**
 * Judges the MAC of a message: it is that of the one-time secret whose id is the reference, or else of the shared secret. Whether a use is left is told,
 * and judged again when it is spent: the messages that follow prove the same secret. Counts a wrong one; throws `rate-limited` after too many from an address.
 */
export async function judgeMac(
  context: CaContext,
  limit: FailureLimit,
  ca: FoundCa,
  { initialEnrollSecret: shared }: Rules,
  question: MacQuestion,
): Promise<AcceptedMac | undefined> {
  const { reference, clientIp } = question;
  const { id } = ca.record;
  const own = findMacSecret(context, ca, reference);
  if (own === undefined && shared !== undefined) limit.requireComparable(shared, id, clientIp);
  const known = own?.secret ?? shared;
  const secret = new Secret(known ?? nobodysSecret);
  if ((await question.matches(secret)) && known !== undefined)
    return { credential: own === undefined ? 'shared-secret' : 'one-time-secret', secret, problem: own?.problem };
  await limit.count(id, clientIp);
  return undefined;
}

/** The secret of a device by its id, as long as it is not revoked, and the reason for which it enrols nobody. */
function findMacSecret(
  context: CaContext,
  ca: FoundCa,
  id: string,
): { readonly secret: string; readonly problem: string | undefined } | undefined {
  const { macSecrets, enrolmentSecrets } = context.tables;
  // Keys of the store have a limit.
  if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
  const secret = macSecrets.get([ca.tenantId, ca.record.id, id])?.secret;
  const record = secret === undefined ? undefined : enrolmentSecrets.get(secretKeyOf(ca, secret));
  return secret === undefined || record === undefined ? undefined : { secret, problem: problemOf(context, record) };
}

/** Spends a use, inside the transaction that records the enrolment. Returns the reason for which it cannot; undefined if it is done. */
export function spend(context: CaContext, transaction: WriteTransaction, key: StoreKey): string | undefined {
  const { enrolmentSecrets } = context.tables;
  const present = transaction.get(enrolmentSecrets, key);
  if (present === undefined) return 'the one-time secret was revoked';
  const problem = problemOf(context, present);
  if (problem === undefined) transaction.put(enrolmentSecrets, key, { ...present, usesLeft: present.usesLeft - 1 });
  return problem;
}

function problemOf({ clock }: CaContext, { usesLeft, until }: EnrolmentSecret): string | undefined {
  if (usesLeft <= 0) return 'the one-time secret was used already: ask for another one';
  return Temporal.Instant.compare(until, clock.now()) < 0 ? 'the one-time secret has expired: ask for another one' : undefined;
}
