// Pages of a session: the signed-in person, an API token for programs, and signing out.
import { grantsOf } from '../records/role-record.ts';
import { z } from 'zod';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { accountPath, findSession, idleSeconds, useSession, type Found } from './browser-session.ts';
import { findCookie, formatExpiredCookie, formatReturn, sessionCookie } from '../../../core/http/request/cookies.ts';
import { LoginFailure } from '../failures.ts';
import { formTokenOf, requireForm } from './form-token.ts';
import { endSession, endToken } from '../records/end-session.ts';
import type { Oidc } from '../context.ts';
import { signedInPage, signedOutPage, signInAgainPage, tokenPage } from '../pages/signed-in.ts';
import { userFields, identityOf, type Session } from '../records/sign-ins.ts';
import { answerWithPage } from '../report.ts';
import { pagesTag } from '../tags.ts';

const formSchema = z.object({
  'form-token': z.string().max(128).default('').meta({ description: 'Shows that the form came from our page.', example: 'q1W8mZ0bq1c' }),
});
type Form = z.output<typeof formSchema>;

export function sessionEndpoints(oidc: Oidc): AnyEndpoint[] {
  const page = { access: 'public', tag: pagesTag, produces: 'text/html', page: true } as const;
  const form = { ...page, method: 'POST', consumes: 'application/x-www-form-urlencoded', bodyLimit: 4096, audit: 'required' } as const;
  const account = { ...page, method: 'GET', summary: 'Who is signed in', audit: 'reads-go-on' } as const;
  const run = (call: PublicCall): Promise<Reply> => answerWithPage(oidc, call, () => showSession(oidc, call));
  return [
    definePublicEndpoint({ ...account, path: accountPath, run }),
    definePublicEndpoint({ ...account, path: '/ui', yields: true, run }),
    definePublicEndpoint<Form, never>({
      ...form,
      path: '/ui/token',
      summary: 'Show a new API token of the session',
      input: formSchema,
      run: (call, input) => answerWithPage(oidc, call, () => showToken(oidc, call, input)),
    }),
    definePublicEndpoint<Form, never>({
      ...form,
      path: '/ui/sign-out',
      summary: 'End the session and its tokens',
      input: formSchema,
      run: (call, input) => answerWithPage(oidc, call, () => signOut(oidc, call, input)),
    }),
  ];
}

async function showSession(oidc: Oidc, call: PublicCall): Promise<Reply> {
  const found = await useSession(oidc, call);
  if (found === undefined)
    return redirectReply('/login', isOfOthers(oidc, call) ? {} : { 'set-cookie': formatExpiredCookie(sessionCookie) });
  const { session, tenantName, token, key } = found;
  return signedInPage({
    username: session.username,
    fullname: session.fullname,
    tenant: tenantName,
    provider: oidc.services.get([key[0], session.service])?.displayName ?? session.service,
    roles: session.roles,
    policies: session.policies,
    now: call.now,
    expires: Temporal.Instant.fromEpochMilliseconds(session.expiresMs),
    idleMinutes: Math.round(idleSeconds(oidc) / 60),
    formToken: sessionFormToken(token, tokensShown(session)),
  });
}

/** Tells whether the cookie is of a session that began without a provider. A link to this page must not end it. */
function isOfOthers(oidc: Oidc, call: PublicCall): boolean {
  const token = findCookie(call, sessionCookie);
  return token !== undefined && findSession(oidc, call) === undefined && oidc.accounts.browsers.find(token, call) !== undefined;
}

/** Most API tokens per session, so that people can keep track of them; another one ends the oldest. */
const keptTokens = 10;

/** Time after the sign-in in which a token is shown. A person who has come only by the cookie cannot sign in again. */
const freshSeconds = 300;

/** Tells whether the person has signed in just now. */
function isFresh(oidc: Oidc, { token }: Found, call: PublicCall): boolean {
  const signedInAt = oidc.accounts.browsers.find(token, call)?.creationTime;
  return signedInAt !== undefined && signedInAt.until(call.now).total('seconds') <= freshSeconds;
}

/**
 * Shows a separate token, so that the cookie's value stays in the cookie. It ends when the session expires or the person signs out, not by
 * idleness. A form makes one token, however often it is sent: a reload redirects to the session page.
 */
async function showToken(oidc: Oidc, call: PublicCall, input: Form): Promise<Reply> {
  const found = await useSession(oidc, call);
  if (found === undefined) return redirectReply('/login');
  const number = requireSessionForm(call, input, found);
  const { key, session, tenantName } = found;
  if (!isFresh(oidc, found, call)) return signInAgain(found);
  if (number !== tokensShown(session)) return redirectReply('/ui');
  const expires = Temporal.Instant.fromEpochMilliseconds(session.expiresMs);
  const ttlSeconds = Math.floor(call.now.until(expires).total('seconds'));
  const token = await oidc.accounts.drawToken();
  const issued = await oidc.store.write((transaction) => {
    const current = transaction.get(oidc.sessions, key);
    if (current?.browser === undefined) throw new LoginFailure('form-refused', 'session', 'session-ended');
    if (number !== tokensShown(current)) return undefined;
    const { browser, ...granted } = current;
    const { username: user, policies } = granted;
    const { service, roles: names } = granted;
    const grants = grantsOf(transaction, oidc.roles, { tenantId: key[0], service, names });
    const grant = { ...{ tenantId: key[0], user, identity: identityOf(granted), grants, service }, policies, ttlSeconds };
    const made = oidc.accounts.issue(transaction, token, grant);
    transaction.put(oidc.sessions, [key[0], made.accessor], granted);
    const living = browser.shownTokens.filter((accessor) => transaction.get(oidc.sessions, [key[0], accessor]) !== undefined);
    const shownTokens = [...living, made.accessor];
    for (const oldest of shownTokens.splice(0, shownTokens.length - keptTokens)) {
      endToken(transaction, oidc, oidc.accounts, [key[0], oldest]);
    }
    transaction.put(oidc.sessions, key, { ...current, browser: { ...browser, shownTokens, tokensShown: number + 1 } });
    return made;
  });
  if (issued === undefined) return redirectReply('/ui');
  call.noteAudit({
    kind: 'login',
    tenant: tenantName,
    ...userFields(session.username, session.service),
    identity: identityOf(session),
    accessor: issued.accessor,
    requestParameters: { service: session.service, 'made-by': key[1], 'token-policies': session.policies },
  });
  return tokenPage(revealSecret(issued.token), expires, keptTokens);
}

function tokensShown({ browser }: Session): number {
  return browser?.tokensShown ?? browser?.shownTokens.length ?? 0;
}

/** The form token of the signed-in page, with the number of the next API token. */
function sessionFormToken(token: string, number: number): string {
  return `${number}.${formTokenOf(token, `session ${number}`)}`;
}

/** Redirects to the provider, which is asked for the credentials, and back to the account. */
function signInAgain({ session, tenantName }: Found): Reply {
  const path = `/login/${encodeURIComponent(tenantName)}/${encodeURIComponent(session.service)}?prompt=login`;
  return signInAgainPage(path, { 'set-cookie': formatReturn(accountPath) });
}

/** The number in the form; throws LoginFailure `form-refused` for a form of another session. */
function requireSessionForm(call: PublicCall, { 'form-token': sent }: Form, { token }: Found): number {
  const number = Number.parseInt(sent, 10) || 0;
  requireForm(call, sent, sessionFormToken(token, number));
  return number;
}

async function signOut(oidc: Oidc, call: PublicCall, input: Form): Promise<Reply> {
  const found = findSession(oidc, call);
  const headers = { 'set-cookie': formatExpiredCookie(sessionCookie) };
  if (found === undefined) return signedOutPage(undefined, headers);
  requireSessionForm(call, input, found);
  const { key, session, tenantName } = found;
  await oidc.store.write((transaction) => {
    const current = transaction.get(oidc.sessions, key);
    if (current !== undefined) endSession(transaction, oidc, oidc.accounts, key, current);
  });
  call.noteAudit({ tenant: tenantName, ...userFields(session.username, session.service), accessor: key[1] });
  return signedOutPage(session.browser?.providerSignOut, headers);
}
