// One appliance of a cluster: combines the follower of the shared store, the committer, and the heartbeats.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import type { Intent } from '../store/intent.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { hasValue, put } from '../etcd/messages.ts';
import { EtcdError } from '../etcd/outcome.ts';
import { awaitFitServers } from '../etcd/version.ts';
import { keepLevel, levelRefusal } from './agreed-level.ts';
import { OtherClocks } from './clocks.ts';
import { Committer } from './committer.ts';
import { type RemovalOutcome, removeMember, requireEntry, requireNotRemoved } from './entry.ts';
import { Follower } from './follower.ts';
import type { ForeignWrite } from './marks/foreign-writes.ts';
import { findSharedStore, bootstrapSharedStore, type SharedStoreSeen } from './bootstrap.ts';
import { LaneMarks } from './marks/lane-marks.ts';
import { epochValue, layout } from './layout.ts';
import { Presence } from './presence.ts';
import { ReplicaWriter } from './replica/replica-writer.ts';
import { type Limits, mostOperations } from './transaction.ts';
import { clusterUnavailable } from '../base/unavailable.ts';
import { isValid, Members, type MemberSelf, type Moment, type SeenMember } from './validity.ts';

export type MemberOptions = {
  readonly client: EtcdClient;
  /** directory of the store; only this process writes to it */
  readonly directory: string;
  /** never used by two processes at a time */
  readonly id: string;
  /** description of this appliance in every sign */
  readonly self: MemberSelf;
  /** required limits of a transaction; if etcd accepts more, ours may have more */
  readonly limits: Limits;
  readonly log: Log;
  readonly moment: () => Moment;
  /** called when position, members or validity have changed */
  readonly onChange: () => void;
  /** called once, with the reason, when this process must begin again: the shared store was made again, or another process is this member */
  readonly onEnded: (reason: string) => void;
  /** receives records in the shared store that no appliance has written */
  readonly onForeignWrite: (write: ForeignWrite) => void;
  /** as in FollowerParts; absent: false */
  readonly examines?: boolean;
};

/** Limit for the first sign, longer than an election. */
const firstSignMs = 10_000;
const lookEveryMs = 10;
/** Time for which a start waits for an etcd that does not answer: after a power failure it may start later. */
const patienceMs = 60_000;
const connectAgainMs = 500;

/** Parts that run once a shared store exists. */
type Following = {
  readonly shared: SharedStoreSeen;
  readonly members: Members;
  readonly clocks: OtherClocks;
  readonly marks: LaneMarks;
  readonly follower: Follower;
};

/**
 * Begins outside: it follows the shared store, or waits for `found` if none exists yet. From `enter` on it is a member, for which the
 * others wait.
 */
export class ClusterMember {
  readonly #options: MemberOptions;
  readonly #nowMs = (): number => this.#options.moment().monotonicMs;
  readonly #closing: (() => unknown)[] = [];
  #following: Following | undefined;
  #entering: Promise<void> | undefined;
  #presence: Presence | undefined;
  #committer: Committer | undefined;
  #limits: Limits;

  private constructor(options: MemberOptions) {
    this.#options = options;
    this.#limits = options.limits;
  }

  /**
   * Follows the shared store if it exists, and resolves with its whole state present. Throws an Error for an etcd that is too old, has too
   * low limits, or fails for a minute, for an appliance that was removed, and for a store with records of its own that would be lost.
   * Nothing stays open then.
   */
  static async connect(options: MemberOptions): Promise<ClusterMember> {
    for (const begunMs = performance.now(); ; await setTimeout(connectAgainMs)) {
      const member = new ClusterMember(options);
      try {
        await member.#connect();
        return member;
      } catch (error) {
        await member.stop();
        if (!(error instanceof EtcdError) || error.isRefused) throw error;
        // It answered a moment ago: an election is running, or the machine is overloaded.
        const reason = `etcd stopped answering while this appliance read the shared store (${error.message})`;
        if (performance.now() - begunMs > patienceMs)
          throw new Error(`${reason}: see that most of its members run and reach each other`, { cause: error });
        options.log.warn('waiting for etcd', { reason });
      }
    }
  }

  async #connect(): Promise<void> {
    const { client, id, self } = this.#options;
    await this.#awaitEtcd();
    await requireNotRemoved(client, id);
    const shared = await findSharedStore(client);
    if (shared === undefined) return this.#requireNeverFollowed();
    requireLevel(self, shared.level);
    await this.#follow(shared, this.#openReplica());
  }

  /** Reads the wrapped keys of the shared store from etcd; undefined while none exists. Rejects with EtcdError. */
  async wrappedKeys(): Promise<Uint8Array | undefined> {
    return this.#following === undefined ? undefined : (await findSharedStore(this.#options.client))?.wrappedKeys;
  }

  /** Replaces the wrapping of the same keys. False if they are no longer `from`. Rejects with `cluster-unavailable`. */
  async replaceWrappedKeys(from: Uint8Array, to: Uint8Array): Promise<boolean> {
    if (this.#following === undefined) throw clusterUnavailable('unchanged');
    const { shared, follower } = this.#following;
    const epoch = epochValue({ epoch: shared.epoch, level: follower.level });
    const compare = [hasValue(layout.epoch, epoch), hasValue(layout.wrappedKeys, from)];
    try {
      return (await this.#options.client.txn({ compare, success: [put(layout.wrappedKeys, to)], failure: [] })).succeeded;
    } catch (error) {
      throw clusterUnavailable('unknown', error);
    }
  }

  get epoch(): string | undefined {
    return this.#following?.shared.epoch;
  }

  /** Start of the validity (validity.ts); undefined: nothing may be answered. */
  get sent(): Moment | undefined {
    return this.#presence?.sent;
  }

  /** Revision of the shared store up to which everything is applied here. */
  get position(): number {
    return this.#following?.follower.position ?? 0;
  }

  /** Level of the formats of the records; undefined while no shared store exists. */
  get level(): number | undefined {
    return this.#following?.follower.level;
  }

  /** Revision up to which every appliance that may answer has applied everything. */
  get settled(): number {
    return this.#following?.members.settled(this.#following.follower.position) ?? 0;
  }

  /** As OtherClocks. */
  get othersStartMs(): number | undefined {
    return this.#following?.clocks.agreedStartMs(this.#nowMs());
  }

  get members(): ReadonlyMap<string, SeenMember> {
    return this.#following?.members.all ?? new Map();
  }

  /** Makes the shared store from the contents of the directory. Rejects if another appliance has made it, or is making it. */
  async bootstrap(wrappedKeys: Uint8Array): Promise<void> {
    if (this.#following !== undefined) throw new Error('another appliance has made the shared store: start this one again');
    const writer = this.#openReplica();
    const { client, self } = this.#options;
    await this.#follow(await bootstrapSharedStore(client, writer, { wrappedKeys, level: self.levels.newest }), writer);
  }

  /** Joins the members, once. Rejects with the reason if it may not (entry.ts); it can then be called again. */
  async enter(): Promise<void> {
    this.#entering ??= this.#enter();
    try {
      await this.#entering;
    } catch (error) {
      this.#entering = undefined;
      throw error;
    }
  }

  /** As Committer.commit. Until this process has joined, the commits of its predecessor are unknown. */
  async commit(caller: number, name: string, intent: Intent): Promise<'committed' | 'lost'> {
    await this.#entering?.catch(() => undefined);
    if (this.#committer === undefined) throw clusterUnavailable('unknown');
    return this.#committer.commit(caller, name, intent);
  }

  /** As SharedStore.untilSettled. */
  async untilSettled(revision: number): Promise<void> {
    await this.#entering?.catch(() => undefined);
    if (this.#committer === undefined) throw clusterUnavailable('late');
    await this.#committer.holdsEverywhere(revision);
  }

  /** As removeMember (entry.ts), for another member. */
  async remove(id: string, evenIfAlive: boolean): Promise<RemovalOutcome> {
    if (this.#following === undefined) throw clusterUnavailable('unchanged');
    const { client, log } = this.#options;
    return removeMember({ client, log, ...this.#following, nowMs: this.#nowMs }, id, evenIfAlive);
  }

  /** Says goodbye. Called when nothing is answered any longer. */
  async stop(): Promise<void> {
    for (const close of this.#closing.splice(0).toReversed()) await close();
  }

  async #awaitEtcd(): Promise<void> {
    const { client, limits, log } = this.#options;
    const most = Math.max(mostOperations, limits.operations);
    let told = '';
    const tell = (reason: string): void => {
      if (reason !== told) log.warn('waiting for etcd', { reason });
      told = reason;
    };
    const operations = await awaitFitServers(client, { least: limits.operations, most }, patienceMs, tell);
    this.#limits = { ...limits, operations };
  }

  #openReplica(): ReplicaWriter {
    const writer = new ReplicaWriter(this.#options.directory, this.#options.log);
    this.#closing.push(() => writer.close());
    return writer;
  }

  /** Refuses an etcd without a store to an appliance that has followed one: it is another etcd, or one that has lost its disks. */
  async #requireNeverFollowed(): Promise<void> {
    const { directory, log } = this.#options;
    if (!existsSync(join(directory, 'data.mdb'))) return;
    const writer = new ReplicaWriter(directory, log);
    const { position } = writer;
    await writer.close();
    if (position === undefined || position.founding === true) return;
    throw new Error(
      'etcd has no store of keystored, and this appliance has followed one: see that cluster/endpoints names the etcd of its cluster',
    );
  }

  async #follow(shared: SharedStoreSeen, writer: ReplicaWriter): Promise<void> {
    const { client, id, log, onEnded, onForeignWrite, examines = false } = this.#options;
    const [members, clocks] = [new Members(id), new OtherClocks(id)];
    const marks = new LaneMarks(writer, { appliance: id, epoch: shared.epoch });
    const follower = new Follower({
      ...{ client, writer, members, clocks, id, marks, epoch: shared.epoch, nowMs: this.#nowMs, log, onForeignWrite, examines },
      onReplaced: () => onEnded('the shared store was made again'),
      withdraw: async () => this.#presence?.withdraw(),
    });
    await follower.start();
    this.#closing.push(() => follower.stop());
    this.#following = { shared, members, clocks, marks, follower };
  }

  async #enter(): Promise<void> {
    const { client, id, self, moment, log, onChange, onEnded } = this.#options;
    if (this.#following === undefined) throw new Error('no shared store exists yet');
    const { follower, members, marks, shared } = this.#following;
    const { epoch } = shared;
    const formerRun = await requireEntry({ client, id, self });
    const ended: { reason?: string } = {};
    const presence = new Presence({
      ...{ client, follower, members, epoch, id, self, formerRun, moment, log, onChange },
      onLost(reason) {
        ended.reason = reason;
        onEnded(reason);
      },
    });
    presence.start();
    this.#presence = presence;
    try {
      // The lanes belong to the member: a copy of it must not touch them.
      for (const deadlineMs = this.#nowMs() + firstSignMs; presence.sent === undefined; await setTimeout(lookEveryMs)) {
        if (ended.reason !== undefined) throw new Error(ended.reason);
        if (this.#nowMs() > deadlineMs) throw new Error('the majority of etcd does not answer');
      }
      const mayAnswer = (): boolean => isValid(presence.sent, moment());
      const committer = await Committer.open({
        client,
        follower,
        members,
        marks,
        id,
        limits: this.#limits,
        mayAnswer,
        nowMs: this.#nowMs,
        log,
      });
      this.#committer = committer;
      this.#closing.push(
        () => committer.stop(),
        () => presence.stop(),
        keepLevel({ client, members, epoch, level: () => follower.level, log }),
      );
    } catch (error) {
      this.#presence = undefined;
      await presence.stop({ isServing: true });
      throw error;
    }
  }
}

function requireLevel(self: MemberSelf, level: number): void {
  const refusal = levelRefusal(self, level);
  if (refusal !== undefined) throw new Error(refusal);
}
