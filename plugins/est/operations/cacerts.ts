// cacerts: the certificates a device needs to trust what this CA issues, roll-over certificates included (RFC 7030 4.1).
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import type { EstCall, EstContext } from '../context.ts';
import { answerDer, type EstAnswer } from '../listener/transport.ts';

/** Needs no credential and no configured secret. */
export function cacerts(_context: EstContext, { ca }: EstCall): EstAnswer {
  return answerDer('certificates', encodeCertsOnly(ca.trustedCertificates()));
}
