// Revoking a certificate, and asking whether one is revoked.
import { getOrDrop, type StoreKey, type WriteTransaction } from '../../../core/store/store.ts';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { type Certificate, readCertificate } from '../der/certificate.ts';
import type { CaContext } from '../context.ts';
import { caCertificates, type FoundCa, hasKey, tenantCas } from '../authority/lookup.ts';
import type { CaGeneration, IssuedCertificate, PublishedCrl, RevocationReason } from '../records/records.ts';
import type { KeptRevocation } from './kept-crl.ts';

type Revoked = NonNullable<IssuedCertificate['revoked']>;

/**
 * Revokes a certificate from now on; one already revoked stays as it was. Resolves when it is on the disk: from then on
 * re-enrolment is refused, OCSP says revoked, and the next CRL has it. Throws `not-found` for a serial this CA never issued. Returns
 * whether it was not revoked before.
 */
export async function revokeCertificate(context: CaContext, ca: FoundCa, serial: string, reason: RevocationReason): Promise<boolean> {
  const at = formatTimestamp(context.clock.now());
  return context.store.write((transaction) => {
    const before = transaction.get(context.tables.certificates, [ca.tenantId, ca.record.id, serial]);
    if (before === undefined) throw fail('not-found', { detail: 'This CA issued no certificate with that serial number.' });
    revokeIssued(context, transaction, ca, serial, { at, reason });
    return before.revoked === undefined;
  });
}

/** Revokes inside a transaction; returns whether this CA issued the certificate. */
export function revokeIssued(
  context: CaContext,
  transaction: WriteTransaction,
  { tenantId, record }: FoundCa,
  serial: string,
  revoked: Revoked,
): boolean {
  const key = [tenantId, record.id, serial];
  const issued = transaction.get(context.tables.certificates, key);
  if (issued === undefined) return false;
  if (issued.revoked !== undefined) return true;
  const { generation, notAfter } = issued;
  transaction.put(context.tables.certificates, key, { ...issued, revoked });
  const change = noteRevocation(context, transaction, [tenantId, record.id, generation]);
  transaction.put(context.tables.revocations, [tenantId, record.id, generation, serial], { ...revoked, notAfter, change });
  for (const ends of context.ends) ends.revoked(transaction, tenantId, record.id, issued.certificate);
  return true;
}

/** Revocations of one key of the CA, from elsewhere. `number`: of the list that had them; later ones are higher. */
export type ForeignRevocations = {
  readonly generation: CaGeneration;
  readonly entries: readonly KeptRevocation[];
  readonly number: number;
};

export type TakenIn = { readonly revoked: number; readonly neverIssued: number; readonly knownBefore: number };

/**
 * Takes in what was revoked when this store did not know it. A certificate that it does not know either, because it was issued then, stays on the
 * list as long as one could be valid that this key has signed. A repeated call continues where the first was interrupted.
 */
export async function takeInRevocations(context: CaContext, ca: FoundCa, lists: readonly ForeignRevocations[]): Promise<TakenIn> {
  const taken = { revoked: 0, neverIssued: 0, knownBefore: 0 };
  context.store.refresh();
  for (const { generation, entries, number } of lists) {
    const own = [ca.tenantId, ca.record.id];
    const listed = (serial: string): StoreKey => [...own, generation.generation, serial];
    // Counted apart: a transaction of a shared store may run again.
    for (const { serial } of entries) {
      const issued = context.tables.certificates.get([...own, serial]);
      if (issued?.revoked !== undefined || context.tables.revocations.has(listed(serial))) taken.knownBefore++;
      else if (issued === undefined) taken.neverIssued++;
      else taken.revoked++;
    }
    const notAfter = formatTimestamp(readCertificate(generation.certificate).notAfter);
    await writeInPieces(context.store, entries, (transaction, { serial, ...revoked }) => {
      if (revokeIssued(context, transaction, ca, serial, revoked) || transaction.has(context.tables.revocations, listed(serial))) return;
      const change = noteRevocation(context, transaction, [...own, generation.generation]);
      transaction.put(context.tables.revocations, listed(serial), { ...revoked, notAfter, change });
    });
    if (number > 0) await raiseNumber(context, [...own, generation.generation], number);
  }
  return taken;
}

/** Finds the revocation of a serial number, of a certificate that this store knows or not. */
export function findRevocation(context: CaContext, ca: FoundCa, generation: number, serial: string): Revoked | undefined {
  const issued = context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
  if (issued?.generation === generation) return issued.revoked;
  return context.tables.revocations.get([ca.tenantId, ca.record.id, generation, serial]);
}

/** Marks the CRL of this generation as incomplete; returns the count of changes with this one. */
function noteRevocation(context: CaContext, transaction: WriteTransaction, key: readonly (string | number)[]): number {
  const published: PublishedCrl = getOrDrop(transaction, context.tables.crls, key) ?? noneYet;
  const changes = published.changes + 1;
  transaction.put(context.tables.crls, key, { ...published, changes });
  return changes;
}

/** Raises the number of a key, so that no list gets one that was published already. */
async function raiseNumber(context: CaContext, key: readonly (string | number)[], number: number): Promise<void> {
  await context.store.write((transaction) => {
    const published: PublishedCrl = getOrDrop(transaction, context.tables.crls, key) ?? noneYet;
    if (published.lastNumber < number) transaction.put(context.tables.crls, key, { ...published, lastNumber: number });
  });
}

const noneYet: PublishedCrl = { lastNumber: 0, changes: 0 };

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

/** Tells whether a certificate on a path is revoked by its issuer, if that is a CA of this tenant, or nobody has confirmed it there. */
export function isRevokedOnPath(context: CaContext, tenantId: string, path: readonly Certificate[]): boolean {
  const ours = tenantCas(context, tenantId).filter(({ record }) => hasKey(record));
  return path.slice(1).some((issuer, index) => {
    const subject = path[index];
    const ca = ours.find((one) => caCertificates(one.record).some((certificate) => Buffer.compare(certificate, issuer.der) === 0));
    if (subject === undefined || ca === undefined) return false;
    // A serial number is the CA's own: of a certificate that it does not know, one of its lists may have had it.
    const issued = findIssued(context, ca, subject);
    return (
      issued?.revoked !== undefined ||
      issued?.unconfirmed === true ||
      ca.record.generations.some(({ generation }) =>
        context.tables.revocations.has([ca.tenantId, ca.record.id, generation, subject.serial]),
      )
    );
  });
}
