// Certificates that a device must trust to accept certificates of a CA, roll-over certificates included (RFC 7030 section 4.1.3).
import { isLive, readCertificate } from '../der/certificate.ts';
import { type CaGeneration, type CaRecord, newestGeneration } from '../records/records.ts';

/**
 * The newest certificate and its issuers up to the root. While older certificates of the CA are valid, those too, with what links them to a
 * root: certificates they issued are still in use.
 */
export function trustedCertificates(record: CaRecord, now: Temporal.Instant): readonly Uint8Array[] {
  const newest = newestGeneration(record);
  if (newest === undefined) return [];
  const older = record.generations.flatMap((generation, index) => linksTo(record.generations[index - 1], generation));
  return unique([newest.certificate, ...newest.chain, ...older.filter((der) => isLive(readCertificate(der), now))]);
}

/** Roll-over certificates from the root of a generation back to the oldest that can still be trusted, newest first. */
export function linksBack({ generations }: CaRecord, from: number, now: Temporal.Instant): readonly Uint8Array[] {
  const links: Uint8Array[] = [];
  for (const { generation, rollover } of generations.toReversed()) {
    if (generation > from) continue;
    if (rollover === undefined || !isLive(readCertificate(rollover.newWithOld), now)) break;
    links.push(rollover.newWithOld);
  }
  return links;
}

function linksTo(previous: CaGeneration | undefined, { rollover }: CaGeneration): readonly Uint8Array[] {
  if (previous === undefined) return [];
  return [previous.certificate, ...previous.chain, ...(rollover === undefined ? [] : [rollover.newWithOld, rollover.oldWithNew])];
}

/** Generations of an intermediate share their issuers. */
function unique(certificates: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(certificates.map((der) => [Buffer.from(der).toString('base64'), der])).values()];
}
