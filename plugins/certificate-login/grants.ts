// Grants of CAs and certificates: they end the tokens of a CA that is deleted, and of a certificate that is revoked, in the transaction that does it.
import { formatTimestamp } from '../../core/base/time.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, WriteTransaction } from '../../core/store/store.ts';
import { type Confirmation, readThumbprint } from '../../core/tls/client-certificate.ts';
import type { Logins } from './context.ts';

/** The grant of a CA, opened at its first login. */
export function grantOfCa({ caGrants, accounts }: Logins, transaction: WriteTransaction, tenantId: string, caId: string): string {
  const key = [tenantId, caId];
  const present = transaction.get(caGrants, key);
  if (present !== undefined) return present;
  const grant = accounts.openGrant(transaction, tenantId);
  transaction.put(caGrants, key, grant);
  return grant;
}

/** The grant of a certificate or key, opened at its first login. `until`: end of the token that is about to name it. */
export function grantOfCertificate(
  { certificateGrants, accounts }: Logins,
  transaction: WriteTransaction,
  [tenantId, caId, { kind, sha256 }]: readonly [tenantId: string, caId: string, of: Confirmation],
  until: Temporal.Instant,
): string {
  const key = [tenantId, caId, kind, sha256];
  const present = transaction.get(certificateGrants, key);
  const grant = present?.grant ?? accounts.openGrant(transaction, tenantId);
  const text = formatTimestamp(until);
  // Timestamps of this form sort chronologically.
  if (present === undefined || present.until < text) transaction.put(certificateGrants, key, { grant, until: text });
  return grant;
}

/** Ends the tokens of a revoked certificate, and those that are bound to its key. */
export function endGrantsOfCertificate(
  logins: Logins,
  transaction: WriteTransaction,
  tenantId: string,
  caId: string,
  certificate: Uint8Array,
): void {
  for (const kind of ['certificate', 'key'] as const) {
    const sha256 = readThumbprint(kind, certificate);
    if (sha256 !== undefined) endCertificateGrant(logins, transaction, [tenantId, caId, kind, sha256]);
  }
}

/** Ends the tokens of all certificates of a CA. */
export function endGrantOfCa({ caGrants, accounts }: Logins, transaction: WriteTransaction, tenantId: string, caId: string): void {
  const grant = transaction.get(caGrants, [tenantId, caId]);
  if (grant === undefined) return;
  accounts.endGrant(transaction, tenantId, grant);
  transaction.delete(caGrants, [tenantId, caId]);
}

/** Drops the grants that no token names any longer. */
export async function dropExpired(logins: Logins, signal: AbortSignal): Promise<void> {
  const { store, clock, certificateGrants } = logins;
  store.refresh();
  const present = formatTimestamp(clock.now());
  const over = Array.from(certificateGrants.entries([])).flatMap(([key, { until }]) => (until < present ? [key] : []));
  await writeInPieces(
    store,
    over,
    (transaction, key) => {
      // A login may have made it longer meanwhile.
      const kept = transaction.get(certificateGrants, key);
      if (kept !== undefined && kept.until < present) endCertificateGrant(logins, transaction, key);
    },
    signal,
  );
}

function endCertificateGrant({ certificateGrants, accounts }: Logins, transaction: WriteTransaction, key: StoreKey): void {
  const kept = transaction.get(certificateGrants, key);
  if (kept === undefined) return;
  accounts.endGrant(transaction, String(key[0]), kept.grant);
  transaction.delete(certificateGrants, key);
}
