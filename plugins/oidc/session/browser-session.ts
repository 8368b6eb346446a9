// Browser sessions: opened by a finished login, found by their cookie, ended by idleness or when their roles change.
import { signedInFrom } from '../../../core/access/tokens/record.ts';
import type { PublicCall, Reply } from '../../../core/http/endpoint.ts';
import { redirectReply } from '../../../core/http/pages/frame.ts';
import { revealSecret } from '../../../core/base/secret.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { findCookie, formatCookie, sessionCookie } from '../../../core/http/request/cookies.ts';
import { formatLastTenant } from './cookies.ts';
import { LoginFailure } from '../failures.ts';
import type { SignInWay } from '../../../core/plugin/services/sessions.ts';
import { endSession, endToken } from '../records/end-session.ts';
import { grantsOf, stillGive } from '../records/role-record.ts';
import type { Located, Oidc } from '../context.ts';
import { type Identity, identityOf, type Session } from '../records/sign-ins.ts';
import { auditSuccess } from '../report.ts';
import { sessionSeconds } from '../records/service-record.ts';

/** The page of the account: API tokens and the provider; where no other plugin has a page for sessions, it is that one too. */
export const accountPath = '/ui/account';

/** The last use of a session is stored at most this often, so that a page view seldom costs a write. */
const touchMs = 60_000;

/**
 * Makes the session of a finished login and sends the browser to its page. The token is always new, and an existing session
 * of the browser ends in the same transaction (session fixation, R59).
 */
export async function openBrowserSession(
  oidc: Oidc,
  call: PublicCall,
  located: Located,
  identity: Identity,
  endSessionEndpoint: string | undefined,
): Promise<Reply> {
  const token = await oidc.accounts.drawToken();
  const ttlSeconds = sessionSeconds(located.record);
  const previous = findSession(oidc, call);
  const issued = await oidc.store.write((transaction) => {
    requireStillHolds(transaction, oidc, located, identity);
    if (previous !== undefined) endSession(transaction, oidc, oidc.accounts, previous.key, previous.session);
    const { username: user, policies } = identity;
    const { tenantId, service } = located;
    const session = oidc.accounts.issue(transaction, token, {
      tenantId,
      user,
      identity: identityOf(identity),
      grants: grantsOf(transaction, oidc.roles, { tenantId, service, names: identity.roles }),
      service,
      policies,
      ttlSeconds,
      browser: true,
      signedIn: signedInFrom(call),
    });
    const signOut = endSessionEndpoint === undefined ? {} : { providerSignOut: signOutUrl(endSessionEndpoint, located.record.clientId) };
    transaction.put(oidc.sessions, [located.tenantId, session.accessor], {
      ...identity,
      service: located.service,
      expiresMs: session.expires.epochMilliseconds,
      browser: { lastUsedMs: call.now.epochMilliseconds, shownTokens: [], ...signOut },
    });
    return session;
  });
  auditSuccess(call, located, identity, issued.accessor);
  const cookies = [formatCookie(sessionCookie, revealSecret(token), ttlSeconds), formatLastTenant(located.tenantName)];
  return redirectReply('/ui', { 'set-cookie': cookies });
}

/** Basis of a grant: the service at its revision, the roles that matched, and their policies. */
export type GrantBasis = Pick<Identity, 'roles' | 'policies'> & {
  readonly tenantId: string;
  readonly service: string;
  readonly revision: string;
};

/**
 * Tells whether the basis still holds, inside the transaction that issues the token: settings may change during the calls to a provider.
 */
export function stillHolds(transaction: WriteTransaction, oidc: Oidc, basis: GrantBasis): boolean {
  const { tenantId, service, revision, roles, policies } = basis;
  if (transaction.get(oidc.services, [tenantId, service])?.revision !== revision) return false;
  const records = roles.map((role) => transaction.get(oidc.roles, [tenantId, service, role]));
  return stillGive(records, policies);
}

/** Throws LoginFailure `service-changed` when the basis no longer holds. */
export function requireStillHolds(transaction: WriteTransaction, oidc: Oidc, located: Located, { roles, policies }: Identity): void {
  const { tenantId, service, record } = located;
  if (stillHolds(transaction, oidc, { tenantId, service, revision: record.revision, roles, policies })) return;
  throw new LoginFailure('service-changed', 'session', 'settings-differ');
}

/**
 * The provider's sign-out page. Without a return address, because the provider would refuse one that is not registered.
 */
export function signOutUrl(endpoint: string, clientId: string): string {
  const url = new URL(endpoint);
  url.searchParams.set('client_id', clientId);
  return url.href;
}

/** The session of a browser's cookie. */
export type Found = {
  readonly key: readonly [tenantId: string, accessor: string];
  readonly session: Session;
  readonly token: string;
  readonly tenantName: string;
};

/** The browser's session while its token works, idle or not. */
export function findSession(oidc: Oidc, call: Pick<PublicCall, 'headers'>): Found | undefined {
  const token = findCookie(call, sessionCookie);
  const caller = token === undefined ? undefined : oidc.accounts.find(token);
  const session = caller === undefined ? undefined : oidc.sessions.get([caller.tenantId, caller.accessor]);
  if (token === undefined || caller === undefined || session?.browser === undefined) return undefined;
  return { key: [caller.tenantId, caller.accessor], session, token, tenantName: caller.tenantName };
}

/** Tells whether the browser is signed in, at a provider or otherwise. Asking is not a use of the session. */
export function isSignedIn(oidc: Oidc, call: PublicCall): boolean {
  const token = findCookie(call, sessionCookie);
  if (token === undefined || oidc.accounts.browsers.find(token, call) === undefined) return false;
  const found = findSession(oidc, call);
  return found === undefined || !isIdle(oidc, found.session, call.now.epochMilliseconds);
}

/** Finds a session as findSession, but none that is idle; noting the use keeps it alive. */
export async function useSession(oidc: Oidc, call: PublicCall): Promise<Found | undefined> {
  const found = findSession(oidc, call);
  if (found === undefined || isIdle(oidc, found.session, call.now.epochMilliseconds)) return undefined;
  if (call.now.epochMilliseconds - (found.session.browser?.lastUsedMs ?? 0) >= touchMs) {
    await noteUse(oidc, found, call.now.epochMilliseconds);
  }
  return found;
}

function isIdle(oidc: Oidc, session: Session, nowMs: number): boolean {
  return session.browser !== undefined && nowMs >= session.browser.lastUsedMs + idleSeconds(oidc) * 1000;
}

/** Time for which a browser session may be unused, in seconds. */
export function idleSeconds(oidc: Oidc): number {
  return parseDuration(oidc.config.sessionIdle, 'session-idle').seconds;
}

function noteUse(oidc: Oidc, { key }: Found, lastUsedMs: number): Promise<void> {
  return oidc.store.write((transaction) => noteUseOf(transaction, oidc, key, lastUsedMs));
}

function noteUseOf(transaction: WriteTransaction, oidc: Oidc, key: Found['key'], lastUsedMs: number): void {
  const session = transaction.get(oidc.sessions, key);
  if (session?.browser !== undefined) transaction.put(oidc.sessions, key, { ...session, browser: { ...session.browser, lastUsedMs } });
}

/** Sign-in at a provider, for pages of other plugins: they note uses, and sign out. */
export function signInWay(oidc: Oidc): SignInWay {
  return {
    path: '/login',
    title: { en: 'your identity provider', de: 'Ihrem Identitätsanbieter' },
    accountPage: (tenantId, accessor) => (oidc.sessions.get([tenantId, accessor]) === undefined ? undefined : accountPath),
    noteUse: (transaction, tenantId, accessor, nowMs) => noteUseOf(transaction, oidc, [tenantId, accessor], nowMs),
    onSignOut(transaction, tenantId, accessor) {
      const session = transaction.get(oidc.sessions, [tenantId, accessor]);
      if (session === undefined) return undefined;
      endSession(transaction, oidc, oidc.accounts, [tenantId, accessor], session);
      return session.browser?.providerSignOut;
    },
  };
}

/**
 * Ends idle browser sessions and drops expired records. For the job. Shown API tokens stay valid, because programs use them without the
 * browser.
 */
export async function endStaleSessions(oidc: Oidc, nowMs: number, signal: AbortSignal): Promise<void> {
  const isOver = (session: Session): boolean => nowMs >= session.expiresMs || isIdle(oidc, session, nowMs);
  const stale = Array.from(oidc.sessions.entries([])).flatMap(([key, session]) => (isOver(session) ? [key] : []));
  const end = (transaction: WriteTransaction, key: StoreKey): void => {
    const session = transaction.get(oidc.sessions, key);
    if (session === undefined) return;
    if (nowMs >= session.expiresMs) transaction.delete(oidc.sessions, key);
    // The session may have been used meanwhile.
    else if (isIdle(oidc, session, nowMs)) endToken(transaction, oidc, oidc.accounts, key as readonly [string, string]);
  };
  await writeInPieces(oidc.store, stale, end, signal);
}
