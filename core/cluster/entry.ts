// Whether this appliance may come in among the members: nobody runs under its identity or its name, and all run the same program.
import { setTimeout } from 'node:timers/promises';
import type { EtcdClient } from '../etcd/client.ts';
import { remove, revisionOf, unchangedSince } from '../etcd/messages.ts';
import { layout, placeOf } from './layout.ts';
import { decodeSign, type MemberSign, waitMs } from './validity.ts';

export type EntryParts = {
  readonly client: EtcdClient;
  readonly id: string;
  readonly self: Pick<MemberSign, 'name' | 'version' | 'run'>;
};

type Found = MemberSign & { readonly id: string; readonly revision: number };

/**
 * Throws an Error with the reason when it may not. Members in the way are given the time in which a living one gives a sign:
 * after a power failure there are only those that have died. Resolves with the run of the predecessor of this process, if it did not say
 * goodbye.
 */
export async function requireEntry(parts: EntryParts): Promise<string | undefined> {
  const { client, id, self } = parts;
  const before = await readMembers(client);
  const own = before.find((one) => one.id === id);
  const inTheWay = before.filter((one) => conflictOf(parts, one) !== undefined);
  if (inTheWay.length > 0) {
    await setTimeout(waitMs);
    const revisions = new Map(inTheWay.map((one) => [one.id, one.revision]));
    const after = (await readMembers(client)).filter((one) => revisions.has(one.id));
    const conflict = after.flatMap((one) => (one.revision === revisions.get(one.id) ? [] : (conflictOf(parts, one) ?? [])))[0];
    if (conflict !== undefined) throw new Error(conflict);
  }
  // What had our name and is gone has left its place to us: an appliance that has lost its disk comes in with another identity.
  for (const { id: other, revision, name } of before) {
    if (other === id || name !== self.name) continue;
    const key = layout.member(other);
    await client.txn({ compare: [unchangedSince(key, revision)], success: [remove({ key })], failure: [] });
  }
  return own?.state === 'in' ? own.run : undefined;
}

function conflictOf({ id, self }: EntryParts, other: Found): string | undefined {
  if (other.state === 'out') return undefined;
  if (other.id === id) {
    if (other.run === self.run) return undefined;
    return `another appliance runs with the identity of this one: one of their data directories is a copy, from which cluster.json has to be removed`;
  }
  if (other.name === self.name) return `another appliance of the cluster is named ${self.name}: give this one another cluster/name`;
  if (other.version === self.version) return undefined;
  return `the appliance ${other.name} runs version ${other.version}, this one is ${self.version}: a cluster runs one version, so stop all of them, install it, and start them again`;
}

async function readMembers(client: EtcdClient): Promise<readonly Found[]> {
  const { kvs } = await client.range(layout.members);
  return kvs.flatMap(({ key, value, mod_revision: modified }) => {
    const place = placeOf(key);
    return place.kind === 'member' ? [{ ...decodeSign(value), id: place.id, revision: revisionOf(modified) }] : [];
  });
}
