// Invitations on record: the hash of the secret of each, until when it is good, and which appliance has used it.
import { fail } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { Store, Table } from '../../core/store/store.ts';

type Invited = {
  readonly expires: string;
  /** user of the token that invited */
  readonly by: string;
  readonly usedBy?: { readonly appliance: string; readonly name: string; readonly at: string };
};

const table = (store: Store): Table<Invited> => store.table<Invited>('cluster-invitations');
const goodForSeconds = 3_600;

/** Answers until when it is good. Those that are over go. */
export async function recordInvitation(store: Store, now: Temporal.Instant, hash: string, by: string): Promise<Temporal.Instant> {
  const expires = now.add({ seconds: goodForSeconds });
  await store.write((transaction) => {
    for (const [key, one] of Array.from(transaction.entries(table(store), []))) if (isOver(one, now)) transaction.delete(table(store), key);
    transaction.put(table(store), [hash], { expires: formatTimestamp(expires), by });
  });
  return expires;
}

/** Counts the one use. The same appliance may ask again, because an answer can be lost. Throws `login-failed`. */
export async function redeemInvitation(
  store: Store,
  now: Temporal.Instant,
  hash: string,
  used: { readonly appliance: string; readonly name: string },
): Promise<void> {
  await store.write((transaction) => {
    const invited = transaction.get(table(store), [hash]);
    if (invited === undefined || isOver(invited, now) || (invited.usedBy !== undefined && invited.usedBy.appliance !== used.appliance)) {
      throw fail('login-failed', {
        detail: 'The invitation is not accepted: it was used, or its hour is over. Invite again with "keystorectl cluster invite".',
      });
    }
    transaction.put(table(store), [hash], { ...invited, usedBy: { ...used, at: formatTimestamp(now) } });
  });
}

function isOver({ expires }: Invited, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(expires, now) <= 0;
}
