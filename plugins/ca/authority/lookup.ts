// Finding CAs, and certificates by the CA that issued them.
import type { CaContext } from '../context.ts';
import { type CaGeneration, type CaRecord, newestGeneration } from '../records/records.ts';

/** A CA with its tenant. */
export type FoundCa = { readonly tenantId: string; readonly record: CaRecord };

/** Finds a CA, except one of the members of a cluster: only the cluster itself gets certificates of it, or trusts it. */
export function findCa(context: CaContext, tenantId: string, name: string): FoundCa | undefined {
  const record = context.tables.cas.get([tenantId, name]);
  return record === undefined || record.forMembers === true ? undefined : { tenantId, record };
}

/** Finds a CA that people sign with, enrol at and trust: as findCa, without the CA of the listeners. */
export function findUsableCa(context: CaContext, tenantId: string, name: string): FoundCa | undefined {
  const found = findCa(context, tenantId, name);
  return found?.record.ownedByAppliance === true ? undefined : found;
}

/** The CA whose certificates devices may show for first enrolments at another one: the one that was meant, not a later one of its name. */
export function findTrusted(context: CaContext, { tenantId, record }: FoundCa): FoundCa | undefined {
  const name = record.est.initialEnrollTrustCa;
  const found = name === undefined ? undefined : findUsableCa(context, tenantId, name);
  return found?.record.id === (record.trustedCaId ?? found?.record.id) ? found : undefined;
}

/** The CA that comes after another one, by its settings: the one that was meant, not a later one of its name. */
export function findNext(context: CaContext, { tenantId, record }: FoundCa): FoundCa | undefined {
  const name = record.scep?.nextCa;
  const found = name === undefined ? undefined : findUsableCa(context, tenantId, name);
  return found?.record.id === record.nextCaId ? found : undefined;
}

export const ofTheAppliance =
  'This CA certifies the appliance itself, its listeners or the members of its cluster: it is read, and does nothing else.';

/** All CAs of a tenant. */
export function tenantCas(context: CaContext, tenantId: string): FoundCa[] {
  return Array.from(context.tables.cas.entries([tenantId]), ([, record]) => ({ tenantId, record }));
}

/** Certificates of the CA itself: one per key generation, or the uploaded one; oldest first. */
export function caCertificates(record: CaRecord): readonly Uint8Array[] {
  return record.trustCertificate === undefined ? record.generations.map(({ certificate }) => certificate) : [record.trustCertificate];
}

/** The certificate of the newest generation, or the uploaded one. */
export function newestCertificate(record: CaRecord): Uint8Array {
  const certificate = caCertificates(record).at(-1);
  if (certificate === undefined) throw new Error('a CA record without a certificate');
  return certificate;
}

export function findGeneration(record: CaRecord, generation: number): CaGeneration | undefined {
  return record.generations.find((one) => one.generation === generation);
}

/** Tells whether the CA has its own key. */
export function hasKey(record: CaRecord): boolean {
  return newestGeneration(record) !== undefined;
}
