// Membership: decides whether this appliance may join, and removes a permanently lost one.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import { defined } from '../base/defined.ts';
import { reasonOf } from '../base/errors.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { put, remove, revisionOf, unchangedSince } from '../etcd/messages.ts';
import type { Follower } from './follower.ts';
import { layout, placeOf } from './layout.ts';
import { clusterUnavailable } from '../base/unavailable.ts';
import {
  decodeSign,
  encodeSign,
  wasRemoved,
  isWaitedFor,
  type Members,
  type MemberSelf,
  type MemberSign,
  type MemberState,
  type SeenMember,
  waitMsFor,
} from './validity.ts';

export type EntryParts = {
  readonly client: EtcdClient;
  readonly id: string;
  readonly self: MemberSelf;
};

type Found = MemberSign & { readonly id: string; readonly revision: number };

/** Number of watches of conflicting members: a living one gives several signs in each. */
const mostLooks = 3;

/** Answer to a removed appliance, for everything it tries. */
export const removedReason =
  'this appliance was permanently removed from its cluster: a replacement needs an empty data directory and another cluster/name';

/**
 * Throws an Error with the reason if this appliance may not join. Conflicting members get the time in which a living one gives a sign:
 * after a power failure all of them have died. Resolves with the run of the predecessor of this process, if it did not say
 * goodbye.
 */
export async function requireEntry(parts: EntryParts): Promise<string | undefined> {
  const { client, id, self } = parts;
  const before = await readMembers(client);
  const barred = before.flatMap((one) => removalOf(parts, one) ?? [])[0];
  if (barred !== undefined) throw new Error(barred);
  const own = before.find((one) => one.id === id);
  const silentAt = await awaitSilence(parts, before);
  // A gone member with this name leaves its place to this appliance: one that has lost its disk joins with another identity. It may be declared
  // out meanwhile, or give a sign.
  for (;;) {
    const after = await readMembers(client);
    const conflict = after.flatMap((one) => (one.revision === silentAt.get(one.id) ? [] : (conflictOf(parts, one) ?? [])))[0];
    if (conflict !== undefined) throw new Error(conflict);
    const former = after.filter((one) => one.id !== id && one.name === self.name);
    if (former.length === 0) break;
    await client.txn({
      compare: former.map((one) => unchangedSince(layout.member(one.id), one.revision)),
      success: former.map((one) => remove({ key: layout.member(one.id) })),
      failure: [],
    });
  }
  return own?.state === 'in' ? own.run : undefined;
}

/**
 * Watches the conflicting members until none gives a sign for as long as one counts, a few times at most: a sign sent before its member died
 * may arrive late. Resolves with their revisions at the beginning of the last watch.
 */
async function awaitSilence(parts: EntryParts, before: readonly Found[]): Promise<ReadonlyMap<string, number>> {
  const inTheWay = (members: readonly Found[]): readonly Found[] => members.filter((one) => conflictOf(parts, one) !== undefined);
  let watched = inTheWay(before);
  for (let looks = 1; ; looks++) {
    const revisions = new Map(watched.map((one) => [one.id, one.revision]));
    if (watched.length === 0) return revisions;
    await setTimeout(Math.max(...watched.map(waitMsFor)));
    watched = inTheWay(await readMembers(parts.client));
    if (looks === mostLooks || watched.every(({ id, revision }) => revisions.get(id) === revision)) return revisions;
  }
}

/** Throws an Error with the reason if this appliance was removed: it must no longer follow the others. */
export async function requireNotRemoved(client: EtcdClient, id: string): Promise<void> {
  const { kvs } = await client.range({ key: layout.member(id) });
  if (kvs.some(({ value }) => wasRemoved(decodeSign(value)))) throw new Error(removedReason);
}

/** Reason for which the removal of a member excludes an appliance. A name is never reused: audit trails and messages name appliances by it. */
function removalOf({ id, self }: EntryParts, other: Found): string | undefined {
  if (!wasRemoved(other)) return undefined;
  if (other.id === id) return removedReason;
  if (other.name !== self.name) return undefined;
  return `${self.name} is the name of an appliance that was permanently removed from this cluster: give this one another cluster/name`;
}

function conflictOf({ id, self }: EntryParts, other: Found): string | undefined {
  if (!isWaitedFor(other)) return undefined;
  if (other.id === id) {
    if (other.run === self.run) return undefined;
    return `another appliance runs with the identity of this one: one of their data directories is a copy, from which cluster.json has to be removed`;
  }
  if (other.name !== self.name) return undefined;
  return `another appliance of the cluster is named ${self.name}: give this one another cluster/name`;
}

async function readMembers(client: EtcdClient): Promise<readonly Found[]> {
  const { kvs } = await client.range(layout.members);
  return kvs.flatMap(({ key, value, mod_revision: modified }) => {
    const place = placeOf(key);
    return place.kind === 'member' ? [{ ...decodeSign(value), id: place.id, revision: revisionOf(modified) }] : [];
  });
}

/** Parts needed to declare the state of another member. */
export type DeclarationParts = { readonly client: EtcdClient; readonly follower: Follower; readonly log: Log };

const declareMs = 1_000;
const againMs = 50;

/**
 * Declares the state of another member. Wins only if the member has given no sign since it was seen: none of its sent signs can be committed
 * then. The outcome is in the view of the members when this resolves. A removed member can no longer commit a transaction
 * either, because each compares a lane.
 */
export async function declareMember(
  { client, follower, log }: DeclarationParts,
  id: string,
  { name, version, levels, validMs, run, publicUrl, applied, revision }: SeenMember,
  state: MemberState,
): Promise<void> {
  const key = layout.member(id);
  const lanes = state === 'removed' ? [remove(layout.lanes(id))] : [];
  try {
    const { succeeded, header } = await client.txn(
      {
        compare: [unchangedSince(key, revision)],
        success: [put(key, encodeSign({ name, version, levels, validMs, run, state, applied, ...defined({ publicUrl }) })), ...lanes],
        failure: [],
      },
      declareMs,
    );
    if (succeeded) log.warn(`a member was declared ${state}`, { member: name });
    await follower.reaches(revisionOf(header.revision), declareMs);
  } catch (error) {
    log.warn(`a member could not be declared ${state}`, { member: name, reason: reasonOf(error) });
    await setTimeout(againMs);
  }
}

export type RemovalParts = DeclarationParts & { readonly members: Members; readonly nowMs: () => number };

/** Outcome of a removal. `alive`: refused, because the member sends heartbeats. `unknown`: no such member exists. */
export type RemovalOutcome = 'removed' | 'unknown' | 'alive';

/** Patience, longer than the validity of a living member and than an election. */
const removalMs = 8_000;

/**
 * Removes a member permanently: neither it nor another one with its name can join again. One that sends heartbeats is removed with `evenIfAlive`
 * only; its signs lose from the first moment, and it counts as removed when it can no longer answer. Idempotent. Rejects with
 * `cluster-unavailable` while etcd does not answer.
 */
export async function removeMember(parts: RemovalParts, id: string, evenIfAlive: boolean): Promise<RemovalOutcome> {
  const { members, nowMs } = parts;
  for (const deadlineMs = nowMs() + removalMs; nowMs() < deadlineMs;) {
    const member = members.all.get(id);
    if (member === undefined) return 'unknown';
    const silentMs = nowMs() - member.seenMs;
    if (member.state === 'removed') return 'removed';
    if (member.state === 'out' || silentMs > waitMsFor(member)) await declareMember(parts, id, member, 'removed');
    else if (member.state === 'removing') await setTimeout(waitMsFor(member) - silentMs + 1);
    else if (evenIfAlive) await declareMember(parts, id, member, 'removing');
    else return 'alive';
  }
  throw clusterUnavailable('unknown');
}
