// Removing a CA: first its record, so that it cannot be found, then its certificates and keys, in steps that can be interrupted and repeated.
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, Table, WriteTransaction } from '../../core/store/store.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { readCertificate } from './der/certificate.ts';
import type { CaContext } from './context.ts';
import type { FoundCa } from './authority/lookup.ts';
import type { CaRecord, RevocationReason } from './records/records.ts';
import { revokeIssued } from './status/revocation.ts';
import { ledgerReference } from './authority/generation.ts';
import { registrationKeys } from './authority/registration-key.ts';

/** Keys that are read at a time. */
const stepRecords = 1_000;

/** Disowns the keys of a CA and notes the rest for clearing, in the transaction that deletes its record. */
export function removeCaRecords(context: CaContext, transaction: WriteTransaction, tenantId: string, record: CaRecord): void {
  const own = { tenantId, caId: record.id };
  context.ledger.disown(transaction, [
    ...record.generations.map((generation) => ledgerReference(own, generation)),
    ...registrationKeys(tenantId, record),
  ]);
  for (const ends of context.ends) ends.removed(transaction, tenantId, record.id);
  transaction.put(context.tables.removedCas, [record.id], { tenantId, caId: record.id });
}

/** Binds records that trust the CA by its name alone to this one, not a later one; inside the same transaction. */
export function endTrust(context: CaContext, transaction: WriteTransaction, { tenantId, record: gone }: FoundCa): void {
  for (const [key, record] of Array.from(transaction.entries(context.tables.cas, [tenantId])))
    if (record.est.initialEnrollTrustCa === gone.name && record.trustedCaId === undefined && record.id !== gone.id)
      transaction.put(context.tables.cas, key, { ...record, trustedCaId: gone.id });
}

/** Reason for which the certificates of a removed CA are revoked. */
export const endOfCa: RevocationReason = 'cessation-of-operation';

/** Serial numbers of the CA's own certificates. */
export function serialsOf({ generations }: CaRecord): string[] {
  return generations.map(({ certificate }) => readCertificate(certificate).serial);
}

/** Revokes the CA's own certificates at the CA that issued them, inside the same transaction. */
export function revokeOwnCertificates(context: CaContext, transaction: WriteTransaction, { tenantId, record }: FoundCa): void {
  const above = record.issuingCa === undefined ? undefined : transaction.get(context.tables.cas, [tenantId, record.issuingCa]);
  if (above === undefined) return;
  const revoked = { at: formatTimestamp(context.clock.now()), reason: endOfCa };
  for (const serial of serialsOf(record)) revokeIssued(context, transaction, { tenantId, record: above }, serial, revoked);
}

/** Removes the CAs of a deleted tenant. */
export async function dropCas(context: CaContext, tenantId: string): Promise<void> {
  const { store, tables } = context;
  store.refresh();
  for (const [key] of Array.from(tables.cas.entries([tenantId]))) {
    await store.write((transaction) => {
      const record = transaction.get(tables.cas, key);
      if (record === undefined) return;
      removeCaRecords(context, transaction, tenantId, record);
      transaction.delete(tables.cas, key);
    });
  }
}

/** Clears what removed CAs left behind. A CA whose token is away is left to the next run. */
export async function sweepRemovedCas(context: CaContext): Promise<void> {
  context.store.refresh();
  const { certificates, lines, certificateKeys, revocations, crls, enrolmentSecrets, enrolments, pendingEnrolments } = context.tables;
  const { removedCas, enrolmentFailures, eabKeys, macSecrets } = context.tables;
  const tables = [
    ...[certificates, lines, certificateKeys, revocations, crls],
    ...[enrolmentSecrets, enrolments, pendingEnrolments, enrolmentFailures, eabKeys, macSecrets],
  ];
  for (const [key, { tenantId, caId }] of Array.from(removedCas.entries([]))) {
    for (const table of tables) await clear(context, table, [tenantId, caId]);
    if (await context.ledger.destroyAllOf(caId)) await context.store.write((transaction) => transaction.delete(removedCas, key));
  }
}

async function clear({ store }: CaContext, table: Table<unknown>, prefix: StoreKey): Promise<void> {
  for (let keys: StoreKey[] | undefined; keys === undefined || keys.length === stepRecords;) {
    store.refresh();
    keys = Array.from(table.keys(prefix, { limit: stepRecords }));
    await writeInPieces(store, keys, (transaction, key) => transaction.delete(table, key));
  }
}
