// Registration authorities elsewhere that speak for devices (RFC 9483 section 5): their certificates, which the settings of a CA name.
import { certificateLabels, readDer, seenInPem } from '../../../core/base/texts/pem.ts';
import { extensionId, keyPurpose } from '../../../core/der/oids.ts';
import type { TrustedRegistration } from '../../../core/plugin/services/registration-authority.ts';
import { type FoundCa, tenantCas } from '../authority/lookup.ts';
import type { CaContext } from '../context.ts';
import { formatCertificatePem, isLive, readCertificate } from '../der/certificate.ts';
import { readExtKeyUsage, readKeyUsage } from '../der/read-extensions.ts';
import { failCa } from '../errors.ts';
import { findIssued } from '../status/revocation.ts';

/** Bit of keyUsage (RFC 5280 section 4.2.1.3). */
const digitalSignature = 0;

/** A certificate of `cmp/ra-certs` as records have it. Throws `invalid-certificate`. */
export function requireRegistrationCertificate(pem: string): string {
  const [der, ...more] = readDer(pem, ...certificateLabels) ?? [];
  if (der === undefined || more.length > 0)
    throw failCa('invalid-certificate', {
      detail: `Each entry of "cmp/ra-certs" must be one certificate in PEM; this is ${seenInPem(pem)}.`,
    });
  try {
    const { extensions } = readCertificate(der);
    const isForMessages = readExtKeyUsage(extensions.get(extensionId.extKeyUsage))?.includes(keyPurpose.cmcRA) === true;
    if (isForMessages && readKeyUsage(extensions.get(extensionId.keyUsage), digitalSignature) !== false) return formatCertificatePem(der);
  } catch (cause) {
    throw failCa('invalid-certificate', { detail: 'An entry of "cmp/ra-certs" cannot be read as a certificate.', cause });
  }
  throw failCa('invalid-certificate', {
    detail: `An entry of "cmp/ra-certs" is not the certificate of a registration authority: it needs the purpose cmcRA (${keyPurpose.cmcRA}) in extKeyUsage, and digitalSignature if it has keyUsage.`,
  });
}

/** The registration authority with this very certificate, if the CA has it in its settings. */
export function findRegistration(context: CaContext, { tenantId, record }: FoundCa, der: Uint8Array): TrustedRegistration | undefined {
  const { raCerts = [] } = record.cmp ?? {};
  if (raCerts.length === 0 || !raCerts.includes(formatCertificatePem(der))) return undefined;
  const certificate = readCertificate(der);
  const { serial } = certificate;
  if (tenantCas(context, tenantId).some((ca) => findIssued(context, ca, certificate)?.revoked !== undefined))
    return { serial, problem: 'revoked' };
  return { serial, problem: isLive(certificate, context.clock.now()) ? undefined : 'not-valid-now' };
}
