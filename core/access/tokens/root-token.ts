// The root token of a tenant: issued once, even under parallel requests and crashes.
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import { endClaim } from '../claiming.ts';
import { systemTenantName, type Tenants } from '../tenants.ts';
import { rootIdentity, rootUser, type TokenName } from '../user.ts';
import { issueToken, type IssuedToken } from './tokens.ts';

/**
 * Issues the root token of a tenant for its parent, the system tenant. Mark and token are one transaction, so of a hundred parallel
 * calls one sees no mark, and a crash leaves both or neither. With that of `system` the claim of the appliance is over in the same moment.
 * Throws `not-found`, `root-token-exists`.
 */
export function createRootToken(
  transaction: WriteTransaction,
  { store, clock, tenants }: { readonly store: Store; readonly clock: Clock; readonly tenants: Tenants },
  tenantName: string,
  token: Secret<string>,
  madeBy: TokenName,
): IssuedToken {
  const tenant = transaction.get(tenants.table, [tenantName]);
  if (tenant === undefined) throw fail('not-found', { detail: 'There is no tenant of this name.' });
  if (tenant.rootTokenIssued) throw fail('root-token-exists', { detail: 'The root token of a tenant is issued once.' });
  transaction.put(tenants.table, [tenantName], { ...tenant, rootTokenIssued: true });
  if (tenantName === systemTenantName) endClaim(transaction, store);
  const grant = { tenantId: tenant.uuid, user: rootUser, identity: rootIdentity(tenant.uuid), policies: ['root'], madeBy };
  return issueToken(transaction, store, clock, token, grant);
}
