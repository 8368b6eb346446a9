// cacerts: the certificates a device needs to trust what this CA issues, roll-over certificates included (RFC 7030 4.1).
import { readCertificate } from '../ca/der/certificate.ts';
import { encodeCertsOnly } from '../ca/der/certs-only.ts';
import { isLive } from '../ca/issuing/chain.ts';
import { type CaGeneration, type CaRecord, newestGeneration } from '../ca/records/records.ts';
import type { EstCall, EstDesk } from './operations.ts';
import { answerDer, type EstAnswer } from './transport.ts';

/** Needs no credential and no configured secret (R70). */
export function cacerts(desk: EstDesk, call: EstCall): EstAnswer {
  return answerDer('certificates', encodeCertsOnly(trustedCertificates(call.ca.record, desk.house.clock.now())));
}

/**
 * The newest certificate and its issuers up to the root. While older certificates of the CA still live, those too, with what links
 * them to a root: what they issued must find its way as well (RFC 7030 4.1.3).
 */
function trustedCertificates(record: CaRecord, now: Temporal.Instant): readonly Uint8Array[] {
  const newest = newestGeneration(record);
  if (newest === undefined) return [];
  const older = record.generations.flatMap((generation, index) => linksTo(record.generations[index - 1], generation));
  return unique([newest.certificate, ...newest.chain, ...older.filter((der) => isLive(readCertificate(der), now))]);
}

function linksTo(previous: CaGeneration | undefined, { rollover }: CaGeneration): readonly Uint8Array[] {
  if (previous === undefined) return [];
  return [previous.certificate, ...previous.chain, ...(rollover === undefined ? [] : [rollover.newWithOld, rollover.oldWithNew])];
}

/** Generations of an intermediate share what is above them. */
function unique(certificates: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(certificates.map((der) => [Buffer.from(der).toString('base64'), der])).values()];
}
