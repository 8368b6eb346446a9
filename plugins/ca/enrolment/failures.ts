// Devices that fail to enrol again and again: what was wrong the last time, by address, for the people who look after them.
import { subscriberOf } from '../../../core/base/addresses.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { EnrolmentFailures } from '../records/enrolments.ts';

/** Failures without a success between them that are more than a mistake. */
const persistent = 3;
/** Hours after the last failure for which it is remembered. */
const rememberedHours = 24;
/** Addresses of a CA that are remembered; unauthenticated callers can fill it, and then the others are in the audit trail alone. */
const mostAddresses = 1_000;
/** Characters of texts that a device has written. */
const longestText = 256;

export type Failure = {
  readonly protocol: string;
  readonly clientIp: string;
  readonly reason: string;
  readonly subject?: string | undefined;
};

/** Notes a refusal that the device was told. Failures of this kind are limited by address before they come here. */
export async function noteFailure({ store, tables, clock }: CaContext, ca: FoundCa, failure: Failure): Promise<void> {
  const { protocol, clientIp, reason, subject } = failure;
  const prefix = [ca.tenantId, ca.record.id];
  const key = [...prefix, subscriberOf(clientIp)];
  const at = formatTimestamp(clock.now());
  await store.write((transaction) => {
    const present = transaction.get(tables.enrolmentFailures, key);
    if (
      present === undefined &&
      Iterator.from(transaction.keys(tables.enrolmentFailures, prefix))
        .drop(mostAddresses - 1)
        .some(() => true)
    )
      return;
    const known = present === undefined || isForgotten(present, clock.now()) ? { count: 0, firstAt: at } : present;
    transaction.put(tables.enrolmentFailures, key, {
      ...{ clientIp, protocol, reason: reason.slice(0, longestText), subject: subject?.slice(0, longestText) },
      ...{ count: known.count + 1, firstAt: known.firstAt, lastAt: at },
    });
  });
}

/** A device at this address has got its certificate. No commit where nothing was noted. */
export async function forgetFailures({ store, tables }: CaContext, ca: FoundCa, clientIp: string): Promise<void> {
  const key = [ca.tenantId, ca.record.id, subscriberOf(clientIp)];
  if (tables.enrolmentFailures.has(key)) await store.write((transaction) => void transaction.delete(tables.enrolmentFailures, key));
}

/** Tells whether somebody should look at it. */
export function isPersistent(failures: EnrolmentFailures, now: Temporal.Instant): boolean {
  return failures.count >= persistent && !isForgotten(failures, now);
}

export function isForgotten({ lastAt }: EnrolmentFailures, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(lastAt, now.subtract({ hours: rememberedHours })) < 0;
}
