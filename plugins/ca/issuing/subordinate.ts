// Certifying a CA whose key is elsewhere: its certificate, checked against the limits of the chain above, and the record.
import { X509Certificate } from 'node:crypto';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { certifyCa, lifetime, referenceOf } from '../authority/generation.ts';
import type { FoundCa } from '../authority/lookup.ts';
import { unlessDeleted } from '../authority/signer.ts';
import { type CaContext, locationsOf, publicUrls } from '../context.ts';
import { type Certificate, readCertificate } from '../der/certificate.ts';
import { subjectAltName } from '../der/extensions.ts';
import { failCa } from '../errors.ts';
import type { VerifiedCsr } from './csr.ts';
import { asRequestFault, type Issued, keepNew, recordOf, requireSigner } from './issue.ts';
import { findBeyondIssuers, hasRoomBelow, requireNamesLeft } from './issuer-limits.ts';

/** `via` in the record of its certificate: nobody authenticates with it. */
export const viaCertifyCa = 'certify-ca';

/** Limits on the CA. */
export type SubordinateLimits = {
  readonly ttlSeconds: number;
  readonly pathLength: number;
  /** encoded extension, or none */
  readonly constraints: readonly Uint8Array[];
};

/**
 * Certifies the key of a request as that of a CA, with the names of the request, and records the certificate. Throws `invalid-csr`,
 * `identity-not-allowed` (the chain above does not allow the CA), `invalid-value` (limits that leave it no names), `clock-implausible`, `ca-has-no-key`, `ca-expired` or `not-found`.
 */
export async function certifySubordinate(
  context: CaContext,
  ca: FoundCa,
  csr: VerifiedCsr,
  { ttlSeconds, pathLength, constraints }: SubordinateLimits,
): Promise<Issued> {
  const issuer = requireSigner(context, ca);
  const chain = [issuer.certificate, ...issuer.chain].map(readCertificate);
  const above = readCertificate(issuer.certificate);
  requireCertifiable(chain, csr, pathLength);
  requireNamesLeft(chain, constraints);
  const { subject, alternativeNames, publicKey } = csr.content;
  const urls = publicUrls(context, ca.tenantId, ca.record, issuer.generation);
  const own = { tenantId: ca.tenantId, caId: ca.record.id };
  const certificate = await unlessDeleted(context, own, () =>
    certifyCa(context, referenceOf(own, issuer), {
      ...{ issuer: above, subject, namesOnRecord: false, publicKey, ...lifetime(context, ttlSeconds, above), pathLength },
      more: [
        ...(alternativeNames.length === 0
          ? []
          : [
              subjectAltName(
                alternativeNames.map(({ whole }) => whole),
                false,
              ),
            ]),
        ...constraints,
        ...locationsOf(urls),
      ],
    }),
  ).catch((error: unknown) => {
    throw asRequestFault(error);
  });
  const issued = recordOf(lookAgain(certificate), issuer, viaCertifyCa);
  await context.store.write((transaction) => keepNew(context, transaction, ca, issued));
  return issued;
}

/** Throws `invalid-csr` and `identity-not-allowed` for a CA that verifiers would not accept below these certificates, the nearest first. */
function requireCertifiable(chain: readonly Certificate[], csr: VerifiedCsr, pathLength: number): void {
  const { subject, subjectAttributes, alternativeNames } = csr.content;
  if (subjectAttributes.every(({ value }) => value.trim() === ''))
    throw failCa('invalid-csr', {
      detail: 'The certification request has no subject, which a CA needs: certificates name it as their issuer.',
    });
  if (chain.some((one) => Buffer.compare(one.subject, subject) === 0))
    throw failCa('invalid-csr', {
      detail:
        'The certification request has the subject of the CA, or of one above it: verifiers could not tell them apart. Give it another.',
    });
  if (!hasRoomBelow(chain, 1 + pathLength))
    throw failCa('identity-not-allowed', {
      detail:
        'The path length in the certificate of the CA, or in one above it, leaves no room for this CA: ask for a smaller path-length.',
    });
  const problem = findBeyondIssuers(chain, { subject, alternativeNames, purposes: [] });
  if (problem !== undefined)
    throw failCa('identity-not-allowed', { detail: `Nobody would accept the certificate: ${problem}. Ask for names that it allows.` });
}

/** Reads the signed certificate as OpenSSL does: a certificate that does not parse never leaves. */
function lookAgain(der: Uint8Array): Certificate {
  const seen = cleanly(() => new X509Certificate(der));
  const certificate = readCertificate(der);
  if (!seen.ca || seen.serialNumber.toLowerCase() !== certificate.serial)
    throw new Error('the certificate reads differently from what was meant');
  return certificate;
}
