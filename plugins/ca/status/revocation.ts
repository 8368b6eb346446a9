// Revoking a certificate, and asking whether one is revoked.
import type { WriteTransaction } from '../../../core/store/store.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type Certificate } from '../der/certificate.ts';
import type { CaContext } from '../context.ts';
import { caCertificates, type FoundCa, hasKey, tenantCas } from '../authority/lookup.ts';
import type { IssuedCertificate, PublishedCrl, RevocationReason } from '../records/records.ts';

/**
 * Revokes a certificate from now on; one already revoked stays as it was. Resolves when it is on the disk: from then on
 * re-enrolment is refused, OCSP says revoked, and the next CRL has it. Throws `not-found` for a serial this CA never issued.
 */
export async function revokeCertificate(context: CaContext, ca: FoundCa, serial: string, reason: RevocationReason): Promise<void> {
  const at = formatTimestamp(context.clock.now());
  await context.store.write((transaction) => {
    if (!revokeIssued(context, transaction, ca, serial, { at, reason }))
      throw fail('not-found', { detail: 'This CA issued no certificate with that serial number.' });
  });
}

/** Revokes inside a transaction; returns whether this CA issued the certificate. */
export function revokeIssued(
  context: CaContext,
  transaction: WriteTransaction,
  { tenantId, record }: FoundCa,
  serial: string,
  revoked: NonNullable<IssuedCertificate['revoked']>,
): boolean {
  const key = [tenantId, record.id, serial];
  const issued = transaction.get(context.tables.certificates, key);
  if (issued === undefined) return false;
  if (issued.revoked !== undefined) return true;
  const { generation, notAfter } = issued;
  transaction.put(context.tables.certificates, key, { ...issued, revoked });
  transaction.put(context.tables.revocations, [tenantId, record.id, generation, serial], { ...revoked, notAfter });
  noteRevocation(context, transaction, [tenantId, record.id, generation]);
  return true;
}

/** Marks the CRL of this generation as incomplete. */
function noteRevocation(context: CaContext, transaction: WriteTransaction, key: readonly (string | number)[]): void {
  const published: PublishedCrl = transaction.get(context.tables.crls, key) ?? { lastNumber: 0, changes: 0 };
  transaction.put(context.tables.crls, key, { ...published, changes: published.changes + 1 });
}

/** The record of a certificate this CA issued: the same octets, not only the same serial number. */
export function findIssued(
  context: CaContext,
  ca: FoundCa,
  certificate: Certificate,
  transaction?: WriteTransaction,
): IssuedCertificate | undefined {
  const key = [ca.tenantId, ca.record.id, certificate.serial];
  const { certificates } = context.tables;
  const issued = transaction === undefined ? certificates.get(key) : transaction.get(certificates, key);
  return issued !== undefined && Buffer.compare(issued.certificate, certificate.der) === 0 ? issued : undefined;
}

/** Whether a certificate on a path is revoked by its issuer, where that is a CA of this tenant (R38). */
export function isRevokedOnPath(context: CaContext, tenantId: string, path: readonly Certificate[]): boolean {
  const ours = tenantCas(context, tenantId).filter(({ record }) => hasKey(record));
  return path.slice(1).some((issuer, index) => {
    const subject = path[index];
    const ca = ours.find((one) => caCertificates(one.record).some((certificate) => Buffer.compare(certificate, issuer.der) === 0));
    return subject !== undefined && ca !== undefined && findIssued(context, ca, subject)?.revoked !== undefined;
  });
}
