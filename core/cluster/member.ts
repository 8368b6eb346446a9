// One appliance of a cluster: what follows the shared store, commits to it and says that it is there, put together.
import type { Log } from '../base/context.ts';
import type { Intent } from '../store/intent.ts';
import { loadDeadlineMs, type EtcdClient } from '../etcd/client.ts';
import type { Operation } from '../etcd/messages.ts';
import { EtcdError } from '../etcd/outcome.ts';
import { requireFitServers } from '../etcd/version.ts';
import { Committer } from './committer.ts';
import { Follower } from './follower.ts';
import { findEpoch, foundSharedStore } from './founding.ts';
import { layout } from './layout.ts';
import { Presence } from './presence.ts';
import { ReplicaWriter } from './replica-writer.ts';
import type { Limits } from './transaction.ts';
import { isValid, Members, type Moment, type SeenMember } from './validity.ts';

export type MemberOptions = {
  readonly client: EtcdClient;
  /** of the store; no process but this one writes to it */
  readonly directory: string;
  /** never used by two processes at a time */
  readonly id: string;
  /** for people */
  readonly name: string;
  readonly limits: Limits;
  readonly log: Log;
  readonly moment: () => Moment;
  /** Told when position, members or validity have changed. */
  readonly onChange: () => void;
  /** The shared store was made again: this process has to begin again. */
  readonly onReplaced: () => void;
};

/** What became of a member that has joined. */
export type ClusterMember = {
  readonly epoch: string;
  /** As Committer.commit. */
  commit(name: string, intent: Intent): Promise<'committed' | 'lost'>;
  /** From when the validity counts (validity.ts); undefined: nothing may be answered. */
  readonly sent: Moment | undefined;
  readonly position: number;
  readonly members: ReadonlyMap<string, SeenMember>;
  /** Says goodbye; call it when nothing is answered any more. */
  stop(): Promise<void>;
};

/**
 * Begins to follow the shared store, or makes it of what is in the directory when there is none. Throws an Error for an etcd that is too old
 * or too narrow, and for a store with records of its own that would be lost. Nothing stays open then.
 */
export async function joinCluster(options: MemberOptions): Promise<ClusterMember> {
  const { client, directory, id, name, limits, log, moment, onChange, onReplaced } = options;
  const nowMs = (): number => moment().monotonicMs;
  const writer = new ReplicaWriter(directory, log);
  const closing: (() => unknown)[] = [() => writer.close()];
  const stop = async (): Promise<void> => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    await requireFitServers(client);
    await requireLimits(client, limits);
    const epoch = (await findEpoch(client)) ?? (await foundSharedStore(client, writer));
    const members = new Members(id);
    const follower = new Follower({ client, writer, members, epoch, nowMs, log, onReplaced, withdraw: () => presence.withdraw() });
    const presence = new Presence({ client, follower, members, id, name, moment, log, onChange });
    await follower.start();
    closing.push(() => follower.stop());
    const mayAnswer = (): boolean => isValid(presence.sent, moment());
    const committer = await Committer.open({ client, follower, members, id, limits, mayAnswer, nowMs, log });
    closing.push(() => committer.stop());
    presence.start();
    closing.push(() => presence.stop());
    return {
      epoch,
      commit: (name, intent) => committer.commit(name, intent),
      get sent() {
        return presence.sent;
      },
      get position() {
        return follower.position;
      },
      members: members.all,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Tries a transaction of as many operations as ours may have: a server with lower limits would refuse one much later. */
async function requireLimits(client: EtcdClient, { operations }: Limits): Promise<void> {
  const read: Operation = { request_range: { key: layout.epoch } };
  try {
    await client.txn({ compare: [], success: Array.from({ length: operations }, () => read), failure: [] }, loadDeadlineMs);
  } catch (error) {
    if (!(error instanceof EtcdError && error.isRefused)) throw error;
    throw new Error(`etcd refuses transactions of ${operations} operations: start all its members with --max-txn-ops=${operations}`, {
      cause: error,
    });
  }
}
