// Authenticates the sender of a request: the holder of a bearer token or, if a plugin adds a scheme of the Authorization header, the caller
// that it finds.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AccessControl, Sender } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';

/** A scheme of the Authorization header besides Bearer (RFC 9110 section 11.1). */
export type Scheme = {
  /** in lower case */
  readonly name: string;
  /** Finds the caller of the credentials after the name. Never throws. */
  callerOf(request: SchemeRequest): Caller | undefined;
};

export type SchemeRequest = {
  readonly credentials: string;
  readonly headers: IncomingHttpHeaders;
  readonly now: Temporal.Instant;
  readonly from: Sender;
  /** true if a stream only checks that its caller is still valid, which does not count as a use of a session: it would never be idle otherwise */
  readonly goesOn?: true;
};

type Parties = { readonly access: AccessControl; readonly schemes?: readonly Scheme[] | undefined };
type Sent = Pick<IncomingMessage, 'headers'> & Sender;

/** Finds the caller of a request. With a valid bearer token no scheme is called. */
export function callerOfRequest({ access, schemes }: Parties, sent: Sent, now: Temporal.Instant, goesOn?: true): Caller | undefined {
  const { headers } = sent;
  const { authorization } = headers;
  const caller = access.authenticate(authorization, now, sent);
  if (caller !== undefined || authorization === undefined || schemes === undefined) return caller;
  const end = authorization.indexOf(' ');
  const name = authorization.slice(0, end).toLowerCase();
  const scheme = schemes.find((one) => one.name === name);
  const credentials = authorization.slice(end + 1);
  return scheme?.callerOf({ credentials, headers, now, from: sent, ...(goesOn === undefined ? {} : { goesOn }) });
}
