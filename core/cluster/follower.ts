// Follows the shared store: keeps a watch, applies its revisions to the replica in order, and says how far that has come.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import { describeKey } from '../store/tables.ts';
import type { EtcdClient, Watching } from '../etcd/client.ts';
import { revisionOf } from '../etcd/messages.ts';
import { Assembly, type Revision } from './replica/assembly.ts';
import { type ForeignWrite, foreignWrites, memberAt } from './marks/foreign-writes.ts';
import type { LaneMarks } from './marks/lane-marks.ts';
import { layout, placeOf, readEpoch } from './layout.ts';
import { loadReplica } from './replica/load.ts';
import type { OtherClocks } from './clocks.ts';
import type { ReplicaWriter } from './replica/replica-writer.ts';
import { decodeSign, type Members, validMs } from './validity.ts';

export type FollowerParts = {
  readonly client: EtcdClient;
  readonly writer: ReplicaWriter;
  readonly members: Members;
  readonly clocks: OtherClocks;
  readonly epoch: string;
  /** of this appliance */
  readonly id: string;
  readonly marks: LaneMarks;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Called before the replica is filled, which takes it through states that never were: resolves when nothing is answered from it. */
  readonly withdraw: () => Promise<void>;
  /** The shared store is not the one that was followed any more; nothing is applied from then on. */
  readonly onReplaced: () => void;
  /** Whether what is in the replica is compared with what was written to it: at a start of the appliance, when nobody waits for this process. */
  readonly examines: boolean;
  /** Told of records that no appliance has written. */
  readonly onForeignWrite: (write: ForeignWrite) => void;
};

/** What was applied: how far the replica has come, and whether records changed. */
type Applied = { readonly position: number; readonly hasRecords: boolean };

/** Keys of records in a line of the log. */
const mostNamed = 5;
/** Events of one commit to LMDB, which runs without a pause for signs of life. */
const sliceEvents = 500;
const firstRetryMs = 50;
const longestRetryMs = 1_000;
/** A watch that is quiet is asked how far it has come. */
const askEveryMs = 50;

export class Follower {
  readonly #parts: FollowerParts;
  readonly #listeners = new Set<(applied: Applied) => void>();
  readonly #stopping = new AbortController();
  #position = 0;
  /** who is a member is known from there on */
  #membersFrom = 0;
  #watching: Watching | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Everything up to this revision of the shared store is in the replica. */
  get position(): number {
    return this.#position;
  }

  /** Of the records that are here. */
  get level(): number {
    return this.#parts.writer.level;
  }

  /** Fills the replica when it cannot go on from where it is, reads who the members are, and begins to follow. */
  async start(): Promise<void> {
    const { client, writer, members, epoch, nowMs, examines, log } = this.#parts;
    if (examines && (await writer.distrustIfChanged()))
      log.error('the replica does not hold what was written to it last: all of the shared store is fetched again');
    const position = writer.position;
    const canGoOn = position?.epoch === epoch && position.filling === undefined;
    if (writer.hasOwnRecords(epoch))
      throw new Error('this appliance has records of its own, which would be lost: only a new one can join a cluster');
    // A predecessor of this process may have said a moment ago that this appliance may answer.
    if (!canGoOn && position !== undefined) await setTimeout(validMs);
    this.#position = canGoOn ? position.revision : await loadReplica(client, writer, epoch);
    const { kvs, header } = await client.range(layout.members);
    this.#membersFrom = revisionOf(header.revision);
    for (const { key, value, mod_revision: modified } of kvs) {
      const place = placeOf(key);
      if (place.kind === 'member') members.see(place.id, decodeSign(value), revisionOf(modified), nowMs());
    }
    this.#running = this.#follow();
  }

  /** Told after each step. Returns what ends it. */
  onApplied(listener: (applied: Applied) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether the replica has everything up to a revision, waiting for it no longer than given. */
  async reaches(revision: number, withinMs: number): Promise<boolean> {
    if (this.#position >= revision) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = this.onApplied(({ position }) => {
      if (position >= revision) resolve(true);
    });
    // Revisions of others in the same etcd are not in our watch: only the watch itself can tell that there is nothing in them.
    const asking = setInterval(() => this.#watching?.requestProgress(), askEveryMs);
    const late = AbortSignal.timeout(withinMs);
    late.addEventListener('abort', () => resolve(false), { once: true });
    try {
      return await promise;
    } finally {
      clearInterval(asking);
      end();
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#watching?.cancel();
    await this.#running;
  }

  async #follow(): Promise<void> {
    const { client, writer, epoch, log } = this.#parts;
    for (let retryMs = firstRetryMs; !this.#stopping.signal.aborted; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      const before = this.#position;
      try {
        if (await this.#watchOnce()) {
          log.warn('the shared store was compacted beyond what is here; fetching all of it');
          await this.#parts.withdraw();
          this.#moveTo(await loadReplica(client, writer, epoch), true);
        }
      } catch (error) {
        log.warn('the watch of the shared store ended', { reason: reasonOf(error) });
      }
      if (this.#position > before) retryMs = firstRetryMs;
      await setTimeout(retryMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  /** Resolves or rejects when the watch has ended and what it brought is applied. True: the revisions after the position are gone. */
  async #watchOnce(): Promise<boolean> {
    const assembly = new Assembly(this.#position);
    const inbox: Revision[] = [];
    let position = this.#position;
    let isCompacted = false;
    let end: { readonly reason: unknown } | undefined;
    let wake = Promise.withResolvers<void>();
    const endWith = (reason: unknown): void => {
      end ??= { reason };
      wake.resolve();
    };
    const watching = this.#parts.client.watch({
      range: layout.all,
      startRevision: this.#position + 1,
      onAnswer(answer) {
        try {
          const progress = assembly.take(answer);
          inbox.push(...progress.revisions);
          position = progress.position ?? progress.revisions.at(-1)?.revision ?? position;
          isCompacted ||= progress.isCompacted === true;
          if (isCompacted || progress.ended !== undefined) endWith(new Error(progress.ended ?? 'compacted'));
          wake.resolve();
        } catch (error) {
          endWith(error);
        }
      },
      onEnd: endWith,
    });
    this.#watching = watching;
    try {
      for (;;) {
        while (inbox.length > 0) await this.#apply(inbox.splice(0, countOf(inbox)));
        if (position > this.#position) this.#moveTo(position, false);
        if (isCompacted) return true;
        if (end !== undefined) throw end.reason;
        await wake.promise;
        wake = Promise.withResolvers();
      }
    } finally {
      watching.cancel();
    }
  }

  /** A full disk does not lose a revision: the commit is tried again until it works. */
  async #apply(revisions: readonly Revision[]): Promise<void> {
    const { writer, epoch, log } = this.#parts;
    const last = revisions.at(-1)?.revision ?? this.#position;
    const places = revisions.flatMap(({ events }) => events.map(({ key, value }) => ({ place: placeOf(key), value })));
    if (places.some(({ place, value }) => place.kind === 'epoch' && (value === undefined || readEpoch(value).epoch !== epoch))) {
      this.#stopping.abort();
      this.#parts.onReplaced();
      throw new Error('the shared store was made again');
    }
    const foreign = this.#foreignIn(revisions);
    for (const { revision, records } of foreign) {
      const named = records.slice(0, mostNamed).map(describeKey);
      log.error('records of the shared store were changed by no appliance: somebody has a key for etcd, or has put back a copy of it', {
        revision,
        records: records.length,
        named,
      });
    }
    for (;;) {
      this.#stopping.signal.throwIfAborted();
      try {
        await writer.apply(revisions, { epoch, revision: last }, this.#parts.marks.encoded);
        break;
      } catch (error) {
        log.error('what others changed cannot be stored here', { reason: reasonOf(error) });
        await setTimeout(longestRetryMs, undefined, { signal: this.#stopping.signal });
      }
    }
    for (const write of foreign) this.#parts.onForeignWrite(write);
    this.#seeMembers(revisions);
    this.#moveTo(
      last,
      places.some(({ place }) => place.kind === 'record'),
    );
  }

  #foreignIn(revisions: readonly Revision[]): readonly ForeignWrite[] {
    const { id, marks, members } = this.#parts;
    const isMemberAt = memberAt(members.all, revisions, this.#membersFrom);
    return foreignWrites(revisions, ({ key, value, of }, revision) =>
      of === id ? marks.isOwn(key, value, revision) : isMemberAt(of, revision.revision),
    );
  }

  #seeMembers(revisions: readonly Revision[]): void {
    const { members, clocks, nowMs } = this.#parts;
    for (const { revision, events } of revisions) {
      for (const { key, value } of events) {
        const place = placeOf(key);
        if (place.kind !== 'member') continue;
        const sign = value === undefined ? undefined : decodeSign(value);
        members.see(place.id, sign, revision, nowMs());
        clocks.see(place.id, sign);
      }
    }
  }

  #moveTo(position: number, hasRecords: boolean): void {
    this.#position = position;
    for (const listener of [...this.#listeners]) listener({ position, hasRecords });
  }
}

/** How many of the first revisions make one commit: at least one, which stays whole. */
function countOf(revisions: readonly Revision[]): number {
  let events = 0;
  for (const [index, revision] of revisions.entries()) {
    events += revision.events.length;
    if (events >= sliceEvents) return index + 1;
  }
  return revisions.length;
}
