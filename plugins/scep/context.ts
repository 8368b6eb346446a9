// Context of every operation of SCEP, and the request that it receives.
import type { Audit } from '../../core/audit/record.ts';
import type { Clock } from '../../core/base/context.ts';
import type { CertificateAuthorities, CertificateAuthority, EnrolmentSettings } from '../../core/plugin/services/certificate-authority.ts';

export type ScepContext = {
  readonly authorities: CertificateAuthorities;
  readonly audit: Audit;
  readonly clock: Clock;
  /** 16 random octets of the token */
  drawNonce(): Promise<Uint8Array>;
};

/** One request to an operation of a CA that exists and has SCEP on. */
export type ScepCall = {
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
  readonly clientIp: string;
  /** octets of the message of PKIOperation; throws `payload-too-large` or `invalid-value` */
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

/** An answer of HTTP. */
export type ScepAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

export function answer(contentType: string, body: string | Uint8Array): ScepAnswer {
  return { status: 200, headers: { 'content-type': contentType }, body };
}
