// The line of a certificate: the first one that was issued, and all that renewals have made from it. A copied key renews like the device itself.
import { formatTimestamp } from '../../../core/base/time.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import type { IssuedCertificate, RevocationReason } from '../records/records.ts';
import { revokeIssued } from './revocation.ts';

/** Hours after which an ended certificate renews nothing, by any clock of a cluster and in any request under way. */
const endedHours = 24;

/** Limit of rounds. Each finds certificates that were renewed during the one before, by certificates that it had not reached yet. */
const mostRounds = 64;

/** Certificates of the line that are on record, at the last refresh of the store. */
function lineOf({ tables }: CaContext, { tenantId, record }: FoundCa, serial: string): ReadonlyMap<string, IssuedCertificate> {
  const own = [tenantId, record.id];
  const first = tables.certificates.get([...own, serial])?.line ?? serial;
  const serials = [first, ...Array.from(tables.lines.keys([...own, first]), (key) => String(key.at(-1)))];
  const found = serials.map((one) => [one, tables.certificates.get([...own, one])] as const);
  return new Map(found.filter((one): one is readonly [string, IssuedCertificate] => one[1] !== undefined));
}

/** The others of its line that are valid, at the last refresh of the store. */
export function countOthersValid(context: CaContext, ca: FoundCa, serial: string): number {
  const now = context.clock.now();
  const others = [...lineOf(context, ca, serial)].filter(([one]) => one !== serial);
  return others.filter(([, issued]) => isGood(issued, now)).length;
}

/** Tells whether its line has a valid certificate that ends later: the device has renewed it. */
export function isRenewed(context: CaContext, ca: FoundCa, serial: string): boolean {
  const line = lineOf(context, ca, serial);
  const end = line.get(serial)?.notAfter;
  const now = context.clock.now();
  return line
    .entries()
    .some(
      ([one, issued]) => one !== serial && isGood(issued, now) && end !== undefined && Temporal.Instant.compare(issued.notAfter, end) > 0,
    );
}

/**
 * Revokes the rest of the line of a certificate, and adds it to `revoked`, also after an interruption: a repeated call continues there. A
 * renewal looks in its transaction whether the certificate that it renews is revoked, so none gets past the last round, which finds
 * nothing.
 */
export async function revokeLine(
  context: CaContext,
  ca: FoundCa,
  serial: string,
  reason: RevocationReason,
  revoked: string[],
): Promise<void> {
  const now = context.clock.now();
  const at = formatTimestamp(now);
  const since = now.subtract({ hours: endedHours });
  for (let round = 1; round <= mostRounds; round++) {
    context.store.refresh();
    const left = [...lineOf(context, ca, serial)].filter(([, issued]) => isGood(issued, since)).map(([one]) => one);
    if (left.length === 0) return;
    try {
      await writeInPieces(context.store, left, (transaction, one) => void revokeIssued(context, transaction, ca, one, { at, reason }));
    } finally {
      context.store.refresh();
      const present = lineOf(context, ca, serial);
      revoked.push(...left.filter((one) => present.get(one)?.revoked !== undefined));
    }
  }
}

function isGood({ revoked, notAfter }: IssuedCertificate, at: Temporal.Instant): boolean {
  return revoked === undefined && Temporal.Instant.compare(notAfter, at) >= 0;
}
