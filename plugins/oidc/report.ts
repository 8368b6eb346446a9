// The end of a sign-in: one entry in system:logs, fields of the audit record, a record for `explain`, and the answer.
import { defined } from '../../core/base/defined.ts';
import type { ErrorDetails } from '../../core/base/errors.ts';
import { preferenceOf } from '../../core/http/request/accept.ts';
import { Reply, type PublicCall } from '../../core/http/endpoint.ts';
import { formatProblem, problemMediaType } from '../../core/http/response/problem.ts';
import type { Claims } from '../../core/identity/claims.ts';
import { failOidc, LoginFailure, loginFailures } from './failures.ts';
import type { Located, Oidc } from './context.ts';
import type { Outbound } from '../../core/outbound/outbound.ts';
import { failurePage } from './pages/failure.ts';
import { loginPath } from './pages/login.ts';
import { identityOf, userFields, type FailedLogin, type Identity } from './records/sign-ins.ts';
import { chooseRedirectUri, providerName } from './records/service-record.ts';

/** Known facts about a sign-in, filled in step by step, so that a failure is reported with all of them. */
export type Attempt = {
  located?: Located | undefined;
  /** all outbound calls, for verbose logging */
  readonly outbounds: Outbound[];
  claims?: Claims;
  issuer?: string;
  subject?: string;
  username?: string;
  /** facts only for the page, which the person themselves reads: log and audit have no claims of a refused sign-in */
  readonly shown: Shown;
};

export type Shown = {
  tenant?: string;
  provider?: string;
  /** name by which the person knows the account */
  account?: string;
  providerSignOut?: string | undefined;
  forCommandLine?: boolean;
  /** address at which a person goes on whose sign-in is done, and whose browser has asked for it once more */
  continueAt?: string;
};

/** Failed logins kept per service for `explain`, and for how long. */
const keptFailures = 100;
export const keptFailureMs = 86_400_000;
const maxKeptClaims = 65_536;

/** Runs a page. A refusal becomes a page (or JSON, for callers that prefer it) and is reported once in log, audit and `explain`. */
export async function answerWithPage(oidc: Oidc, call: PublicCall, run: (attempt: Attempt) => Reply | Promise<Reply>): Promise<Reply> {
  const attempt: Attempt = { outbounds: [], shown: {} };
  try {
    return await run(attempt);
  } catch (error) {
    if (!(error instanceof LoginFailure)) throw error;
    await reportFailure(oidc, call, attempt, error);
    if (preferenceOf(call.headers['accept']) === 'json') return problemReply(call, error.code, {});
    const { located, shown } = attempt;
    return failurePage({
      row: loginFailures[error.code],
      at: call.now,
      reference: call.requestId,
      retryPath: retryPath(located),
      tenant: located?.tenantName,
      provider: located === undefined ? undefined : providerName(located.record),
      account: attempt.username,
      ...shown,
      otherAccountPath: located === undefined ? undefined : `${loginPath(located.tenantName, located.service)}?prompt=select_account`,
      properAddress: error.code === 'login-not-yours' ? findProperAddress(oidc, call, located) : undefined,
      publicUrl: oidc.publicUrl,
    });
  } finally {
    logDetails(oidc, call, attempt);
  }
}

/** Verbose logging, for setting up a service: the claims, and each call with status and time. Never a secret, code or token (R68). */
function logDetails(oidc: Oidc, call: PublicCall, { located, outbounds, claims }: Attempt): void {
  if (located?.record.verboseLogging !== true || outbounds.length === 0) return;
  oidc.log.with('oidc', located.tenantName).info('Sign-in in detail (verbose-logging is on)', {
    reference: call.requestId,
    service: located.service,
    calls: outbounds.flatMap((outbound) => outbound.calls),
    ...defined({ claims }),
  });
}

/** Writes the log entry, the audit fields and the record for `explain`. */
async function reportFailure(oidc: Oidc, call: PublicCall, attempt: Attempt, failure: LoginFailure): Promise<void> {
  const { located } = attempt;
  oidc.log.with('oidc', located?.tenantName).warn(`Sign-in failed: ${loginFailures[failure.code].title}`, {
    reference: call.requestId,
    ...defined({ service: located?.service, 'client-id': located?.record.clientId }),
    stage: failure.stage,
    code: failure.code,
    reason: failure.reason,
    ...defined({ hint: failure.hint }),
    ...failure.fields,
  });
  call.noteAudit({
    kind: 'login',
    code: failure.code,
    ...defined({ tenant: located?.tenantName }),
    ...(attempt.username === undefined ? {} : userFields(attempt.username, located?.service)),
    requestParameters: describeAttempt(attempt),
  });
  if (located !== undefined) await keepFailure(oidc, call, located, attempt, failure);
}

/** The audit record of a success (R67); address and reference are part of every record. */
export function auditSuccess(call: PublicCall, located: Located, identity: Identity, accessor: string | undefined): void {
  call.noteAudit({
    kind: 'login',
    tenant: located.tenantName,
    ...userFields(identity.username, located.service),
    identity: identityOf(identity),
    ...defined({ accessor }),
    requestParameters: {
      service: located.service,
      issuer: identity.issuer,
      subject: identity.subject,
      roles: identity.roles,
      'token-policies': identity.policies,
    },
  });
}

async function keepFailure(oidc: Oidc, call: PublicCall, located: Located, attempt: Attempt, failure: LoginFailure): Promise<void> {
  const { tenantId, service } = located;
  const record: FailedLogin = {
    atMs: call.now.epochMilliseconds,
    code: failure.code,
    stage: failure.stage,
    reason: failure.reason,
    ...defined({ hint: failure.hint }),
    ...(attempt.claims === undefined || JSON.stringify(attempt.claims).length > maxKeptClaims ? {} : { claims: attempt.claims }),
  };
  await oidc.store.write((transaction) => {
    const kept = Array.from(transaction.entries(oidc.failures, [tenantId, service]));
    // Records without claims are dropped first: unauthenticated callers can make many of them, the others take an account at the provider.
    kept.sort(([, left], [, right]) => Number(left.claims !== undefined) - Number(right.claims !== undefined) || left.atMs - right.atMs);
    const tooMany = kept.slice(0, Math.max(0, kept.length + 1 - keptFailures));
    for (const [key] of tooMany) transaction.delete(oidc.failures, key);
    transaction.put(oidc.failures, [tenantId, service, call.requestId], record);
  });
}

function describeAttempt({ located, issuer, subject }: Attempt): Readonly<Record<string, unknown>> {
  return {
    ...defined({ service: located?.service, issuer, subject }),
  };
}

function retryPath(located: Located | undefined): string {
  return located === undefined ? '/login' : `/login?tenant=${encodeURIComponent(located.tenantName)}`;
}

/** Cookies belong to one host, so a person who came by another host name than the redirect URI's gets the right address. */
function findProperAddress(oidc: Oidc, call: PublicCall, located: Located | undefined): string | undefined {
  if (located === undefined) return undefined;
  const { host, origin } = new URL(chooseRedirectUri(located.record.allowedRedirectUris, oidc.publicUrl));
  return host === call.headers['host'] ? undefined : `${origin}/login`;
}

/** An error in the usual form, for endpoints whose refusals are normally pages or carry more members. */
export function problemReply(
  call: Pick<PublicCall, 'requestId'>,
  code: Parameters<typeof failOidc>[0],
  details: ErrorDetails,
  more: Readonly<Record<string, unknown>> = {},
): Reply {
  const problem = { ...formatProblem(failOidc(code, details), call.requestId), ...more };
  return new Reply(Number(problem['status']), JSON.stringify(problem), { 'content-type': problemMediaType });
}
