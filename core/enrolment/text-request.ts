// Request of a protocol whose messages are octets, and whose refusals outside of them are lines of text: SCEP and CMP.
import { defined } from '../base/defined.ts';
import type { ServiceError } from '../base/errors.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../plugin/services/certificate-authority.ts';
import { EnrolmentRequest, type EnrolmentServer } from './enrolment-request.ts';

/** An answer of HTTP. */
export type TextAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

/** One request to a CA that exists and has the protocol on. */
export type EnrolmentCall = {
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
  readonly clientIp: string;
  /** octets of the message; throws `payload-too-large` or `invalid-value` */
  readMessage(): Promise<Uint8Array>;
  /** The credential of the sender was accepted; the parameters are recorded as those of `note`. */
  accept(parameters: Readonly<Record<string, unknown>>): void;
  /** Tells whether `accept` was called: what others cost is limited by their address. */
  isAccepted(): boolean;
  /** adds to the audit record */
  note(parameters: Readonly<Record<string, unknown>>): void;
  /** Returns the parameters that are noted so far. */
  noted(): Readonly<Record<string, unknown>>;
  /** The message is refused although HTTP answers 200: code for the record. */
  noteRefusal(code: string): void;
};

type TextTarget = { readonly name: string; readonly ca: CertificateAuthority; readonly settings: EnrolmentSettings };

export abstract class TextEnrolmentRequest<Target extends TextTarget, Server extends EnrolmentServer> extends EnrolmentRequest<
  Target,
  TextAnswer,
  Server
> {
  protected callOf({ ca, settings }: Target, readMessage: () => Promise<Uint8Array>): EnrolmentCall {
    return {
      ca,
      settings,
      clientIp: this.clientIp,
      readMessage,
      note: this.note,
      noted: () => this.noted,
      noteRefusal: (code) => (this.refusal = code),
      accept: (parameters) => {
        this.isAccepted = true;
        // The sender was accepted, so the request counts as one of the tenant: an unproven one does not.
        this.server.admit?.(ca.tenantId);
        this.note(parameters);
      },
      isAccepted: () => this.isAccepted,
    };
  }

  protected answerOf(error: ServiceError): TextAnswer {
    const { allow, detail = error.advice } = error.details;
    const line = error.status < 500 ? detail : `${error.title} (${this.requestId}). ${error.advice}`;
    const retryAfter = this.retryAfterOf(error);
    return {
      status: error.status,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        ...defined({ allow: allow?.join(', ') }),
        ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      },
      body: `${line.replaceAll(/\s+/g, ' ')}\n`,
    };
  }

  protected send({ status, headers, body }: TextAnswer): undefined {
    const { response, request } = this.exchange;
    if (response.destroyed || response.headersSent) return;
    // The rest of a refused message is dropped.
    request.resume();
    response.writeHead(status, {
      ...headers,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      'request-id': this.requestId,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
}
