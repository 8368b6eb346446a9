// Context of every part of EST, and the request that an operation receives.
import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Audit } from '../../core/audit/record.ts';
import type { Clock } from '../../core/base/context.ts';
import type { CertificateAuthorities, CertificateAuthority, EnrolmentSettings } from '../../core/plugin/services/certificate-authority.ts';
import type { FailureLimit } from '../../core/access/failure-limit.ts';
import type { KeyPlaces } from './key-places.ts';

/** Context of all operations. */
export type EstContext = {
  readonly authorities: CertificateAuthorities;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly limit: FailureLimit;
  readonly keyPlaces: KeyPlaces;
};

/** One request to an operation of a CA that exists and has EST enabled. */
export type EstCall = {
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
  readonly headers: IncomingHttpHeaders;
  readonly socket: TLSSocket;
  readonly clientIp: string;
  /** the whole body; throws `payload-too-large`. Read only after the sender was accepted. */
  readBody(): Promise<Uint8Array>;
  /** The credential of the sender was accepted; the parameters are recorded as those of `note`. */
  accept(parameters: Readonly<Record<string, unknown>>): void;
  /** adds to the audit record */
  note(parameters: Readonly<Record<string, unknown>>): void;
};
