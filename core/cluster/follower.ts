// Follows the shared store: keeps a watch, applies its revisions to the replica in order, and reports the position.
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
  /** called before the replica is filled, which takes it through inconsistent states; resolves when nothing is answered from it */
  readonly withdraw: () => Promise<void>;
  /** called when the shared store is no longer the followed one; nothing is applied from then on */
  readonly onReplaced: () => void;
  /** compares the contents of the replica with what was written to it: at a start of the appliance, when no other process waits for this one */
  readonly examines: boolean;
  /** receives records that no appliance has written */
  readonly onForeignWrite: (write: ForeignWrite) => void;
};

/** An applied step: the position of the replica; `hasRecords`: records changed. */
type Applied = { readonly position: number; readonly hasRecords: boolean };

/** Limit of keys of records in a line of the log. */
const mostNamed = 5;
/** Events in one commit to LMDB, during which no heartbeat can be sent. */
const sliceEvents = 500;
const firstRetryMs = 50;
const longestRetryMs = 1_000;
/** Interval at which a quiet watch is asked for its progress. */
const askEveryMs = 50;

export class Follower {
  readonly #parts: FollowerParts;
  readonly #listeners = new Set<(applied: Applied) => void>();
  readonly #stopping = new AbortController();
  #position = 0;
  /** revision from which the members are known */
  #membersFrom = 0;
  #watching: Watching | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Revision of the shared store up to which everything is in the replica. */
  get position(): number {
    return this.#position;
  }

  /** Level of the local records. */
  get level(): number {
    return this.#parts.writer.level;
  }

  /** Fills the replica if it cannot continue from its position, reads the members, and begins to follow. */
  async start(): Promise<void> {
    const { client, writer, members, epoch, nowMs, examines, log } = this.#parts;
    if (examines && (await writer.distrustIfChanged()))
      log.error('the replica does not hold what was written to it last: all of the shared store is fetched again');
    const position = writer.position;
    const canGoOn = position?.epoch === epoch && position.filling === undefined;
    if (writer.hasOwnRecords(epoch))
      throw new Error('this appliance has records of its own, which would be lost: only a new one can join a cluster');
    // A predecessor of this process may have granted this appliance validity a moment ago.
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

  /** Calls the listener after each step. Returns a function that removes it. */
  onApplied(listener: (applied: Applied) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with true when the replica has everything up to a revision, with false if that takes longer than `withinMs`. */
  async reaches(revision: number, withinMs: number): Promise<boolean> {
    if (this.#position >= revision) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = this.onApplied(({ position }) => {
      if (position >= revision) resolve(true);
    });
    // The watch does not show revisions of other users of the same etcd; only its progress tells that they contain nothing for us.
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

  /** Resolves or rejects when the watch has ended and its revisions are applied. True: the revisions after the position are compacted. */
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

  /** Applies revisions. A full disk does not lose one: the commit is tried again until it succeeds. */
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
      log.error('records of the shared store were changed by no appliance: the writer has a key for etcd, or has restored a copy of it', {
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

/** Number of the first revisions that make one commit: at least one, which stays whole. */
function countOf(revisions: readonly Revision[]): number {
  let events = 0;
  for (const [index, revision] of revisions.entries()) {
    events += revision.events.length;
    if (events >= sliceEvents) return index + 1;
  }
  return revisions.length;
}
