// The first login on an appliance without file access: a credential for one login, made at every start until the appliance is claimed.
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { approleTable, putRoleId, type Approle } from '../../core/access/approles/approles.ts';
import { dropSecretIds, issueSecretId, listSecretIds } from '../../core/access/approles/secret-ids.ts';
import { openGrant } from '../../core/access/logins/grants.ts';
import { drawToken } from '../../core/access/tokens/tokens.ts';
import type { Clock, Job } from '../../core/base/context.ts';
import { revealSecret } from '../../core/base/secret.ts';
import type { Store, WriteTransaction } from '../../core/store/store.ts';
import { claimingRole, claimTable, endClaim, findClaim, offeredByKey, type Read } from '../../core/access/claiming.ts';
import { makeSystemTenant } from '../../core/access/system-tenant.ts';
import type { Tenant } from '../../core/access/tenants.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { writeDurably } from '../../core/base/durable-files.ts';
import type { Runtime } from '../runtime.ts';
import { StartRefused } from '../start-refused.ts';

/** Sessions of the approle last long enough to make the root token of `system`. Its role-id is its name. */
const roleName = claimingRole;
const sessionTtl = '1h';
const secretIdSeconds = 86_400;

/** Content of the file, as JSON. */
export type BootstrapCredential = { readonly 'role-id': string; readonly 'secret-id': string; readonly expires: string };

/**
 * At the first start, makes the tenant `system` with an approle of policy `root` instead of a root token. At every start until the
 * appliance is claimed, makes a secret-id for one login within 24 hours, which revokes earlier ones, and writes it to `file` (mode 0600)
 * only. Of the appliances of a cluster one has a credential at a time. An appliance is claimed when `system` has a root token or the
 * approle was deleted. Returns whether there is a credential here. Throws StartRefused when the file cannot be written.
 */
export async function offerBootstrap({ store, hsm }: Runtime, clock: Clock, file: string): Promise<boolean> {
  await makeSystemTenant(store, hsm, clock, (transaction, tenant) => makeRole(transaction, store, clock, tenant));
  const secretId = await drawToken(hsm);
  const issued = await store.write((transaction) => {
    const found = findClaim(transaction, store);
    if (found === undefined || found.tenant.rootTokenIssued) return undefined;
    const isOpen = listSecretIds(store, clock.now(), found.tenant.uuid, found.approle.id).length > 0;
    if (isOpen && isOfferedElsewhere(transaction, store)) return undefined;
    if (store.appliance !== undefined) transaction.put(claimTable(store), offeredByKey, store.appliance);
    dropSecretIds(transaction, store, found.tenant.uuid, found.approle.id);
    return issueSecretId(transaction, store, clock.now(), secretId, {
      ...{ tenantId: found.tenant.uuid, approle: roleName, approleId: found.approle.id, boundCidrs: [] },
      ...{ ttlSeconds: secretIdSeconds, numUses: 1 },
    });
  });
  if (issued === undefined) rmSync(file, { force: true });
  else {
    const credential: BootstrapCredential = {
      ...{ 'role-id': roleName, 'secret-id': revealSecret(secretId) },
      expires: issued.expires ?? '',
    };
    writeCredential(file, credential);
  }
  return issued !== undefined;
}

/** Ends the credential of a permanently departed appliance. Another one offers its own at its next start. */
export function withdrawBootstrapOf(transaction: WriteTransaction, store: Store, appliance: string): void {
  if (transaction.get(claimTable(store), offeredByKey) !== appliance) return;
  transaction.delete(claimTable(store), offeredByKey);
  const found = findClaim(transaction, store);
  if (found !== undefined) dropSecretIds(transaction, store, found.tenant.uuid, found.approle.id);
}

function writeCredential(file: string, credential: BootstrapCredential): void {
  try {
    writeDurably(file, `${JSON.stringify(credential)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartRefused(`bootstrap-file ${file} cannot be written (${code}): name a file in a directory this user may write`);
  }
}

/** Removes the file when its credential is used or expired, and the approle with its sessions when there is a root token. */
export function bootstrapJob(store: Store, clock: Clock, file: string): Job {
  return {
    name: 'bootstrap',
    everySeconds: 5,
    whileClockInDoubt: true,
    isOfEach: true,
    async run() {
      store.refresh();
      const read: Read = { get: (table, key) => table.get(key) };
      const found = findClaim(read, store);
      if (found?.tenant.rootTokenIssued === true) await store.write((transaction) => endClaim(transaction, store));
      const open = found === undefined ? [] : listSecretIds(store, clock.now(), found.tenant.uuid, found.approle.id);
      if (open.length === 0 || isOfferedElsewhere(read, store)) rmSync(file, { force: true });
    },
  };
}

function makeRole(transaction: WriteTransaction, store: Store, clock: Clock, { uuid }: Tenant): void {
  const approle: Approle = {
    ...{ id: randomUUID(), grantId: openGrant(transaction, store, uuid), ownRoleId: randomUUID(), fixedRoleId: roleName },
    ...{ tokenPolicies: ['root'], tokenTtl: sessionTtl, tokenMaxTtl: sessionTtl, tokenBoundCidrs: [] },
    ...{ secretIdTtl: '1d', secretIdNumUses: 1, secretIdBoundCidrs: [] },
    creationTime: formatTimestamp(clock.now()),
  };
  transaction.put(approleTable(store), [uuid, roleName], approle);
  putRoleId(transaction, store, [uuid, roleName], approle, undefined);
  transaction.put(claimTable(store), [roleName], approle.id);
}

/** Tells whether another appliance of the cluster has written the last credential. */
function isOfferedElsewhere(read: Read, store: Store): boolean {
  const by = read.get(claimTable(store), offeredByKey);
  return store.appliance !== undefined && by !== undefined && by !== store.appliance;
}
