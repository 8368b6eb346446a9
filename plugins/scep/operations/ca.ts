// First questions of a device: what the CA can do, and the certificates to encrypt for and to trust.
import { encodeCertsInOrder } from '../../../core/cms/certs-only.ts';
import { fail } from '../../../core/base/errors.ts';
import type { RegistrationAuthority } from '../../../core/plugin/services/registration-authority.ts';
import { answer, type ScepAnswer, type ScepCall, type ScepContext } from '../context.ts';
import { readCertificate } from '../message/certificate.ts';
import { writeSignedData } from '../message/signed.ts';

/**
 * GetCACaps (RFC 8894 section 3.5.2): what is taken, which is never empty, or some clients would choose MD5 and DES. `SHA-384` is not of the
 * RFC; strongSwan 5.9 refuses a server without it.
 */
export function answerCaCaps(
  _context: ScepContext,
  { ca, settings: { oldAlgorithms = [], renewsHeldCertificates } }: ScepCall,
): ScepAnswer {
  const lines = [
    ...(ca.nextCertificates() === undefined ? [] : ['GetNextCACert']),
    ...['POSTPKIOperation', ...(renewsHeldCertificates ? ['Renewal'] : []), 'SCEPStandard', 'AES', 'SHA-256', 'SHA-384', 'SHA-512'],
    ...(oldAlgorithms.includes('sha1') ? ['SHA-1'] : []),
    ...(oldAlgorithms.includes('des3') ? ['DES3'] : []),
  ];
  return answer('text/plain; charset=utf-8', lines.map((line) => `${line}\n`).join(''));
}

/** GetCACert: the registration authority first, for which clients encrypt, then the CA and its issuers. */
export async function answerCaCert(_context: ScepContext, call: ScepCall): Promise<ScepAnswer> {
  const { certificate } = await requireRegistration(call);
  const chain = chainOf(call.ca.trustedCertificates());
  return answer('application/x-x509-ca-ra-cert', encodeCertsInOrder([certificate, ...chain]));
}

/**
 * GetNextCACert (RFC 8894 section 4.7): the CA that the settings name as the next one. A CA uses a new key of its own as soon as it has one, which GetCACert
 * tells. The answer is signed, for devices that trust this CA already.
 */
export async function answerNextCaCert(context: ScepContext, call: ScepCall): Promise<ScepAnswer> {
  const next = call.ca.nextCertificates();
  if (next === undefined) throw fail('not-found', { detail: 'The CA has no next certificate: ask for GetCACert.' });
  const registration = await requireRegistration(call);
  call.ca.countRepeated(call.clientIp);
  const signed = await writeSignedData(
    {
      content: encodeCertsInOrder(next),
      signer: registration.certificate,
      certificates: chainOf(call.ca.trustedCertificates()),
      digest: 'sha256',
      signingTime: context.clock.now(),
    },
    (octets) => registration.sign('sha256', octets),
  );
  return answer('application/x-x509-next-ca-cert', signed);
}

export async function requireRegistration({ ca }: ScepCall): Promise<RegistrationAuthority> {
  const registration = await ca.registrationAuthority();
  if (registration === undefined) throw fail('not-found', { detail: 'Nothing is served here.' });
  return registration;
}

/** The first certificate and its issuers, nearest first, of those that devices trust. */
function chainOf(trusted: readonly Uint8Array[]): readonly Uint8Array[] {
  const [first, ...others] = trusted;
  if (first === undefined) return [];
  const chain = [first];
  for (const der of others) {
    const below = readCertificate(chain.at(-1) as Uint8Array);
    if (Buffer.compare(below.issuer, below.subject) === 0 || Buffer.compare(readCertificate(der).subject, below.issuer) !== 0) break;
    chain.push(der);
  }
  return chain;
}
