// Revoking a certificate, and asking whether one is revoked.
import type { WriteTransaction } from '../../../core/store/store.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { type Certificate } from '../der/certificate.ts';
import type { CaHouse } from '../context.ts';
import { caCertificates, type FoundCa, hasKey, tenantCas } from '../authority/lookup.ts';
import type { IssuedCertificate, PublishedCrl, RevocationReason } from '../records/records.ts';

/**
 * Revokes a certificate from now on; one already revoked stays as it was. Resolves when it is on the disk: from then on
 * re-enrolment is refused, OCSP says revoked, and the next CRL has it. Throws `not-found` for a serial this CA never issued.
 */
export async function revokeCertificate(house: CaHouse, ca: FoundCa, serial: string, reason: RevocationReason): Promise<void> {
  const at = formatTimestamp(house.clock.now());
  await house.store.write((transaction) => {
    if (!revokeIssued(house, transaction, ca, serial, { at, reason }))
      throw fail('not-found', { detail: 'This CA issued no certificate with that serial number.' });
  });
}

/** In a transaction that revokes; answers whether this CA issued the certificate. */
export function revokeIssued(
  house: CaHouse,
  transaction: WriteTransaction,
  { tenantId, record }: FoundCa,
  serial: string,
  revoked: NonNullable<IssuedCertificate['revoked']>,
): boolean {
  const key = [tenantId, record.id, serial];
  const issued = transaction.get(house.tables.certificates, key);
  if (issued === undefined) return false;
  if (issued.revoked !== undefined) return true;
  const { generation, notAfter } = issued;
  transaction.put(house.tables.certificates, key, { ...issued, revoked });
  transaction.put(house.tables.revocations, [tenantId, record.id, generation, serial], { ...revoked, notAfter });
  noteRevocation(house, transaction, [tenantId, record.id, generation]);
  return true;
}

/** The CRL of this generation does not cover everything any more. */
function noteRevocation(house: CaHouse, transaction: WriteTransaction, key: readonly (string | number)[]): void {
  const published: PublishedCrl = transaction.get(house.tables.crls, key) ?? { lastNumber: 0, changes: 0 };
  transaction.put(house.tables.crls, key, { ...published, changes: published.changes + 1 });
}

/** The record of a certificate this CA issued: the same octets, not only the same serial number. */
export function findIssued(
  house: CaHouse,
  ca: FoundCa,
  certificate: Certificate,
  transaction?: WriteTransaction,
): IssuedCertificate | undefined {
  const key = [ca.tenantId, ca.record.id, certificate.serial];
  const { certificates } = house.tables;
  const issued = transaction === undefined ? certificates.get(key) : transaction.get(certificates, key);
  return issued !== undefined && Buffer.compare(issued.certificate, certificate.der) === 0 ? issued : undefined;
}

/** Whether a certificate on a path is revoked by a CA of this tenant that stands right above it (R38). */
export function isRevokedOnPath(house: CaHouse, tenantId: string, path: readonly Certificate[]): boolean {
  const ours = tenantCas(house, tenantId).filter(({ record }) => hasKey(record));
  return path.slice(1).some((issuer, index) => {
    const subject = path[index];
    const ca = ours.find((one) => caCertificates(one.record).some((certificate) => Buffer.compare(certificate, issuer.der) === 0));
    return subject !== undefined && ca !== undefined && findIssued(house, ca, subject)?.revoked !== undefined;
  });
}
