// cacerts: the certificates a device needs to trust what this CA issues, roll-over certificates included (RFC 7030 4.1).
import { readCertificate } from './ca/certificate.ts';
import { encodeCertsOnly } from './ca/certs-only.ts';
import { isLive } from './ca/chain.ts';
import { type CaGeneration, type CaRecord, newestGeneration } from './ca/records.ts';
import type { EstCall, EstDesk } from './operations.ts';
import { answerDer, type EstAnswer } from './transport.ts';

/** Needs no credential and no configured secret (R70). */
export function cacerts(desk: EstDesk, call: EstCall): EstAnswer {
  return answerDer('certificates', encodeCertsOnly(trustedCertificates(call.ca.record, desk.house.clock.now())));
}

/**
 * The newest certificate and its issuers up to the root; while an older root of the CA still lives, that root and the pair that
 * links it with its successor as well (RFC 7030 4.1.3).
 */
function trustedCertificates(record: CaRecord, now: Temporal.Instant): readonly Uint8Array[] {
  const newest = newestGeneration(record);
  if (newest === undefined) return [];
  const links = record.generations.flatMap((generation, index) => linksTo(record.generations[index - 1], generation));
  return [newest.certificate, ...newest.chain, ...links.filter((der) => isLive(readCertificate(der), now))];
}

function linksTo(previous: CaGeneration | undefined, { rollover }: CaGeneration): readonly Uint8Array[] {
  return previous === undefined || rollover === undefined ? [] : [previous.certificate, rollover.newWithOld, rollover.oldWithNew];
}
