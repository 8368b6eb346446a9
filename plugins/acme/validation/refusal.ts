// Failures of proofs, in words that say nothing of what a host has answered.
import { OutboundError, type OutboundFailure } from '../../../core/outbound/outbound-error.ts';
import type { Problem } from '../errors.ts';

/** A proof that has failed. */
export class NotProved extends Error {
  override readonly name = 'NotProved';
  readonly problem: Problem;

  constructor(type: 'caa' | 'connection' | 'dns' | 'incorrectResponse' | 'tls' | 'unauthorized', detail: string) {
    super(detail);
    this.problem = { type, detail };
  }
}

const outbound: Readonly<Record<OutboundFailure, Problem>> = {
  'forbidden-url': { type: 'connection', detail: 'The host leads to a URL that is not asked.' },
  'forbidden-address': {
    type: 'connection',
    detail:
      'The name leads to an address that the appliance does not ask: the administrator allows ranges in "acme.validation-hosts.allow" of the configuration.',
  },
  'set-aside': { type: 'connection', detail: 'The host is not asked now.' },
  timeout: { type: 'connection', detail: 'The host did not answer within 10 seconds.' },
  unreachable: { type: 'connection', detail: 'No connection to the host: does it listen, and is the port open from here?' },
  tls: { type: 'tls', detail: 'The TLS handshake with the host failed.' },
  'too-large': { type: 'incorrectResponse', detail: 'The answer of the host is larger than 64 kB.' },
  'too-deep': { type: 'incorrectResponse', detail: 'The answer of the host is not that of the challenge.' },
  malformed: { type: 'incorrectResponse', detail: 'The answer of the host is not HTTP.' },
};

const dnsCodes = /^(?:ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EAI_\w+|ETIMEOUT|EBADRESP|EFORMERR|ENOTIMP)$/;

/** The problem of any failure of a proof. */
export function problemOfFailure(error: unknown): Problem {
  if (error instanceof NotProved) return error.problem;
  const code = error instanceof OutboundError ? error.systemCode : (error as NodeJS.ErrnoException).code;
  if (code !== undefined && dnsCodes.test(code)) return { type: 'dns', detail: `The name servers give nothing for the name (${code}).` };
  if (error instanceof OutboundError) return outbound[error.kind];
  return outbound.unreachable;
}
