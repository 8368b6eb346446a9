// sign-csr: issues a certificate for a certification request that an administrator brings.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { readDer, seenInPem } from '../../../core/base/texts/pem.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { failAt } from '../../../core/base/texts/invalid.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { pemExample, timestamp } from '../../../core/wire/fields.ts';
import { formatCertificatePem, readCertificate } from '../der/certificate.ts';
import type { FoundCa } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { failCa } from '../errors.ts';
import { approveByAdministrator, approveWithin } from '../issuing/approval.ts';
import { familiesUnder, verifyCsr } from '../issuing/csr.ts';
import { issueCertificate } from '../issuing/issue.ts';
import type { Purpose, RenewalLimits } from '../records/records.ts';
import { caPath, findCaOf, noKey } from './action.ts';
import { signing, signingInput } from '../issuing/signing.ts';
import { caTag } from '../tags.ts';

const purposes = { 'client-auth': 'clientAuth', 'server-auth': 'serverAuth' } as const satisfies Record<string, Purpose>;

/** The act that policies allow to those who decide about names and lives themselves. */
export const freely = 'sign-freely';

function tooLong(): Error {
  return failAt('ttl', `"ttl" is beyond est/ttl of the CA, which needs "execute" of …/${freely} as well.`, 'policy-denied');
}

/** A certificate that was issued for a request. */
export const issuedOutput = z.object({
  certificate: z.string().meta({ description: 'The certificate.', example: pemExample('CERTIFICATE') }),
  chain: z.string().meta({ description: 'Those of the CA and of what is above it.', example: pemExample('CERTIFICATE') }),
  serial: z.string().meta({ description: 'Its serial number.', example: '4f9a2c51d07b83e6' }),
  notAfter: timestamp().describe('When it ends.'),
});

/** Names and life are what the rules of `est` allow, or what policies let the caller decide; the profile is the CA's. */
export function signCsr(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/sign-csr`,
    summary: 'Issue a certificate for a certification request',
    description:
      'The names in the request must be allowed by the rules of `est`, and `ttl` is at most that of `est`, unless the policies allow `execute` of `…/sign-freely` as well. The certificate is made from the request, never copied: extensions that it asks for beyond its names are left out. Renewals over EST give no usage beyond `usages`, and no longer life than a `ttl` that was given.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    fieldRights: ['csr', 'ttl'].map((field) => ({ field, operation: 'execute', path: `${caPath}/${freely}` })),
    auditFields: ['csr', 'ttl', 'usages'],
    errors: ['built-in', 'identity-not-allowed', 'invalid-csr', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    input: signingInput,
    output: issuedOutput,
    commandLine: { input: 'csr', output: 'certificate' },
    find: findCaOf(context, 'act'),
    complete: (_call, given, ca) => ({ ...given, ttl: given.ttl ?? parseDuration(ca.record.est.ttl, 'ttl') }),
    run: (call, input, ca) => signRequest(context, call, ca, input),
  });
}

/** Issues for a request, within the rules of `est` or, where policies allow that, beyond them. */
export async function signRequest(
  context: CaContext,
  call: EndpointCall,
  ca: FoundCa,
  { csr, ttl, usages }: z.output<typeof signingInput>,
): Promise<z.output<typeof issuedOutput>> {
  if (ca.record.keyType === undefined) throw noKey(ca);
  const verified = verifyCsr(readCsrPem(csr), familiesUnder(ca.record.keyType));
  const wanted = [...new Set(usages)].map((usage) => purposes[usage]);
  const { est, name } = ca.record;
  const longest = parseDuration(est.ttl, 'ttl');
  const ttlSeconds = (ttl ?? longest).seconds;
  const meant = signing({ csr, ttl: ttl ?? longest, usages });
  const isFree = call.access.allowsAt(['v1', 'state', 'keystore', 'tls', 'ca', name, freely], 'execute', meant);
  if (!isFree && ttlSeconds > longest.seconds) throw tooLong();
  // Rules that limit values have allowed est/ttl as it is now.
  const isTtlMeant = ttl !== undefined || call.access.isConstrained;
  const limits: RenewalLimits = { purposes: wanted, ...(isTtlMeant ? { ttlSeconds } : {}) };
  const approved = isFree ? approveByAdministrator(verified, limits) : approveWithin(verified, est, limits);
  const { serial, record, issuer } = await issueCertificate(context, ca, approved, { ttlSeconds, via: 'sign-csr' });
  const issued = { subject: record.subject, names: record.names, serial, 'certificate-sha256': hash('sha256', record.certificate) };
  call.noteAudit({ requestParameters: issued });
  const certificate = formatCertificatePem(record.certificate);
  const chain = [issuer.certificate, ...issuer.chain].map(formatCertificatePem).join('');
  return { certificate, chain, serial, notAfter: readCertificate(record.certificate).notAfter };
}

/** Reads one request. Throws `invalid-csr`. */
export function readCsrPem(pem: string): Uint8Array {
  const [der, ...more] = readDer(pem, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST') ?? [];
  if (der === undefined || more.length > 0)
    throw failCa('invalid-csr', { detail: `"csr" must be one certification request in PEM; this is ${seenInPem(pem)}.` });
  return der;
}
