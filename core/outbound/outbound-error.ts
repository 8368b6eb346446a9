// Error of a failed call to an identity provider.

/**
 * Reason for which a call failed. `forbidden-url`, `forbidden-address` and `set-aside` happen before any connection. `tls`: the certificate was not
 * accepted. `malformed`: the answer is not HTTP.
 */
export type OutboundFailure =
  | 'forbidden-url'
  | 'forbidden-address'
  | 'set-aside'
  | 'timeout'
  | 'unreachable'
  | 'tls'
  | 'too-large'
  | 'too-deep'
  | 'malformed';

/** End of a sentence about the status of an answer: why a redirect did not lead on. Empty for other statuses. */
export function aboutRedirects(status: number): string {
  return [301, 302, 303, 307, 308].includes(status) ? '; redirects are not followed' : '';
}

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundFailure;
  /** name of the system's or TLS library's error: `ECONNREFUSED`, `CERT_HAS_EXPIRED` */
  readonly systemCode: string | undefined;
  /** of an answer that came, and was not what was asked for */
  readonly status: number | undefined;

  constructor(kind: OutboundFailure, message: string, cause?: NodeJS.ErrnoException, status?: number) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.systemCode = cause?.code;
    this.status = status;
  }
}
