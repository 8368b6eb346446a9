// Who sends a request: the holder of a bearer token or, where a plugin adds a scheme of the Authorization header, whom that one finds.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { AccessControl } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';

/** A scheme of the Authorization header beside Bearer (RFC 9110 section 11.1). */
export type Scheme = {
  /** in lower case */
  readonly name: string;
  /** The caller that the credentials behind the name stand for, or undefined. Throws nothing. */
  callerOf(request: SchemeRequest): Caller | undefined;
};

export type SchemeRequest = {
  readonly credentials: string;
  readonly headers: IncomingHttpHeaders;
  readonly now: Temporal.Instant;
  readonly clientIp: string;
  /** an answer that goes on asks whether its caller is still one: that is no use of a session, which would never be idle otherwise */
  readonly goesOn?: true;
};

type Parties = { readonly access: AccessControl; readonly schemes?: readonly Scheme[] | undefined };
type Sent = Pick<IncomingMessage, 'headers'>;

/** Requests with a bearer token that works meet no scheme. */
export function callerOfRequest(
  { access, schemes }: Parties,
  { headers }: Sent,
  now: Temporal.Instant,
  clientIp: string,
  goesOn?: true,
): Caller | undefined {
  const { authorization } = headers;
  const caller = access.authenticate(authorization, now, clientIp);
  if (caller !== undefined || authorization === undefined || schemes === undefined) return caller;
  const end = authorization.indexOf(' ');
  const name = authorization.slice(0, end).toLowerCase();
  const scheme = schemes.find((one) => one.name === name);
  const credentials = authorization.slice(end + 1);
  return scheme?.callerOf({ credentials, headers, now, clientIp, ...(goesOn === undefined ? {} : { goesOn }) });
}
