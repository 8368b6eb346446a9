// Ends what lets callers in and was made before a moment: after a restore nobody knows which of it had ended since.
import { writeInPieces } from '../store/records/pieces.ts';
import { type Store, Unreadable, type WriteTransaction } from '../store/store.ts';
import { dropSecretIdsBefore } from './approles/secret-ids.ts';
import { openTenants, systemTenantName } from './tenants.ts';
import { type TokenRecord, tokenTable } from './tokens/record.ts';
import { removeToken, uproot } from './tokens/tokens.ts';
import { rootUser } from './user.ts';

/** How many there were. */
export type EndedCredentials = { readonly tokens: number; readonly secretIds: number };

/**
 * All tokens of all tenants, those too that such a secret-id gave since, and so what descends from them, and all secret-ids. `stays`: the token that asks goes on, without the one that it came
 * from. A tenant but `system` whose root token ends may be given one again: otherwise nobody could get in. Repeated, it ends what a kill has left.
 */
export async function endEarlierCredentials(
  store: Store,
  before: Temporal.Instant,
  stays: Pick<TokenRecord, 'tenantId' | 'accessor'>,
): Promise<EndedCredentials> {
  await store.write((transaction) => uproot(transaction, store, stays.tenantId, stays.accessor));
  store.refresh();
  const isMeant = (record: TokenRecord): boolean => record.accessor !== stays.accessor && isFromBefore(record, before);
  // One that does not open may be put back as it was.
  const tokens = Array.from(tokenTable(store).entriesFound([])).filter(([, record]) => record instanceof Unreadable || isMeant(record));
  await writeInPieces(store, tokens, (transaction, [key, record]) => {
    if (record instanceof Unreadable) transaction.deleteUnreadable(tokenTable(store), key);
    else {
      if (isRoot(record)) allowRootToken(transaction, store, record.tenantId);
      removeToken(transaction, store, record.tenantId, record.accessor);
    }
  });
  return { tokens: tokens.length, secretIds: await dropSecretIdsBefore(store, before) };
}

/** What a secret-id of before gave since is meant as well: it may have been used up or disabled after the backup, and so where its age is unknown. */
function isFromBefore({ creationTime, approle }: TokenRecord, before: Temporal.Instant): boolean {
  const isEarly = (time: string | undefined): boolean => time === undefined || Temporal.Instant.compare(time, before) < 0;
  return isEarly(creationTime) || (approle !== undefined && isEarly(approle.secretIdCreationTime));
}

/** As createRootToken makes it. */
function isRoot({ user, policies, expires, parent, approle }: TokenRecord): boolean {
  return user === rootUser && policies.join() === 'root' && expires === undefined && parent === undefined && approle === undefined;
}

function allowRootToken(transaction: WriteTransaction, store: Store, tenantId: string): void {
  const { table } = openTenants(store);
  const name = store.table<string>('tenant-names').getFound([tenantId]);
  // Who asks is root there, and a start would make another token by itself.
  if (typeof name !== 'string' || name === systemTenantName || table.getFound([name]) instanceof Unreadable) return;
  const tenant = transaction.get(table, [name]);
  if (tenant?.uuid === tenantId) transaction.put(table, [name], { ...tenant, rootTokenIssued: false });
}
