// The approval of a CLI login: the person has signed in in the browser and approves or denies the request of the command line.
import { z } from 'zod';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { prove } from '../attempts.ts';
import { requireStillHolds } from '../session/browser-session.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { findCookie } from '../../../core/http/request/cookies.ts';
import { bindingCookie, formatLastTenant, isBoundTo } from '../session/cookies.ts';
import { LoginFailure } from '../failures.ts';
import { formTokenOf, requireForm } from '../session/form-token.ts';
import type { Located, Oidc } from '../context.ts';
import { confirmPage, decidedPage } from '../pages/confirm.ts';
import { userFields, type CliLogin, type Identity } from '../records/sign-ins.ts';
import { answerWithPage, auditSuccess } from '../report.ts';
import { isExpired } from '../records/under-way.ts';
import { pagesTag } from '../tags.ts';

/** The approval page of a request. */
export function confirmPath(id: string): string {
  return `/login/confirm?request=${id}`;
}

/** Stores the identity after the sign-in, and sends the browser to the approval page. */
export async function offerCliLogin(
  oidc: Oidc,
  call: PublicCall,
  located: Located,
  id: string,
  binding: string,
  identity: Identity,
): Promise<Reply> {
  await oidc.store.write((transaction) => {
    requireStillHolds(transaction, oidc, located, identity);
    const cliLogin = oidc.cliLogins.read(transaction, id);
    if (cliLogin?.step !== 'waiting') throw new LoginFailure('login-expired', 'session', 'no-such-request');
    oidc.cliLogins.change(transaction, id, { ...cliLogin, step: 'signed-in', identity, binding });
  });
  auditSuccess(call, located, identity, undefined);
  return redirectReply(confirmPath(id), { 'set-cookie': formatLastTenant(located.tenantName) });
}

/** Denies the request after a failed sign-in, so that the command line does not wait until it expires. */
export async function denyCliLogin(oidc: Oidc, id: string): Promise<void> {
  await oidc.store.write((transaction) => {
    const cliLogin = oidc.cliLogins.read(transaction, id);
    if (cliLogin?.step === 'waiting') oidc.cliLogins.change(transaction, id, { ...cliLogin, step: 'denied' });
  });
}

const decisionSchema = z.object({
  request: z.string().max(128).default('').meta({ description: 'Which request is meant.', example: 'q1W8mZ0bq1c' }),
  'form-token': z.string().max(128).default('').meta({ description: 'Shows that the form came from our page.', example: 'q1W8mZ0bq1c' }),
  decision: z.string().max(16).default('').meta({ description: 'approve or deny.', example: 'approve' }),
});
type Decision = z.output<typeof decisionSchema>;

export function confirmEndpoints(oidc: Oidc): AnyEndpoint[] {
  const page = { access: 'public', path: '/login/confirm', tag: pagesTag, produces: 'text/html', page: true } as const;
  return [
    definePublicEndpoint({
      ...page,
      method: 'GET',
      summary: 'Compare and approve a command-line sign-in',
      audit: 'reads-go-on',
      query: { request: 'the command-line request' },
      run: (call) => answerWithPage(oidc, call, () => prove(oidc, call, () => showRequest(oidc, call))),
    }),
    definePublicEndpoint<Decision, never>({
      ...page,
      method: 'POST',
      summary: 'Approve or deny a command-line sign-in',
      audit: 'required',
      consumes: 'application/x-www-form-urlencoded',
      bodyLimit: 4096,
      input: decisionSchema,
      run: (call, input) => answerWithPage(oidc, call, () => prove(oidc, call, () => decide(oidc, call, input))),
    }),
  ];
}

/** The caller chooses the program's name: a long one must not push the buttons off the screen. */
const shownProgramLength = 80;

function showRequest(oidc: Oidc, call: PublicCall): Reply {
  const id = call.query.get('request') ?? '';
  const { cliLogin, identity, cookie } = requireOwn(oidc, call, id);
  return confirmPage({
    userCode: cliLogin.userCode,
    username: identity.username,
    tenant: cliLogin.tenantName,
    policies: identity.policies,
    clientIp: cliLogin.clientIp,
    userAgent: showableText(cliLogin.userAgent, shownProgramLength),
    requestedAt: Temporal.Instant.fromEpochMilliseconds(cliLogin.createdMs),
    elsewhere: cliLogin.clientIp !== call.clientIp,
    request: id,
    formToken: formTokenOf(cookie, id),
  });
}

async function decide(oidc: Oidc, call: PublicCall, { request, decision, 'form-token': formToken }: Decision): Promise<Reply> {
  const { cliLogin, identity, cookie } = requireOwn(oidc, call, request);
  requireForm(call, formToken, formTokenOf(cookie, request));
  if (decision !== 'approve' && decision !== 'deny') throw new LoginFailure('form-refused', 'session', 'no-decision');
  const approved = decision === 'approve';
  await oidc.store.write((transaction) => {
    const current = oidc.cliLogins.read(transaction, request);
    if (current?.step !== 'signed-in') throw new LoginFailure('login-expired', 'session', 'no-such-request');
    oidc.cliLogins.change(transaction, request, { ...current, step: approved ? 'approved' : 'denied' });
  });
  const { service, tenantName, clientIp } = cliLogin;
  const requestParameters = { service, decision, 'asked-from': clientIp, issuer: identity.issuer, subject: identity.subject };
  call.noteAudit({ kind: 'login', tenant: tenantName, ...userFields(identity.username, service), requestParameters });
  return decidedPage(approved);
}

type Own = { readonly cliLogin: CliLogin; readonly identity: Identity; readonly cookie: string };

/** The request, if this browser signed in for it and it is still undecided. */
function requireOwn(oidc: Oidc, call: PublicCall, id: string): Own {
  const cliLogin = id === '' ? undefined : oidc.cliLogins.get(id);
  const cookie = findCookie(call, bindingCookie);
  if (cliLogin?.step !== 'signed-in' || isExpired(cliLogin, call.now.epochMilliseconds)) {
    throw new LoginFailure('login-expired', 'session', 'no-such-request');
  }
  const { identity, binding } = cliLogin;
  if (identity === undefined || binding === undefined || cookie === undefined || !isBoundTo(binding, cookie)) {
    throw new LoginFailure('login-not-yours', 'session', 'other-browser');
  }
  return { cliLogin, identity, cookie };
}
