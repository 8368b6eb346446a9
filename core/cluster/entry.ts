// Who is among the members: whether this appliance may come in, and how one that is lost for ever is removed.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import { defined } from '../base/defined.ts';
import { reasonOf } from '../base/errors.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { put, remove, revisionOf, unchangedSince } from '../etcd/messages.ts';
import type { Follower } from './follower.ts';
import { layout, placeOf } from './layout.ts';
import { clusterUnavailable } from './unavailable.ts';
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

/** How often members in the way are watched: a living one gives several signs each time. */
const mostLooks = 3;

/** What a removed appliance is told, whatever it tries. */
export const removedReason =
  'this appliance was removed from its cluster for ever: one that takes its place has an empty data directory and another cluster/name';

/**
 * Throws an Error with the reason when it may not. Members in the way are given the time in which a living one gives a sign:
 * after a power failure there are only those that have died. Resolves with the run of the predecessor of this process, if it did not say
 * goodbye.
 */
export async function requireEntry(parts: EntryParts): Promise<string | undefined> {
  const { client, id, self } = parts;
  const before = await readMembers(client);
  const barred = before.flatMap((one) => removalOf(parts, one) ?? [])[0];
  if (barred !== undefined) throw new Error(barred);
  const own = before.find((one) => one.id === id);
  const silentAt = await awaitSilence(parts, before);
  // What had our name and is gone leaves its place to us: an appliance that has lost its disk comes in with another identity. It may be declared
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
 * Watches the members in the way until none gives a sign for as long as one counts, a few times at most: a sign that one has sent before it died
 * may arrive late. Resolves with their revisions at the begin of the last of these times.
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

/** Throws an Error with the reason when this appliance was removed: it must not follow the others any more. */
export async function requireNotRemoved(client: EtcdClient, id: string): Promise<void> {
  const { kvs } = await client.range({ key: layout.member(id) });
  if (kvs.some(({ value }) => wasRemoved(decodeSign(value)))) throw new Error(removedReason);
}

/** Why the removal of a member keeps an appliance out. A name is never given again: audit trails and messages name appliances by it. */
function removalOf({ id, self }: EntryParts, other: Found): string | undefined {
  if (!wasRemoved(other)) return undefined;
  if (other.id === id) return removedReason;
  if (other.name !== self.name) return undefined;
  return `${self.name} is the name of an appliance that was removed from this cluster for ever: give this one another cluster/name`;
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

/** What it takes to say of another member what it is from now on. */
export type DeclarationParts = { readonly client: EtcdClient; readonly follower: Follower; readonly log: Log };

const declareMs = 1_000;
const againMs = 50;

/**
 * Says what another member is from now on. Wins only when it has given no sign since it was seen: none that it has sent can be committed
 * then. What became of it is in the view of the members when this resolves. Of one that is removed, no transaction can be committed any more
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

/** `alive`: it gives signs of life, and those were to be respected. `unknown`: there is no such member. */
export type RemovalOutcome = 'removed' | 'unknown' | 'alive';

/** Longer than a living member may answer, and than an election. */
const removalMs = 8_000;

/**
 * Removes a member for ever: it never comes in again, nor another one of its name. One that gives signs of life is removed with `evenIfAlive`
 * alone; its signs lose from the first moment, and it counts as removed when it can answer no more. Repeated, it has the same outcome. Rejects with
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
