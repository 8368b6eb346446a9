// Invitations on record: the hash of the secret of each, until when it is good, and which appliance has used it.
import type { TableKinds } from '../../../core/store/records/table-kinds.ts';
import { fail, type ServiceError } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { Store, Table } from '../../../core/store/store.ts';
import { hasRegistered, isRegistered } from '../../audit/chain-records.ts';

/** SHA-256 of the public keys of the requests of an appliance, hexadecimal: the holder of these keys is that appliance. */
export type RequestKeys = { readonly peer: string; readonly client?: string | undefined };

/** An appliance that asks with an invitation. */
export type Asking = { readonly appliance: string; readonly name: string; readonly keys: RequestKeys };

type Use = {
  readonly appliance: string;
  readonly name: string;
  readonly at: string;
  /** absent in records of earlier versions: then no appliance matches */
  readonly keys?: RequestKeys;
};

type Invited = {
  readonly expires: string;
  /** user of the token that invited */
  readonly by: string;
  /** the only name that an appliance may have which comes by it; absent: any */
  readonly member?: string;
  readonly usedBy?: Use;
};

/** An invitation as it is shown. */
export type ShownInvitation = Pick<Invited, 'expires' | 'by' | 'member'> & {
  readonly id: string;
  /** `used`: its appliance has not come in yet. `over`: it has, or was removed */
  readonly state: 'open' | 'used' | 'over';
  readonly usedBy?: Pick<Use, 'appliance' | 'name' | 'at'>;
};

const table = (store: Store): Table<Invited> => store.table<Invited>('cluster-invitations');
/** Good for an hour, and for the members that there are. */
export const invitationTableKinds: TableKinds = { 'cluster-invitations': { of: 'cluster' } };
const goodForSeconds = 3_600;
/** As long as the certificates of an appliance that was admitted and did not come in. */
const rememberedSeconds = 90 * 86_400;
const idLength = 16;

/** Names an invitation where people see it; the secret is not found by it. */
export const idOfInvitation = (hash: string): string => hash.slice(0, idLength);

/** Answers until when it is good. Those that are over go. `member`: the name of the one appliance that may come by it. */
export async function recordInvitation(
  store: Store,
  now: Temporal.Instant,
  hash: string,
  { by, member }: Pick<Invited, 'by'> & { readonly member?: string | undefined },
): Promise<Temporal.Instant> {
  const expires = now.add({ seconds: goodForSeconds });
  await store.write((transaction) => {
    for (const [key, one] of Array.from(transaction.entries(table(store), [])))
      if (isForgotten(one, now, (appliance) => isRegistered(transaction, store, appliance))) transaction.delete(table(store), key);
    transaction.put(table(store), [hash], { expires: formatTimestamp(expires), by, ...(member === undefined ? {} : { member }) });
  });
  return expires;
}

/** Refuses callers without the secret of an invitation: they learn nothing, at no cost. Throws `login-failed`. */
export function requireInvitation(store: Store, now: Temporal.Instant, hash: string): void {
  store.refresh();
  requireGood(table(store).get([hash]), now);
}

/**
 * Counts the one use. The same appliance may ask again, because an answer can be lost: the same is who proves the keys of the first time,
 * until it has come in. `isIn`: it has sent a heartbeat. Answers the id of the invitation. Throws `login-failed` and `operation-refused`.
 */
export async function redeemInvitation(
  store: Store,
  now: Temporal.Instant,
  hash: string,
  { appliance, name, keys }: Asking,
  isIn = false,
): Promise<string> {
  return store.write((transaction) => {
    const invited = requireGood(transaction.get(table(store), [hash]), now);
    const { usedBy, member } = invited;
    const isKnown = isIn || isRegistered(transaction, store, appliance);
    if (usedBy !== undefined && (isKnown || usedBy.appliance !== appliance || !isSame(usedBy.keys, keys))) throw notAccepted();
    if (isKnown) throw taken();
    if (member !== undefined && member !== name) {
      throw fail('operation-refused', {
        detail: `The invitation is for the appliance named "${member}": give the new one that cluster/name.`,
      });
    }
    const used = { appliance, name, at: usedBy?.at ?? formatTimestamp(now), keys: { ...usedBy?.keys, ...known(keys) } };
    transaction.put(table(store), [hash], { ...invited, usedBy: used });
    return idOfInvitation(hash);
  });
}

/** The newest last. */
export function listInvitations(store: Store, now: Temporal.Instant): readonly ShownInvitation[] {
  store.refresh();
  return Array.from(table(store).entries([]))
    .filter(([, one]) => !isForgotten(one, now, (appliance) => hasRegistered(store, appliance)))
    .map(([[hash], one]) => shown(store, String(hash), one))
    .toSorted((one, other) => (one.expires < other.expires ? -1 : 1));
}

/**
 * Withdraws an invitation, so that it admits no one. Answers the appliance that has used it without joining. Throws `not-found` and
 * `operation-refused`.
 */
export function withdrawInvitation(store: Store, id: string): Promise<string | undefined> {
  return store.write((transaction) => {
    const found = Array.from(transaction.entries(table(store), [])).find(([[hash]]) => idOfInvitation(String(hash)) === id);
    if (found === undefined)
      throw fail('not-found', { detail: `There is no invitation with the id "${id}": the list of invitations has them.` });
    const [key, { usedBy }] = found;
    if (usedBy !== undefined && isRegistered(transaction, store, usedBy.appliance)) {
      throw fail('operation-refused', {
        detail: `"${usedBy.name}" has come in by this invitation, which is over: remove that appliance, if it is not to be in the cluster.`,
      });
    }
    transaction.delete(table(store), key);
    return usedBy?.appliance;
  });
}

function shown(store: Store, hash: string, { expires, by, member, usedBy }: Invited): ShownInvitation {
  const state = usedBy === undefined ? 'open' : hasRegistered(store, usedBy.appliance) ? 'over' : 'used';
  return {
    ...{ id: idOfInvitation(hash), state, expires, by },
    ...(member === undefined ? {} : { member }),
    ...(usedBy === undefined ? {} : { usedBy: { appliance: usedBy.appliance, name: usedBy.name, at: usedBy.at } }),
  };
}

/** The first time a key is named, it is taken; from then on it is that one. */
function isSame(known: RequestKeys | undefined, asked: RequestKeys): boolean {
  if (known === undefined || known.peer !== asked.peer) return false;
  return known.client === undefined || asked.client === undefined || known.client === asked.client;
}

function known({ peer, client }: RequestKeys): RequestKeys {
  return { peer, ...(client === undefined ? {} : { client }) };
}

function requireGood(invited: Invited | undefined, now: Temporal.Instant): Invited {
  if (invited === undefined || isOver(invited, now)) throw notAccepted();
  return invited;
}

function notAccepted(): ServiceError {
  return fail('login-failed', {
    detail: 'The invitation is not accepted: it was used, or its hour is over. Invite again with "keystorectl cluster invite".',
  });
}

function taken(): ServiceError {
  return fail('operation-refused', {
    detail: 'An appliance of the cluster has this identity, or had it: start the new one with an empty data directory.',
  });
}

function isOver({ expires }: Invited, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(expires, now) <= 0;
}

/** Of an appliance that was admitted and has not come in, it says so for as long as it can: its certificates are good. */
function isForgotten(invited: Invited, now: Temporal.Instant, isIn: (appliance: string) => boolean): boolean {
  const { usedBy } = invited;
  if (!isOver(invited, now)) return false;
  if (usedBy === undefined || isIn(usedBy.appliance)) return true;
  return Temporal.Instant.compare(now, Temporal.Instant.from(usedBy.at).add({ seconds: rememberedSeconds })) > 0;
}
