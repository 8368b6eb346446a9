// One-time secrets: each for one device, its exact subject and names, with an end and a number of uses. Only the hash is stored.
import { hash } from 'node:crypto';
import { equalConstantTime } from '../../../core/base/bytes.ts';
import type { FailureLimit } from '../../../core/access/failure-limit.ts';
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
  readonly credential: 'shared-secret' | 'one-time-secret' | 'none';
};
export type Judged = Accepted | { readonly refusal: string };

type Asked = { readonly secret: string | undefined; readonly clientIp: string };
type Rules = { readonly initialEnrollSecret?: string | undefined; readonly approvalRequired: boolean };

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
  if (known !== undefined && problem === undefined) return { credential: 'one-time-secret', identity: known, oneTime: key };
  if (shared !== undefined) {
    limit.requireComparable(shared, id, clientIp);
    if (equalConstantTime(Buffer.from(hash('sha256', secret)), Buffer.from(hash('sha256', shared)))) return { credential: 'shared-secret' };
  }
  await limit.count(id, clientIp);
  return { refusal: problem ?? 'the challengePassword is not a secret of this CA' };
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
