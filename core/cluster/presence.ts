// Signs of life: this appliance writes that it is there and what it has applied, and may answer for a while from the sending of each.
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
  /** what every sign says of this appliance */
  readonly self: MemberSelf;
  /** run of the predecessor, whose last sign may still be on its way */
  readonly formerRun: string | undefined;
  readonly moment: () => Moment;
  readonly log: Log;
  /** Told after each sign that was committed, and when the validity has ended early. */
  readonly onChange: () => void;
  /** Told why no sign is given from here any more: another process gives them as this member, the member was removed, or the level is not ours. */
  readonly onLost: (reason: string) => void;
};

/** An appliance that is so far behind its own last sign does not follow any more, and must not hold up the others. */
const mostLagMs = 1_000;
const signDeadlineMs = 700;
const usurped = 'another process is this member of the cluster: one of their data directories is a copy';

/** Our key: its revision, and what is in it. */
type Key = { readonly revision: number } & Partial<Pick<MemberSign, 'state' | 'run'>>;

export class Presence {
  readonly #parts: PresenceParts;
  readonly #stopping = new AbortController();
  /** our key as it was when we last knew; undefined: it must be read */
  #key: Key | undefined;
  /** the revision of the sign with which we came in: what was acknowledged before it may have been without us */
  #cameIn = Number.POSITIVE_INFINITY;
  /** when the last sign was sent that is known to be committed */
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
    // The others wait until we say that we have applied what they have changed.
    follower.onApplied(({ hasRecords }) => {
      if (hasRecords && [...members.all].some(([other, member]) => other !== id && isWaitedFor(member))) this.#prompt.resolve();
      this.#parts.onChange();
    });
    this.#running = this.#sign();
  }

  /** Says that this appliance answers no more, so that nobody waits for it. `isServing`: its processes may do so until what they were told is over. */
  async stop({ isServing = false } = {}): Promise<void> {
    this.#stopping.abort();
    this.#prompt.resolve();
    await this.#running;
    if (isServing) await this.#untilOver();
    this.#end();
    if (this.#key?.state === 'in' && this.#key.run === this.#parts.self.run) await this.#write('out').catch(() => undefined);
  }

  /** Gives no sign until the position moves on; resolves when nothing may be answered any more. */
  async withdraw(): Promise<void> {
    this.#withdrawnAt = this.#parts.follower.position;
    this.#end();
    await setTimeout(validMs);
  }

  /** Gives no more validity, and resolves when the last one that was given is over. */
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
        // It may have been committed. Without knowing our key the next sign would lose.
        this.#key = undefined;
        log.warn('a sign of life was not answered', { reason: reasonOf(error) });
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
      log.warn('this appliance does not follow the others any more, and stops answering');
      // From then on nobody waits for this appliance: no process of it may answer any more.
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
      log.warn('another appliance has changed our sign of life, or the level of the records');
      return this.#end();
    }
    if (!wasIn) this.#cameIn = revision;
    this.#sent = sent;
    this.#unseen.push({ revision, atMs: sent.monotonicMs });
    this.#parts.onChange();
  }

  /**
   * The revision of the sign; undefined when our key was changed by another: it is then known as it is. `arrival`: the store that a process comes
   * into with its first sign, which loses when the level of the records is not that any more.
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

  /** A copy of the data directory that runs elsewhere would count as this appliance, which then would not be waited for. */
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
