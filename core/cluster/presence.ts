// Heartbeats: this appliance writes that it is alive and which revision it has applied, and may answer for a while from the sending of each.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { hasValue, type KeyValue, put, read, revisionOf, unchangedSince } from '../etcd/messages.ts';
import { keyBytes } from '../store/keys.ts';
import { levelRefusal } from './agreed-level.ts';
import { removedReason } from './entry.ts';
import type { Follower } from './follower.ts';
import { type Epoch, epochValue, layout } from './layout.ts';
import {
  decodeSign,
  encodeSign,
  isWaitedFor,
  type MemberSelf,
  type MemberSign,
  type MemberState,
  type Members,
  type Moment,
  signEveryMs,
  validMs,
  waitMs,
  wasRemoved,
} from './validity.ts';

export type PresenceParts = {
  readonly client: EtcdClient;
  readonly follower: Follower;
  readonly members: Members;
  /** of the shared store that is followed */
  readonly epoch: string;
  readonly id: string;
  /** description of this appliance in every sign */
  readonly self: MemberSelf;
  /** run of the predecessor, whose last sign may still be in flight */
  readonly formerRun: string | undefined;
  readonly moment: () => Moment;
  readonly log: Log;
  /** called after each committed sign, and when the validity has ended early */
  readonly onChange: () => void;
  /** receives the reason for which signs end: another process gives them as this member, the member was removed, or the level is not ours */
  readonly onLost: (reason: string) => void;
};

/** Lag behind its own last sign from which an appliance counts as no longer following, and must not delay the others. */
const mostLagMs = 1_000;
const signDeadlineMs = 700;
const usurped = 'another process is this member of the cluster: one of their data directories is a copy';

/** The own key: its revision and its contents. */
type Key = { readonly revision: number } & Partial<Pick<MemberSign, 'state' | 'run'>>;

export class Presence {
  readonly #parts: PresenceParts;
  readonly #stopping = new AbortController();
  /** last known state of the own key; undefined: it must be read */
  #key: Key | undefined;
  /** revision of the sign with which this appliance joined: earlier changes may have been acknowledged without it */
  #cameIn = Number.POSITIVE_INFINITY;
  /** time at which the last committed sign was sent */
  #sent: Moment | undefined;
  /** own signs that are not applied here yet, oldest first */
  #unseen: { readonly revision: number; readonly atMs: number }[] = [];
  #withdrawnAt: number | undefined;
  #prompt = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** From when the validity counts; undefined: nothing may be answered. */
  get sent(): Moment | undefined {
    return this.#parts.follower.position >= this.#cameIn ? this.#sent : undefined;
  }

  start(): void {
    const { follower, members, id } = this.#parts;
    // The others wait until this appliance reports that it has applied their changes.
    follower.onApplied(({ hasRecords }) => {
      if (hasRecords && [...members.all].some(([other, member]) => other !== id && isWaitedFor(member))) this.#prompt.resolve();
      this.#parts.onChange();
    });
    this.#running = this.#sign();
  }

  /**
   * Declares that this appliance no longer answers, so that the others do not wait for it. `isServing`: its processes may answer until their
   * validity is over.
   */
  async stop({ isServing = false } = {}): Promise<void> {
    this.#stopping.abort();
    this.#prompt.resolve();
    await this.#running;
    if (isServing) await this.#untilOver();
    this.#end();
    if (this.#key?.state === 'in' && this.#key.run === this.#parts.self.run) await this.#write('out').catch(() => undefined);
  }

  /** Stops signs until the position moves on; resolves when nothing may be answered. */
  async withdraw(): Promise<void> {
    this.#withdrawnAt = this.#parts.follower.position;
    this.#end();
    await setTimeout(validMs);
  }

  /** Grants no further validity, and resolves when the last one is over. */
  async #untilOver(): Promise<void> {
    const sent = this.#sent;
    this.#end();
    if (sent !== undefined) await setTimeout(Math.max(0, sent.monotonicMs + waitMs - this.#parts.moment().monotonicMs));
  }

  async #sign(): Promise<void> {
    const { log, follower } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      this.#prompt = Promise.withResolvers();
      try {
        if (follower.position !== this.#withdrawnAt) await this.#signOnce();
      } catch (error) {
        // The sign may have been committed. Without the state of the own key the next sign would lose.
        this.#key = undefined;
        log.warn('a heartbeat was not answered', { reason: reasonOf(error) });
      }
      await Promise.race([this.#prompt.promise, setTimeout(signEveryMs, undefined, { signal: this.#stopping.signal })]).catch(
        () => undefined,
      );
    }
  }

  async #signOnce(): Promise<void> {
    const { client, follower, epoch, id, self, log, moment } = this.#parts;
    if (this.#key === undefined) {
      const { kvs, header } = await client.range({ key: layout.member(id) }, signDeadlineMs);
      this.#key = keyOf(kvs[0]);
      this.#requireOwn(this.#key);
      if (this.#stopping.signal.aborted) return;
      if (this.#key.state !== 'in' && !(await follower.reaches(revisionOf(header.revision), mostLagMs))) return;
    } else if (this.#key.state !== 'in') {
      const { header } = await client.range({ key: layout.member(id), keys_only: true }, signDeadlineMs);
      if (!(await follower.reaches(revisionOf(header.revision), mostLagMs))) return;
    }
    if (this.#key.state === 'in' && this.#isLagging(moment().monotonicMs)) {
      log.warn('this appliance no longer follows the others, and stops answering');
      // From then on the others do not wait for this appliance: none of its processes may answer.
      await this.#untilOver();
      if (!this.#stopping.signal.aborted) await this.#write('out');
      return;
    }
    const wasIn = this.#key.state === 'in' && this.#cameIn !== Number.POSITIVE_INFINITY;
    const refusal = wasIn ? undefined : levelRefusal(self, follower.level);
    if (refusal !== undefined) return this.#lose(refusal);
    const sent = moment();
    const revision = await this.#write('in', wasIn ? undefined : { epoch, level: follower.level });
    if (revision === undefined) {
      log.warn('another appliance has changed our heartbeat, or the level of the records');
      return this.#end();
    }
    if (!wasIn) this.#cameIn = revision;
    this.#sent = sent;
    this.#unseen.push({ revision, atMs: sent.monotonicMs });
    this.#parts.onChange();
  }

  /**
   * Writes a sign. Resolves with its revision; undefined if another writer had changed the own key, whose state is then known. `arrival`:
   * the store that a process joins with its first sign, which loses if the level of the records has changed.
   */
  async #write(state: MemberState, arrival?: Epoch): Promise<number | undefined> {
    const { client, follower, id, self, moment } = this.#parts;
    const key = layout.member(id);
    const answer = await client.txn(
      {
        compare: [
          unchangedSince(key, this.#key?.revision ?? 0),
          ...(arrival === undefined ? [] : [hasValue(layout.epoch, epochValue(arrival))]),
        ],
        success: [
          put(key, encodeSign({ ...self, validMs, state, applied: follower.position, wallMs: moment().wallMs })),
          ...(arrival === undefined ? [] : [put(layout.arrivals, keyBytes(id))]),
        ],
        failure: [read({ key })],
      },
      signDeadlineMs,
    );
    if (!answer.succeeded) {
      this.#key = keyOf(answer.responses[0]?.response_range?.kvs[0]);
      this.#requireOwn(this.#key);
      return undefined;
    }
    this.#key = { revision: revisionOf(answer.header.revision), state, run: self.run };
    return this.#key.revision;
  }

  /**
   * Requires that the key is our own: a copy of the data directory that runs elsewhere would count as this appliance, for which the others
   * would then not wait.
   */
  #requireOwn({ state, run }: Key): void {
    const { self, formerRun } = this.#parts;
    const isRemoved = state !== undefined && wasRemoved({ state });
    if (!isRemoved && (state !== 'in' || run === self.run || run === formerRun)) return;
    this.#lose(isRemoved ? removedReason : usurped);
  }

  #lose(reason: string): void {
    const { onLost, log } = this.#parts;
    log.error(reason);
    this.#stopping.abort();
    this.#end();
    onLost(reason);
  }

  #isLagging(nowMs: number): boolean {
    const { position } = this.#parts.follower;
    this.#unseen = this.#unseen.filter(({ revision }) => revision > position);
    const [oldest] = this.#unseen;
    return oldest !== undefined && nowMs - oldest.atMs > mostLagMs;
  }

  #end(): void {
    this.#sent = undefined;
    this.#cameIn = Number.POSITIVE_INFINITY;
    this.#unseen = [];
    this.#parts.onChange();
  }
}

function keyOf(found: KeyValue | undefined): Key {
  if (found === undefined) return { revision: 0 };
  const { state, run } = decodeSign(found.value);
  return { revision: revisionOf(found.mod_revision), state, run };
}
