// The callback: turns the provider's redirect into a session, or into a refusal. The order of the checks matters.
import { defined } from '../../../core/base/defined.ts';
import { definePublicEndpoint, type AnyEndpoint, type PublicCall, type Reply } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { prove } from '../attempts.ts';
import { isSignedIn, openBrowserSession, signOutUrl } from '../session/browser-session.ts';
import { isReservedUser } from '../../../core/access/user.ts';
import { showableText } from '../../../core/identity/claims.ts';
import { findCookie } from '../../../core/http/request/cookies.ts';
import { bindingCookie, isBoundTo } from '../session/cookies.ts';
import { exchangeCode, openProvider, type Exchanged, clientSettings } from '../provider/token-exchange.ts';
import { LoginFailure } from '../failures.ts';
import { gatherClaims } from '../provider/gather-claims.ts';
import { confirmPath, offerCliLogin, denyCliLogin } from '../cli-login/approval.ts';
import type { Located, Oidc } from '../context.ts';
import type { Outbound } from '../../../core/outbound/outbound.ts';
import { googleGroupsReader } from '../provider/google-groups.ts';
import { loginPath } from '../pages/login.ts';
import { consumePending, findPending } from './pending-login.ts';
import { judgeAuthorizeError } from '../provider/provider-errors.ts';
import type { Identity, PendingLogin } from '../records/sign-ins.ts';
import { answerWithPage, type Attempt } from '../report.ts';
import { accountName } from '../../../core/identity/role-match.ts';
import { requireRole, selectSignInRoles } from '../claims/granted-roles.ts';
import { callbackPath } from '../records/service-record.ts';
import { pagesTag } from '../tags.ts';

/** The directory has its own time limit, within that of the callback. */
const directorySeconds = 5;

export function callbackEndpoint(oidc: Oidc): AnyEndpoint {
  return definePublicEndpoint({
    method: 'GET',
    path: callbackPath,
    summary: 'Return from the identity provider',
    tag: pagesTag,
    access: 'public',
    audit: 'required',
    produces: 'text/html',
    anyQuery: true,
    noHead: true,
    page: true,
    errors: ['rate-limited'],
    run: (call) => answerWithPage(oidc, call, (attempt) => prove(oidc, call, () => finishLogin(oidc, call, attempt))),
  });
}

async function finishLogin(oidc: Oidc, call: PublicCall, attempt: Attempt): Promise<Reply> {
  const query = new URLSearchParams(call.rawQuery);
  const state = requireState(query);
  const login = findPending(oidc, state, call.now.epochMilliseconds);
  if (login === undefined) throw unknownState(oidc, call, attempt, state);
  attempt.located = oidc.locate(login.tenantName, login.service);
  // A callback from another browser must neither use up the login nor learn anything about it.
  if (!isBoundTo(login.binding, findCookie(call, bindingCookie))) throw new LoginFailure('login-not-yours', 'callback', 'other-browser');
  attempt.shown.forCommandLine = login.handOff !== undefined;
  try {
    const located = requireUnchanged(attempt.located, login);
    const outbound = oidc.openOutbound(located);
    attempt.outbounds.push(outbound);
    const metadata = await oidc.metadataOf(located, outbound);
    const { end_session_endpoint: signOut } = metadata;
    attempt.shown.providerSignOut = signOut === undefined ? undefined : signOutUrl(signOut, located.record.clientId);
    requireIssuer(query, metadata.issuer, metadata.authorization_response_iss_parameter_supported === true);
    if (!(await consumePending(oidc, state))) {
      attempt.shown.continueAt = login.handOff === undefined ? '/ui' : confirmPath(login.handOff);
      throw new LoginFailure('login-expired', 'callback', 'used-state');
    }
    if (login.prompt === 'select_account' && query.get('error') === 'invalid_request') return askForCredentials(login);
    requireNoError(query);
    const provider = openProvider(metadata, clientSettings(located.record, oidc.allowHttpLoopback), outbound, oidc.clock);
    const secrets = { state, nonce: login.nonce, codeVerifier: login.codeVerifier };
    const exchanged = await exchangeCode(provider, query, login.redirectUri, secrets);
    const { issuer, subject } = exchanged.idToken;
    Object.assign(attempt, { issuer: showableText(issuer, 1024), subject: showableText(subject) });
    if (!isReservedUser(showableText(subject))) attempt.username = showableText(subject);
    const identity = await identify(oidc, call, attempt, located, { provider, exchanged, outbound });
    if (login.handOff !== undefined) return await offerCliLogin(oidc, call, located, login.handOff, login.binding, identity);
    return await openBrowserSession(oidc, call, located, identity, metadata.end_session_endpoint);
  } catch (error) {
    // If the state was used, another callback of this browser goes on with the sign-in.
    const isOver = error instanceof LoginFailure && error.reason !== 'used-state';
    if (isOver && login.handOff !== undefined) await denyCliLogin(oidc, login.handOff);
    if (error instanceof LoginFailure && error.code === 'id-token-refused' && attempt.located !== undefined)
      oidc.forgetMetadata(attempt.located);
    throw error;
  }
}

/** Some providers refuse prompt=select_account only here. The sign-in starts again with prompt=login, which all know. */
function askForCredentials({ tenantName, service, handOff: cliLogin }: PendingLogin): Reply {
  const request = cliLogin === undefined ? '' : `&request=${cliLogin}`;
  return redirectReply(`${loginPath(tenantName, service)}?prompt=login${request}`);
}

/** Requires at most one state, no repeated parameter, no parameter of another flow (R26). */
function requireState(query: URLSearchParams): string {
  const [state, ...more] = query.getAll('state');
  if (more.length > 0 || ['code', 'iss', 'error'].some((name) => query.getAll(name).length > 1)) {
    throw new LoginFailure('callback-invalid', 'callback', 'doubled-parameter');
  }
  if (['id_token', 'token', 'access_token', 'response'].some((name) => query.has(name))) {
    throw new LoginFailure('callback-invalid', 'callback', 'foreign-parameter');
  }
  return state ?? '';
}

/** Shows the way on to a signed-in person who has loaded the callback again, by a reload or the back button. */
function unknownState(oidc: Oidc, call: PublicCall, attempt: Attempt, state: string): LoginFailure {
  const hint = isSignedIn(oidc, call) ? 'The browser is signed in, and has loaded the callback of a sign-in again.' : undefined;
  if (hint !== undefined) attempt.shown.continueAt = '/ui';
  return new LoginFailure('login-expired', 'callback', state === '' ? 'no-state' : 'unknown-state', defined({ hint }));
}

/** The service must be as it was when the login began: not edited, deleted or recreated (R10). */
function requireUnchanged(located: Located | undefined, login: PendingLogin): Located {
  if (located?.tenantId === login.tenantId && located.record.revision === login.revision) return located;
  throw new LoginFailure('service-changed', 'callback', 'revision-differs');
}

/** RFC 9207 section 2.4: against mix-up of providers. */
function requireIssuer(query: URLSearchParams, issuer: string, promised: boolean): void {
  const iss = query.get('iss');
  if (iss === null && promised) throw new LoginFailure('callback-invalid', 'callback', 'iss-missing');
  if (iss !== null && iss !== issuer) throw new LoginFailure('callback-invalid', 'callback', 'iss-mismatch');
}

function requireNoError(query: URLSearchParams): void {
  const error = query.get('error');
  if (error !== null) throw judgeAuthorizeError({ error, description: query.get('error_description') ?? undefined });
  if (!query.get('code')) throw new LoginFailure('callback-invalid', 'callback', 'no-code');
}

/** Throws LoginFailure for the name of the root token's user, which would say in the trail that somebody else did it. */
function requireUsable(subject: string): string {
  if (!isReservedUser(subject)) return subject;
  throw new LoginFailure('id-token-refused', 'role', 'username-reserved', {
    hint: 'The subject is the name of the user of root tokens: map another claim to username in the roles of this service.',
  });
}

type Proof = { readonly provider: ReturnType<typeof openProvider>; readonly exchanged: Exchanged; readonly outbound: Outbound };

/** Derives identity, roles and policies from the verified ID token. Throws LoginFailure if no role applies. */
async function identify(
  oidc: Oidc,
  call: PublicCall,
  attempt: Attempt,
  located: Located,
  { provider, exchanged, outbound }: Proof,
): Promise<Identity> {
  const { tenantId, tenantName, service, record } = located;
  const { roleClaim } = record.roleSelect;
  const roles = oidc.rolesOf(tenantId, service);
  const log = oidc.log.with('oidc', tenantName);
  const about = { reference: call.requestId, service };
  const claims = await gatherClaims({
    provider,
    exchanged,
    roleClaim,
    roles,
    openDirectory() {
      const directory = oidc.openOutbound(located, { totalSeconds: directorySeconds, within: outbound });
      attempt.outbounds.push(directory);
      return directory;
    },
    readGroups: googleGroupsReader(oidc, call, located, provider.metadata, exchanged.idToken.subject),
    warn: (message, fields) => log.warn(message, { ...about, ...fields }),
  });
  attempt.claims = claims;
  const selection = selectSignInRoles(claims, record.roleSelect, roles);
  const { issuer, subject } = exchanged.idToken;
  const username = selection.username ?? requireUsable(showableText(subject));
  attempt.shown.account = accountName(claims, roles) ?? username;
  attempt.username = username;
  requireRole(selection, roleClaim);
  return {
    issuer,
    subject,
    username,
    ...defined({ fullname: selection.fullname }),
    roles: selection.granted.map((role) => role.name),
    policies: selection.policies,
  };
}
