// The CAs of the appliance itself: of its listeners, and of the members of a cluster. Roots in the tenant `system`, made when they are needed.
import { randomUUID } from 'node:crypto';
import { fail } from '../../../core/base/errors.ts';
import { formatTimestamp, parseDuration } from '../../../core/base/time.ts';
import type { CaContext } from '../context.ts';
import { commonName } from '../../../core/der/name.ts';
import { type CaRecord, disabledEnrolment, requireNewestGeneration } from '../records/records.ts';
import { ledgerReference, makeGeneration, rollRoot } from '../authority/generation.ts';
import type { FoundCa } from '../authority/lookup.ts';

export type OwnCa = {
  readonly name: string;
  readonly commonName: string;
  /** it certifies only the members of a cluster */
  readonly forMembers?: true;
};

const ttl = '20y';

/** The CA of that name, made on first use. Processes that race get the same one. Throws `in-use` when the name is taken by a CA of people. */
export async function ensureOwnCa(context: CaContext, tenantId: string, own: OwnCa): Promise<FoundCa> {
  context.store.refresh();
  const present = context.tables.cas.get([tenantId, own.name]);
  return requireOwn({ tenantId, record: present ?? (await makeCa(context, tenantId, own)) });
}

/** Gives it a new key and certificate, with roll-over certificates. */
export async function rollOwnCa(context: CaContext, { tenantId, record }: FoundCa, own: OwnCa): Promise<FoundCa> {
  const newest = requireNewestGeneration(record);
  const next = await rollRoot(context, planOf(tenantId, record.id, newest.generation + 1, own), newest);
  return { tenantId, record: await keepUnlessOther(context, tenantId, record, { ...record, generations: [...record.generations, next] }) };
}

function requireOwn(ca: FoundCa): FoundCa {
  if (ca.record.ownedByAppliance === true) return ca;
  throw fail('in-use', {
    detail: `"${ca.record.name}" is the name of a CA that the appliance makes for itself: delete the one of that name.`,
  });
}

async function makeCa(context: CaContext, tenantId: string, own: OwnCa): Promise<CaRecord> {
  const id = randomUUID();
  const first = await makeGeneration(context, planOf(tenantId, id, 1, own));
  const made: CaRecord = {
    id,
    name: own.name,
    createdAt: formatTimestamp(context.clock.now()),
    keyType: 'ecdsa-p256',
    subject: `CN=${own.commonName}`,
    ttl,
    issuingCa: undefined,
    trustCertificate: undefined,
    generations: [first],
    est: disabledEnrolment,
    ownedByAppliance: true,
    ...(own.forMembers === true ? { forMembers: true } : {}),
  };
  return keepUnlessOther(context, tenantId, undefined, made);
}

/** Commits the record and claims its newest key, unless another process was first: then its record is kept, and our key is removed later. */
function keepUnlessOther(context: CaContext, tenantId: string, before: CaRecord | undefined, made: CaRecord): Promise<CaRecord> {
  const key = [tenantId, made.name];
  return context.store.write((transaction) => {
    const other = transaction.get(context.tables.cas, key);
    if (other !== undefined && other.generations.length !== before?.generations.length) return other;
    context.ledger.claim(transaction, [ledgerReference({ tenantId, caId: made.id }, requireNewestGeneration(made))]);
    transaction.put(context.tables.cas, key, made);
    return made;
  });
}

/** Plans a key without path length: some clients count the roll-over certificates among the CAs that it allows below the root. */
function planOf(tenantId: string, caId: string, generation: number, own: OwnCa) {
  const ttlSeconds = parseDuration(ttl, 'ttl').seconds;
  return {
    ...{ tenantId, caId, generation, keyType: 'ecdsa-p256' as const, subject: commonName(own.commonName) },
    ...{ namesOnRecord: generation > 1, ttlSeconds },
  };
}
