// certify-ca: certifies a CA whose key is elsewhere, for a certification request that an administrator brings.
import { hash } from 'node:crypto';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { parseDuration } from '../../../../core/base/time.ts';
import { formatCertificatePem, readCertificate } from '../../der/certificate.ts';
import type { CaContext } from '../../context.ts';
import { certifyingInput, constraintsOf } from '../../issuing/certifying.ts';
import { familiesUnder, verifyCsr } from '../../issuing/csr.ts';
import { signingAnything } from '../../issuing/signing.ts';
import { certifySubordinate } from '../../issuing/subordinate.ts';
import { nameLimitFields } from '../../records/records.ts';
import { caTag } from '../../tags.ts';
import { caPath, findCaOf, noKey } from '../action.ts';
import { issuedOutput, readCsrPem } from '../sign-csr.ts';

export function certifyOther(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/certify-ca`,
    summary: 'Certify a CA whose key is elsewhere',
    description:
      'Names and life are what the caller decides; what that CA may certify is bounded by `path-length` and the limits on names. It signs whatever it likes within them, so that `sign-csr` without limits is needed as well. A CA whose key is to be here names this one as `issuing-ca` instead.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    fieldRights: [{ field: 'csr', operation: 'execute', path: `${caPath}/sign-csr` }],
    auditFields: ['csr', 'ttl', 'pathLength', ...nameLimitFields],
    errors: ['built-in', 'identity-not-allowed', 'invalid-csr', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    input: certifyingInput,
    output: issuedOutput,
    commandLine: { input: 'csr', output: 'certificate' },
    find: findCaOf(context, 'act'),
    complete: (_call, given, ca) => ({ ...given, ttl: given.ttl ?? parseDuration(ca.record.est.ttl, 'ttl') }),
    async run(call, input, ca) {
      const { keyType, name, est } = ca.record;
      if (keyType === undefined) throw noKey(ca);
      call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', name, 'sign-csr'], 'execute', signingAnything());
      const csr = verifyCsr(readCsrPem(input.csr), familiesUnder(keyType));
      const ttlSeconds = (input.ttl ?? parseDuration(est.ttl, 'ttl')).seconds;
      const limits = { ttlSeconds, pathLength: input.pathLength, constraints: constraintsOf(input) };
      const { serial, record, issuer } = await certifySubordinate(context, ca, csr, limits);
      const issued = { subject: record.subject, names: record.names, serial, 'certificate-sha256': hash('sha256', record.certificate) };
      call.noteAudit({ requestParameters: issued });
      return {
        certificate: formatCertificatePem(record.certificate),
        chain: [issuer.certificate, ...issuer.chain].map(formatCertificatePem).join(''),
        serial,
        notAfter: readCertificate(record.certificate).notAfter,
      };
    },
  });
}
