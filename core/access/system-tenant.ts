// First start: makes the tenant `system`, with a root token or another first login, in one transaction.
import type { Hsm } from '../../hsm/api.ts';
import type { Clock } from '../base/context.ts';
import type { Secret } from '../base/secret.ts';
import { putDigestKey } from '../store/records/keyed-digest.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import { addTenant, openTenants, systemTenantName, type Tenant } from './tenants.ts';
import { rootIdentity, rootUser } from './user.ts';
import { drawToken, issueToken, type IssuedToken } from './tokens/tokens.ts';

/**
 * Makes the tenant `system` with its root token, in one transaction, so that a crash leaves both or neither. `keep` stores the token
 * before that transaction: a crash in between leaves a useless token that is drawn again, never a tenant whose token is lost.
 * Undefined when the tenant exists already.
 */
export async function createSystemTenant(
  store: Store,
  hsm: Hsm,
  clock: Clock,
  keep?: (token: Secret<string>) => void,
): Promise<{ tenant: Tenant; rootToken: IssuedToken } | undefined> {
  if (openTenants(store).findByName(systemTenantName) !== undefined) return undefined;
  const token = await drawToken(hsm);
  keep?.(token);
  return makeSystemTenant(store, hsm, clock, (transaction, made) => {
    const tenant = { ...made, rootTokenIssued: true };
    transaction.put(openTenants(store).table, [systemTenantName], tenant);
    const grant = { tenantId: tenant.uuid, user: rootUser, identity: rootIdentity(tenant.uuid), policies: ['root'] };
    return { tenant, rootToken: issueToken(transaction, store, clock, token, grant) };
  });
}

/** Makes the tenant `system`, and in the same transaction its first login by `open`. Undefined if the tenant exists already. */
export async function makeSystemTenant<T>(
  store: Store,
  hsm: Hsm,
  clock: Clock,
  open: (transaction: WriteTransaction, tenant: Tenant) => T,
): Promise<T | undefined> {
  if (openTenants(store).findByName(systemTenantName) !== undefined) return undefined;
  const tagKey = await hsm.random(32);
  return store.write((transaction) => {
    if (transaction.get(openTenants(store).table, [systemTenantName]) !== undefined) return undefined;
    putDigestKey(transaction, store, tagKey);
    const fields = { name: systemTenantName, descriptiveName: 'System', kind: 'system', policies: ['root'] } as const;
    return open(transaction, addTenant(transaction, store, clock, fields));
  });
}
