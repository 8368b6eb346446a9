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
};

/** Requests with a bearer token that works meet no scheme. */
export function callerOfRequest(
  { access, schemes }: { readonly access: AccessControl; readonly schemes?: readonly Scheme[] | undefined },
  { headers }: Pick<IncomingMessage, 'headers'>,
  now: Temporal.Instant,
  clientIp: string,
): Caller | undefined {
  const { authorization } = headers;
  const caller = access.authenticate(authorization, now, clientIp);
  if (caller !== undefined || authorization === undefined || schemes === undefined) return caller;
  const end = authorization.indexOf(' ');
  const name = authorization.slice(0, end).toLowerCase();
  const scheme = schemes.find((one) => one.name === name);
  return scheme?.callerOf({ credentials: authorization.slice(end + 1), headers, now, clientIp });
}
