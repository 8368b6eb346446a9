// Ends credentials that the requesting caller did not make: after a restore it is unknown which of them had ended since the backup.
import { writeInPieces } from '../store/records/pieces.ts';
import { type Store, Unreadable, type WriteTransaction } from '../store/store.ts';
import { dropOtherSecretIds } from './approles/secret-ids.ts';
import { endAllHandOvers } from './hand-overs.ts';
import { openTenants, systemTenantName } from './tenants.ts';
import { type TokenRecord, tokenTable } from './tokens/record.ts';
import { removeToken, uproot } from './tokens/tokens.ts';
import { rootUser, type TokenName } from './user.ts';

/** Numbers of ended credentials. */
export type EndedCredentials = { readonly tokens: number; readonly secretIds: number };

/**
 * All hand-overs, and all tokens and secret-ids of all tenants, but for what `stays`, the token that asks, has made `since`: what descends from it, secret-ids and root tokens that
 * it or those made, and what their logins gave. It goes on without the token that it came from. What another has made since a restore may be the
 * act of one that had ended after the backup, through any number of hands. A tenant but `system` whose root token ends may be given one again: otherwise nobody could get
 * in. Repeated, it ends what a kill has left.
 */
export async function endOtherCredentials(store: Store, stays: TokenName, since: Temporal.Instant): Promise<EndedCredentials> {
  await store.write((transaction) => uproot(transaction, store, stays.tenantId, stays.accessor));
  const isKept = isOwnSince(store, stays, since);
  let [tokens, secretIds] = [0, 0];
  for (let round = 1; round <= mostRounds; round++) {
    // Credentials that are about to end may make others meanwhile.
    const ids = await dropOtherSecretIds(store, isKept);
    const ended = await endOtherTokens(store, isKept);
    [tokens, secretIds] = [tokens + ended, secretIds + ids];
    if (ids + ended === 0) break;
  }
  await endAllHandOvers(store);
  return { tokens, secretIds };
}

const mostRounds = 8;

async function endOtherTokens(store: Store, isKept: (record: TokenRecord) => boolean): Promise<number> {
  store.refresh();
  // One that does not open may be put back as it was.
  const tokens = Array.from(tokenTable(store).entriesFound([])).filter(([, record]) => record instanceof Unreadable || !isKept(record));
  await writeInPieces(store, tokens, (transaction, [key, record]) => {
    if (record instanceof Unreadable) transaction.deleteUnreadable(tokenTable(store), key);
    else {
      if (isRoot(record)) allowRootToken(transaction, store, record.tenantId);
      removeToken(transaction, store, record.tenantId, record.accessor);
    }
  });
  return tokens.length;
}

/** A token or a secret-id. */
type Credential = Pick<TokenRecord, 'accessor' | 'tenantId' | 'creationTime' | 'parent' | 'madeBy'> & {
  readonly approle?: TokenRecord['approle'] | string;
};

/** Tells whether a credential is that token, or descends from it by parents and makers that all exist and were made since then. */
function isOwnSince(store: Store, own: TokenName, since: Temporal.Instant): (record: Credential) => boolean {
  const isEarly = (time: string | undefined): boolean => time === undefined || Temporal.Instant.compare(time, since) < 0;
  return (record) => {
    const seen = new Set<string>();
    for (let at: Credential = record; at.tenantId !== own.tenantId || at.accessor !== own.accessor;) {
      if (seen.has(at.accessor) || isEarly(at.creationTime)) return false;
      if (typeof at.approle === 'object' && isEarly(at.approle.secretIdCreationTime)) return false;
      seen.add(at.accessor);
      const from = at.parent === undefined ? at.madeBy : { tenantId: at.tenantId, accessor: at.parent };
      const found = from && tokenTable(store).getFound([from.tenantId, from.accessor]);
      if (found === undefined || found instanceof Unreadable) return false;
      at = found;
    }
    return true;
  };
}

/** As createRootToken makes it. */
function isRoot({ user, policies, expires, parent, approle }: TokenRecord): boolean {
  return user === rootUser && policies.join() === 'root' && expires === undefined && parent === undefined && approle === undefined;
}

function allowRootToken(transaction: WriteTransaction, store: Store, tenantId: string): void {
  const { table } = openTenants(store);
  const name = store.table<string>('tenant-names').getFound([tenantId]);
  // The caller is root there, and a start would make another token by itself.
  if (typeof name !== 'string' || name === systemTenantName || table.getFound([name]) instanceof Unreadable) return;
  const tenant = transaction.get(table, [name]);
  if (tenant?.uuid === tenantId) transaction.put(table, [name], { ...tenant, rootTokenIssued: false });
}
