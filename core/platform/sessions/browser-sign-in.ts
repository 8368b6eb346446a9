// Sessions of browsers, for plugins with pages: made from a bearer token or an approle, found by the cookie's token, signed out.
import { defined } from '../../base/defined.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { requireUncounted } from '../../access/policy/granting.ts';
import type { AccessControl } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import { isUnclaimed } from '../../access/claiming.ts';
import { LoginRate } from '../../access/logins/login-rate.ts';
import type { Tenants } from '../../access/tenants.ts';
import { ancestorsOf, isWorking, mostAncestors, signedInFrom, tokenTable, type Read } from '../../access/tokens/record.ts';
import { drawToken, findToken, issueToken, type IssuedToken, noteSessionUse, removeToken } from '../../access/tokens/tokens.ts';
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import type { PublicCall } from '../../http/endpoint.ts';
import type { Attempts, BrowserSignIn, IssuedSession, SignInWay } from '../../plugin/services/sessions.ts';
import type { Store } from '../../store/store.ts';
import { openApproleLogin } from '../approles/login-endpoint.ts';

export type BrowserSignInOptions = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly tenants: Tenants;
  readonly access: AccessControl;
  readonly attempts: Attempts;
};

/** Part of the service `sessions` for browsers. */
export function openBrowserSignIn(options: BrowserSignInOptions): BrowserSignIn {
  const { store, clock, access } = options;
  const ways: SignInWay[] = [];
  const rate = new LoginRate(clock);
  const logInApprole = openApproleLogin(options);
  return {
    ways,
    offer: (way) => void ways.push(way),
    isUnclaimed: () => isUnclaimed(store),
    find(token, from) {
      const now = clock.now();
      const record = findToken(store, token, now);
      const caller = record?.browser === true ? access.callerOf(token, now, from) : undefined;
      if (record === undefined || caller === undefined) return undefined;
      return { caller, creationTime: Temporal.Instant.from(record.creationTime) };
    },
    withToken: (call, token, ttlSeconds) => signInWithToken(options, rate, call, token, ttlSeconds),
    withApprole: async (call, credentials) =>
      endingSession(await logInApprole(call, credentials, { browser: true, signedIn: signedInFrom(call) })),
    noteUse(transaction, tenantId, accessor, nowMs) {
      noteSessionUse(transaction, store, tenantId, accessor, nowMs);
      for (const way of ways) way.noteUse?.(transaction, tenantId, accessor, nowMs);
    },
    signOut(transaction, tenantId, accessor) {
      const pages = ways.map((way) => way.onSignOut?.(transaction, tenantId, accessor));
      removeToken(transaction, store, tenantId, accessor);
      return pages.find((page) => page !== undefined);
    },
  };
}

/** The session's token is a child of the bearer token: it never works longer, nor from where that one does not. */
async function signInWithToken(
  options: BrowserSignInOptions,
  rate: LoginRate,
  call: PublicCall,
  sent: string,
  mostSeconds: number,
): Promise<IssuedSession> {
  const { store, hsm, clock, access, attempts } = options;
  call.noteAudit({ kind: 'login' });
  const caller = access.authenticate(`Bearer ${sent}`, call.now, call);
  // A token cannot be guessed: a right one passes whatever others behind the address did.
  if (caller === undefined) attempts.requireFew(call.clientIp, call.now);
  else rate.admit(caller.accessor);
  if (caller !== undefined) requireUncounted(caller, 'A session');
  const token = await drawToken(hsm);
  const issued = await store.write((transaction) => {
    const read: Read = (table, key) => transaction.get(table, key);
    const parent = caller === undefined ? undefined : read(tokenTable(store), [caller.tenantId, caller.accessor]);
    if (caller === undefined || parent === undefined || !isWorking(store, parent, call.now, read)) {
      attempts.count(transaction, call.clientIp, call.now);
      return undefined;
    }
    if (ancestorsOf(store, parent, read).length >= mostAncestors) return undefined;
    const { tenantId, user } = caller;
    const policies = [...caller.policies];
    const ttlSeconds = Math.min(mostSeconds, secondsLeft(caller, call.now));
    return issueToken(transaction, store, clock, token, {
      tenantId,
      user,
      policies,
      ttlSeconds,
      parent: parent.accessor,
      browser: true,
      signedIn: signedInFrom(call),
    });
  });
  if (caller === undefined || issued === undefined) throw fail('login-failed', { detail: 'The token is not accepted.' });
  const requestParameters = { 'made-by': caller.accessor };
  const { tenantName: tenant, user, userKind, userSource, identity } = caller;
  call.noteAudit({ tenant, user, userKind, ...defined({ userSource, identity }), accessor: issued.accessor, requestParameters });
  return endingSession(issued);
}

function secondsLeft({ expires }: Caller, now: Temporal.Instant): number {
  return expires === undefined ? Infinity : Math.max(1, Math.floor(now.until(expires).total('seconds')));
}

/** Tokens of sessions always have an end. */
function endingSession({ expires, ...issued }: IssuedToken): IssuedSession {
  return { ...issued, expires: expires ?? issued.creationTime };
}
