// Enrolment for names that were proved to a protocol, or that an administrator has given its key: the identity policy decides as for every device.
import type { EnrolmentOutcome, ProvenEnrolment } from '../../../core/plugin/services/certificate-authority.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { approveProven } from '../issuing/approval.ts';
import type { VerifiedCsr } from '../issuing/csr.ts';
import { findForbiddenName } from '../issuing/identity-policy.ts';
import { parseAlternativeName } from '../names/alternative-name.ts';
import { Concluded, issueOnce } from './enrol.ts';
import { findAnswer, first, hashesOf, placeOf, recordsOf } from './transactions.ts';

/** Issues once for a transaction. Throws `identity-not-allowed`, and as issueCertificate. */
export async function enrolProven(context: CaContext, ca: FoundCa, csr: VerifiedCsr, asked: ProvenEnrolment): Promise<EnrolmentOutcome> {
  const place = placeOf(ca, asked, first);
  const known = findAnswer(context, recordsOf(context, place), hashesOf(csr));
  if (known !== undefined) return known;
  const approved = approveProven(csr, ca.record.est, asked);
  const wish = {
    approved,
    csr,
    place,
    ttlSeconds: asked.ttlSeconds,
    keep: (...made: Parameters<ProvenEnrolment['keep']>) => asked.keep(...made),
  };
  return issueOnce(context, ca, wish, `${asked.protocol}-${asked.credential}`, (transaction) => {
    const problem = asked.findProblem(transaction);
    if (problem !== undefined) throw new Concluded({ status: 'refused', why: 'credential', detail: problem });
  });
}

/** Reason for which the identity policy forbids names (`DNS:…`, `IP:…`), as a clause; undefined if it allows them. */
export function findForbiddenNames({ record }: FoundCa, names: readonly string[]): string | undefined {
  return findForbiddenName(record.est, { subjectAttributes: [], alternativeNames: names.map(parseAlternativeName) });
}
