// Remains of a deleted CA while certificates of it are valid: a last CRL for each of its keys, valid until the last of them expires.
import { fail } from '../../../core/base/errors.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import { getOrDrop, type WriteTransaction } from '../../../core/store/store.ts';
import { isKeyLost } from '../../../hsm/api.ts';
import { newestCrl, signCrl } from './crl.ts';
import type { CaContext } from '../context.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaGeneration, LastCrl } from '../records/records.ts';

/** Certificates of a CA that relying parties may still check. */
export type Outstanding = {
  /** certificates it issued that are neither expired nor revoked */
  readonly valid: number;
  /** end of the last of these */
  readonly validUntil: string | undefined;
  /** by key: end of the last certificate that it signed, revoked or not; absent if all have expired */
  readonly ends: Readonly<Record<number, string>>;
};

/** Counts the outstanding certificates of a CA, in the last snapshot or in a transaction. */
export function findOutstanding(context: CaContext, ca: FoundCa, transaction?: WriteTransaction): Outstanding {
  const { certificates } = context.tables;
  const prefix = [ca.tenantId, ca.record.id];
  const now = context.clock.now();
  const ends: Record<number, string> = {};
  let [valid, validUntil]: [number, string | undefined] = [0, undefined];
  for (const [, issued] of transaction?.allEntries(certificates, prefix) ?? certificates.allEntries(prefix)) {
    const { generation, notAfter, revoked } = issued;
    if (Temporal.Instant.compare(notAfter, now) <= 0) continue;
    ends[generation] = later(ends[generation], notAfter);
    if (revoked !== undefined) continue;
    valid += 1;
    validUntil = later(validUntil, notAfter);
  }
  return { valid, validUntil, ends };
}

function later(present: string | undefined, other: string): string {
  return present === undefined || Temporal.Instant.compare(other, present) > 0 ? other : present;
}

/** A last CRL, and how many revocations it has seen. */
export type MadeLastCrl = { readonly generation: number; readonly covers: number; readonly last: LastCrl };

/**
 * Signs the last CRL of each key that has certificates outstanding; it may be used until these have ended. Rejects with HsmError when
 * the token is away. For a key that is lost, the newest published list is kept.
 */
export async function makeLastCrls(context: CaContext, ca: FoundCa, { ends }: Outstanding): Promise<readonly MadeLastCrl[]> {
  const made: MadeLastCrl[] = [];
  for (const generation of ca.record.generations) {
    const until = ends[generation.generation];
    const list = until === undefined ? undefined : await lastOf(context, ca, generation, until);
    if (until === undefined || list === undefined) continue;
    const { certificate, chain } = generation;
    made.push({ generation: generation.generation, covers: list.covers, last: { crl: list.crl, certificate, chain, until } });
  }
  return made;
}

async function lastOf(context: CaContext, ca: FoundCa, generation: CaGeneration, until: string) {
  try {
    return await signCrl(context, ca, generation, Temporal.Instant.from(until));
  } catch (error) {
    if (isKeyLost(error)) return newestCrl(context, ca, generation);
    throw error;
  }
}

/**
 * Keeps the last lists, inside the transaction that deletes the CA. Throws a `conflict` that is worth another try if a certificate was
 * revoked meanwhile.
 */
export function keepLastCrls(
  context: CaContext,
  transaction: WriteTransaction,
  { tenantId, record }: FoundCa,
  made: readonly MadeLastCrl[],
): void {
  for (const { generation, covers, last } of made) {
    if (getOrDrop(transaction, context.tables.crls, [tenantId, record.id, generation])?.changes !== covers)
      throw fail('conflict', { overtaken: true });
    transaction.put(context.tables.lastCrls, [tenantId, record.name, generation], last);
  }
}

/** The last CRL kept under this name, of the given key or of the newest. */
export function findLastCrl(context: CaContext, tenantId: string, name: string, generation?: number): LastCrl | undefined {
  const { lastCrls } = context.tables;
  if (generation !== undefined) return lastCrls.get([tenantId, name, generation]);
  return Array.from(lastCrls.entries([tenantId, name]), ([, last]) => last).at(-1);
}

/** The highest number of a key whose last CRL is kept under this name; 0 for none. A new CA of the name counts on, since the number is in the URL. */
export function lastGeneration(context: CaContext, tenantId: string, name: string): number {
  return Array.from(context.tables.lastCrls.entries([tenantId, name]), ([key]) => Number(key.at(-1))).at(-1) ?? 0;
}

/** Deletes last CRLs whose certificates have all expired. */
export async function forgetLastCrls(context: CaContext): Promise<void> {
  const now = context.clock.now();
  const over = Array.from(context.tables.lastCrls.entries([])).filter(([, { until }]) => Temporal.Instant.compare(until, now) <= 0);
  await writeInPieces(context.store, over, (transaction, [key]) => transaction.delete(context.tables.lastCrls, key));
}
