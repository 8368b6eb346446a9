// Periodic work on CAs: publishing CRLs, renewing registration authorities, deleting records of expired certificates, removing expired key generations and unclaimed keys.
import { FailureLimit } from '../../core/access/failure-limit.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import type { StoreKey, Table } from '../../core/store/store.ts';
import type { CaContext } from './context.ts';
import { readCertificate } from './der/certificate.ts';
import { isForgotten } from './enrolment/failures.ts';
import { renewRegistration } from './registration/registration.ts';
import { currentCrl } from './status/crl.ts';
import { forgetLastCrls } from './status/last-crl.ts';
import type { FoundCa } from './authority/lookup.ts';
import { addByKey, deleteByKey } from './records/by-key.ts';
import { type CaGeneration, newestGeneration } from './records/records.ts';
import { isStranded } from './own/keys-in-token.ts';
import { sweepRemovedCas } from './removal.ts';
import { ledgerReference } from './authority/generation.ts';

/** Records of issued certificates are kept this long after expiry; the audit trail keeps them longer. */
const keptDays = 90;

/** A revocation stays on the CRL until one CRL after the certificate's end has had it (RFC 5280 3.3). */
const listedDays = 8;

/** Runs everything once; stops between steps when aborted. Idempotent. */
export async function doHousekeeping(context: CaContext, signal: AbortSignal): Promise<void> {
  await sweepRemovedCas(context);
  await context.ledger.sweep();
  await forgetLastCrls(context);
  await new FailureLimit(context.store, context.clock, context.tables.secretFailures).sweep();
  for (const [key, record] of Array.from(context.tables.cas.entries([]))) {
    if (signal.aborted) return;
    const ca = { tenantId: String(key[0]), record };
    await forgetExpired(context, ca);
    await addByKey(context.store, context.tables, [ca.tenantId, record.id]);
    await forgetEnrolments(context, ca);
    await dropExpiredGenerations(context, ca);
    // Lists of keys in the token of one appliance are made there (own/keys-in-token.ts).
    for (const generation of record.generations) if (!isStranded(context, generation)) await currentCrl(context, ca, generation);
  }
  await renewRegistrations(context, signal);
}

/** Rejects with the first failure when all were tried. A CA whose key is in the token of another appliance renews its own at a request there. */
async function renewRegistrations(context: CaContext, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  for (const [[tenantId], record] of Array.from(context.tables.cas.entries([]))) {
    const newest = newestGeneration(record);
    if (signal.aborted || newest === undefined || isStranded(context, newest)) continue;
    await renewRegistration(context, { tenantId: String(tenantId), record }).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Most records deleted in one run. */
const stepRecords = 1_000;

async function forgetExpired(context: CaContext, ca: FoundCa): Promise<void> {
  const { tables } = context;
  const { certificates, lines, revocations } = tables;
  const now = context.clock.now();
  const isOver = (notAfter: string, days: number): boolean =>
    Temporal.Instant.from(notAfter).add({ hours: days * 24 }).epochMilliseconds < now.epochMilliseconds;
  const prefix = [ca.tenantId, ca.record.id];
  const oldCertificates = Iterator.from(certificates.entries(prefix))
    .filter(([, { notAfter }]) => isOver(notAfter, keptDays))
    .take(stepRecords);
  const oldRevocations = Iterator.from(revocations.entries(prefix))
    .filter(([, { notAfter }]) => isOver(notAfter, listedDays))
    .take(stepRecords);
  const gone = { certificates: Array.from(oldCertificates), revocations: Array.from(oldRevocations, ([key]) => key) };
  if (gone.certificates.length + gone.revocations.length === 0) return;
  await writeInPieces(context.store, gone.certificates, (transaction, [key, record]) => {
    deleteByKey(transaction, tables, key, record);
    if (record.line !== undefined) transaction.delete(lines, [...prefix, record.line, String(key.at(-1))]);
  });
  await writeInPieces(context.store, gone.revocations, (transaction, key) => transaction.delete(revocations, key));
}

/** Deletes answers that no repetition gets any longer, requests that nobody has decided about, and secrets some time after their end. */
async function forgetEnrolments({ store, tables, clock }: CaContext, ca: FoundCa): Promise<void> {
  const prefix = [ca.tenantId, ca.record.id];
  const endedBefore = (days: number) => clock.now().subtract({ hours: days * 24 });
  const over = <T extends { readonly until: string }>(table: Table<T>, days: number): readonly StoreKey[] =>
    Array.from(
      Iterator.from(table.entries(prefix))
        .filter(([, { until }]) => Temporal.Instant.compare(until, endedBefore(days)) < 0)
        .take(stepRecords),
      ([key]) => key,
    );
  // One that was used stands for the accounts that were made with it.
  const unused = over(tables.eabKeys, keptDays).filter((key) => {
    const present = tables.eabKeys.get(key);
    return present !== undefined && present.usesLeft === present.uses;
  });
  const gone = [
    ...unused.map((key) => [tables.eabKeys, key] as const),
    ...over(tables.enrolments, 0).map((key) => [tables.enrolments, key] as const),
    ...over(tables.pendingEnrolments, 0).map((key) => [tables.pendingEnrolments, key] as const),
    ...over(tables.enrolmentSecrets, keptDays).flatMap((key) => {
      const id = tables.enrolmentSecrets.get(key)?.id;
      const secret = [tables.enrolmentSecrets, key] as const;
      return id === undefined ? [secret] : [secret, [tables.macSecrets, [...prefix, id]] as const];
    }),
    ...Array.from(
      Iterator.from(tables.enrolmentFailures.entries(prefix)).filter(([, failures]) => isForgotten(failures, clock.now())),
      ([key]) => [tables.enrolmentFailures, key] as const,
    ),
  ];
  if (gone.length > 0) await writeInPieces(store, gone, (transaction, [table, key]) => transaction.delete<unknown>(table, key));
}

/** Removes generations whose certificate has expired, and their keys from the token. The newest one is kept, expired or not. */
async function dropExpiredGenerations(context: CaContext, ca: FoundCa): Promise<void> {
  const now = context.clock.now();
  const isOver = ({ certificate }: CaGeneration): boolean => Temporal.Instant.compare(readCertificate(certificate).notAfter, now) < 0;
  if (!ca.record.generations.slice(0, -1).some(isOver)) return;
  await context.store.write((transaction) => {
    const key = [ca.tenantId, ca.record.name];
    const present = transaction.get(context.tables.cas, key);
    if (present?.id !== ca.record.id) return;
    const newest = newestGeneration(present);
    const gone = present.generations.filter((generation) => generation !== newest && isOver(generation));
    context.ledger.disown(
      transaction,
      gone.map((one) => ledgerReference({ tenantId: ca.tenantId, caId: present.id }, one)),
    );
    for (const { generation } of gone) {
      transaction.delete(context.tables.crls, [ca.tenantId, present.id, generation]);
    }
    transaction.put(context.tables.cas, key, { ...present, generations: present.generations.filter((one) => !gone.includes(one)) });
  });
}
