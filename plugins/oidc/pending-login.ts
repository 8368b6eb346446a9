// Logins under way: kept in the store so that any worker can finish them, found by their state, used once, bounded and short-lived.
import { equalConstantTime, encodeUtf8 } from '../../core/bytes.ts';
import type { StoreKey, WriteTransaction } from '../../core/store/store.ts';
import { LoginFailure } from './failures.ts';
import { hashSecret, type Oidc } from './oidc.ts';
import type { PendingLogin, Tables } from './records.ts';

/** From the start to the callback. */
export const pendingSeconds = 600;

/** Most expired logins that one start clears away; the job gets the rest. */
const clearedPerStart = 20;

/**
 * Records a login. A tenant over its limit loses its oldest one: whoever starts many must outrun the people who finish theirs. The limit
 * over all tenants refuses with `too-many-logins`.
 */
export function recordPending(transaction: WriteTransaction, oidc: Oidc, state: string, login: PendingLogin): void {
  const { tenantId, createdMs } = login;
  const overLimit = oidc.pendingOrder.count([tenantId]) + 1 - oidc.config.pendingLoginsPerTenant;
  const oldest: StoreKey[] = [];
  for (const [key] of transaction.entries(oidc.pendingOrder, [tenantId])) {
    const expired = isExpired(Number(key[1]), createdMs) && oldest.length < clearedPerStart;
    if (!expired && oldest.length >= overLimit) break;
    oldest.push(key);
  }
  for (const key of oldest) drop(transaction, oidc, tenantId, Number(key[1]), String(key[2]));
  if (oidc.pending.count([]) >= oidc.config.pendingLogins) throw new LoginFailure('too-many-logins', 'authorize', 'limit-reached');
  const key = hashSecret(state);
  transaction.put(oidc.pending, [key], login);
  transaction.put(oidc.pendingOrder, [tenantId, createdMs, key], true);
}

/** The login of a state, without using it up; undefined when it is unknown, used or expired. */
export function findPending(oidc: Oidc, state: string, nowMs: number): PendingLogin | undefined {
  const login = oidc.pending.get([hashSecret(state)]);
  return login === undefined || isExpired(login.createdMs, nowMs) ? undefined : login;
}

/** Uses the login up, durably, before anything is sent to the provider. Of two callers one gets true. */
export function consumePending(oidc: Oidc, state: string): Promise<boolean> {
  const key = hashSecret(state);
  return oidc.store.write((transaction) => {
    const login = transaction.get(oidc.pending, [key]);
    return login !== undefined && drop(transaction, oidc, login.tenantId, login.createdMs, key);
  });
}

/** Whether the cookie value belongs to the browser that started the login. */
export function isBoundTo(binding: string, cookie: string | undefined): boolean {
  return cookie !== undefined && equalConstantTime(encodeUtf8(binding), encodeUtf8(hashSecret(cookie)));
}

/** For the job: drops what is expired, of all tenants. */
export function dropExpired(transaction: WriteTransaction, tables: Tables, nowMs: number): void {
  for (const [key] of Array.from(transaction.entries(tables.pendingOrder, []))) {
    if (isExpired(Number(key[1]), nowMs)) drop(transaction, tables, String(key[0]), Number(key[1]), String(key[2]));
  }
}

function drop(transaction: WriteTransaction, tables: Tables, tenantId: string, createdMs: number, key: string): boolean {
  transaction.delete(tables.pendingOrder, [tenantId, createdMs, key]);
  return transaction.delete(tables.pending, [key]);
}

function isExpired(createdMs: number, nowMs: number): boolean {
  return nowMs >= createdMs + pendingSeconds * 1000;
}
