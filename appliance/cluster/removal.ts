// Removes a permanently lost appliance from its cluster, on record: membership, jobs, its own records, and its audit trail.
import type { Caller } from '../../core/access/caller.ts';
import type { LostTrail } from '../../core/audit/chains.ts';
import { fail, type ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { RunningPlugins } from '../../core/plugin/lifecycle.ts';
import type { OpenStore } from '../../core/store/open.ts';
import { dropRecordsOf, type TableKinds } from '../../core/store/records/table-kinds.ts';
import { type Departure, hasRegistered, recordDeparture, signedChainsOf } from '../audit/chain-records.ts';
import type { ClusterState, ClusterWay, SeenAppliance } from './cluster-way.ts';

export type RemovalParts = {
  readonly cluster: ClusterWay;
  readonly store: OpenStore;
  readonly kinds: TableKinds;
  readonly state: ClusterState;
  readonly running: () => Pick<RunningPlugins, 'dropAppliance'>;
};

/** The appliance to be removed, and whether it may still be there. */
export type WantedRemoval = {
  /** name or id */
  readonly member: string;
  readonly evenIfAlive: boolean;
  readonly by: Pick<Caller, 'user'>;
  readonly now: Temporal.Instant;
};

export type Removed = Departure & LostTrail;

/**
 * Idempotent: after an interruption between its two steps, the membership has ended and the record is missing. An appliance whose place
 * another has taken after a lost disk is no longer a member; by its id, only the loss of its trail is recorded. Uses of keys that an
 * appliance had reserved stay counted, because it is unknown how many it made. Throws `not-found`, `operation-refused` and `cluster-
 * unavailable`.
 */
export async function removeAppliance(parts: RemovalParts, wanted: WantedRemoval): Promise<Removed> {
  const { store, state } = parts;
  const member = findOther(state, wanted.member);
  if (member !== undefined) await endMembership(parts, member, wanted);
  else if (!hasRegistered(store, wanted.member)) throw unknown(wanted.member);
  const { id, name } = member ?? { id: wanted.member, name: wanted.member };
  const departure = await store.write((transaction) => {
    parts.running().dropAppliance(transaction, id);
    dropRecordsOf(transaction, store, parts.kinds, id);
    return recordDeparture(transaction, store, id, { name, at: formatTimestamp(wanted.now), by: wanted.by.user });
  });
  return { ...departure, appliance: id, chains: signedChainsOf(store, id) };
}

async function endMembership({ cluster }: RemovalParts, member: SeenAppliance, { evenIfAlive }: WantedRemoval): Promise<void> {
  const outcome = await cluster.remove(member.id, evenIfAlive);
  if (outcome === 'unknown') throw unknown(member.name);
  if (outcome === 'removed') return;
  throw fail('operation-refused', {
    detail:
      `"${member.name}" sent a heartbeat ${(member.silentMs / 1_000).toFixed(1)} s ago: stop it first. ` +
      'With "even-if-alive" it is removed all the same, and refuses everything within two seconds.',
  });
}

/** The member of that id, or else of that name. Refuses this appliance. */
function findOther({ id: own, members }: ClusterState, wanted: string): SeenAppliance | undefined {
  const found = members.find(({ id }) => id === wanted) ?? members.find(({ name }) => name === wanted);
  if (found?.id !== own) return found;
  const isLast = members.every(({ id, state }) => id === own || state === 'removed');
  throw fail('operation-refused', {
    detail: isLast
      ? `"${found.name}" is the last appliance of its cluster, and is not removed: a restored backup of it stands alone.`
      : `"${found.name}" is the appliance that was asked, and none removes itself: ask another one.`,
  });
}

function unknown(wanted: string): ServiceError {
  return fail('not-found', { detail: `No appliance of the cluster has the name or id "${wanted}": the state of the cluster lists them.` });
}
