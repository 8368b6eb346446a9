// Logins under way: kept in the store so that any worker can finish them, found by their state, used once, bounded and short-lived.
import { equalConstantTime, encodeUtf8 } from '../../../core/base/bytes.ts';
import { hashSecret, type Oidc } from '../context.ts';
import type { PendingLogin } from '../records.ts';
import { isExpired } from './under-way.ts';

/** The login of a state, without using it up; undefined when it is unknown, used or expired. */
export function findPending(oidc: Oidc, state: string, nowMs: number): PendingLogin | undefined {
  const login = oidc.pending.get(hashSecret(state));
  return login === undefined || isExpired(login, nowMs) ? undefined : login;
}

/** Uses the login up, durably, before anything is sent to the provider. Of two callers one gets true. */
export function consumePending(oidc: Oidc, state: string): Promise<boolean> {
  return oidc.store.write((transaction) => oidc.pending.remove(transaction, hashSecret(state)));
}

/** Whether the cookie value belongs to the browser that started the login. */
export function isBoundTo(binding: string, cookie: string | undefined): boolean {
  return cookie !== undefined && equalConstantTime(encodeUtf8(binding), encodeUtf8(hashSecret(cookie)));
}
