// Logins under way: in the store, so that any worker can finish them; found by state and used once.
import { type PendingLogin } from '../records/sign-ins.ts';
import type { Oidc } from '../context.ts';
import { isExpired } from '../records/under-way.ts';
import { hashOf } from '../../../core/base/hash.ts';

/** Finds the login of a state without using it up; undefined when it is unknown, used or expired. */
export function findPending(oidc: Oidc, state: string, nowMs: number): PendingLogin | undefined {
  const login = oidc.pending.get(hashOf(state));
  return login === undefined || isExpired(login, nowMs) ? undefined : login;
}

/** Uses up the login durably, before any call to the provider. Of two concurrent callers one gets true. */
export function consumePending(oidc: Oidc, state: string): Promise<boolean> {
  return oidc.store.write((transaction) => oidc.pending.remove(transaction, hashOf(state)));
}
