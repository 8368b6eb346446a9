// Commits to the shared store, determines the outcome of each transaction, and waits until every appliance has applied the change.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import type { Intent } from '../store/intent.ts';
import type { EtcdClient } from '../etcd/client.ts';
import { put, revisionOf, type TxnAnswer, type TxnRequest, unchangedSince } from '../etcd/messages.ts';
import { EtcdError } from '../etcd/outcome.ts';
import { declareMember } from './entry.ts';
import type { Follower } from './follower.ts';
import { Lane, type Settled } from './lane.ts';
import { type LaneMarks, nameIn } from './marks/lane-marks.ts';
import { layout } from './layout.ts';
import { buildTransaction, type Limits, mostOperations } from './transaction.ts';
import { clusterUnavailable } from '../base/unavailable.ts';
import { type Members, wasRemoved } from './validity.ts';

export type CommitterParts = {
  readonly client: EtcdClient;
  readonly follower: Follower;
  readonly members: Members;
  readonly marks: LaneMarks;
  readonly id: string;
  readonly limits: Limits;
  /** Tells whether this appliance may answer at this moment: it then had the majority a moment ago. */
  readonly mayAnswer: () => boolean;
  readonly nowMs: () => number;
  readonly log: Log;
};

const txnDeadlineMs = 1_000;
/** Time after which the caller gets the error that the change may have happened. */
const patienceMs = 8_000;
const catchUpMs = 3_000;
/** Time in which a member that gives signs must apply a change, or is expelled. */
const applyingMs = 2_000;
const lookEveryMs = 50;
const firstSignMs = 5_000;

export class Committer {
  readonly #parts: CommitterParts;
  /** lanes by the text of their keys */
  readonly #lanes = new Map<string, Promise<Lane>>();
  /** last commits of predecessors of this process, by the name of the change */
  readonly #before = new Map<string, number>();
  /** last request of each caller: one that got no answer asks again, and gets the same outcome */
  readonly #asked = new Map<number, { readonly name: string; readonly outcome: Promise<'committed' | 'lost'> }>();
  readonly #stopping = new AbortController();
  readonly #openedMs: number;

  private constructor(parts: CommitterParts, lanes: readonly FencedLane[]) {
    this.#parts = parts;
    this.#openedMs = parts.nowMs();
    for (const { key, lane, committedAt } of lanes) {
      this.#lanes.set(textOf(key), Promise.resolve(lane));
      this.#before.set(nameIn(lane.state.last), committedAt);
    }
  }

  /** Fences the lanes of this appliance: transactions of a predecessor are committed by now, or never. */
  static async open(parts: CommitterParts): Promise<Committer> {
    const { kvs } = await parts.client.range(layout.lanes(parts.id));
    const lanes = await Promise.all(kvs.map(({ key }) => fenceLane(parts.client, key)));
    // Commits of a predecessor without marks are before this revision.
    await parts.marks.begin(Math.max(parts.follower.position, ...lanes.map(({ lane }) => lane.state.revision)));
    return new Committer(parts, lanes);
  }

  /**
   * As SharedStore.commit. `name` is drawn for the intent, at least 96 random bits: requested again under the same name, from this process
   * or from a successor of it, the intent is not committed twice. `caller`: number of the requesting process of this appliance, which
   * requests one change after another. Each process has its own lane, whose name stays until that process was answered: in a common lane,
   * the change of another process would replace it, and a successor would not know it.
   */
  commit(caller: number, name: string, intent: Intent): Promise<'committed' | 'lost'> {
    const asked = this.#asked.get(caller);
    if (asked?.name === name) return asked.outcome;
    const outcome = this.#commitOnce(caller, name, intent);
    this.#asked.set(caller, { name, outcome });
    return outcome;
  }

  async #commitOnce(caller: number, name: string, intent: Intent): Promise<'committed' | 'lost'> {
    const { follower } = this.#parts;
    const before = this.#before.get(name);
    if (before === undefined) await this.#requireMajority();
    const settled = before === undefined ? await this.#transact(caller, name, intent) : { isCommitted: true, revision: before };
    // Lost means that a newer state exists. Without it the change would lose again.
    if (!(await follower.reaches(settled.revision, catchUpMs)))
      throw clusterUnavailable(settled.isCommitted ? 'not-everywhere' : 'unchanged');
    if (!settled.isCommitted) return 'lost';
    await this.holdsEverywhere(settled.revision);
    return 'committed';
  }

  /**
   * Resolves when every member that may answer has applied a revision that this appliance has. A silent member is declared out after its validity has
   * ended. A member that gives signs but does not apply is expelled: its signs lose from then on, so that it falls silent.
   */
  async holdsEverywhere(revision: number): Promise<void> {
    const { follower, members, nowMs } = this.#parts;
    const begunMs = nowMs();
    while (members.behind(revision).length > 0) {
      if (nowMs() - begunMs > patienceMs) throw clusterUnavailable('not-everywhere');
      const heard = Promise.withResolvers<void>();
      const end = follower.onApplied(() => heard.resolve());
      try {
        for (const [id, member] of members.overdue(revision, nowMs()))
          await declareMember(this.#parts, id, member, wasRemoved(member) ? 'removed' : 'out');
        if (nowMs() - begunMs > applyingMs) {
          for (const [id, member] of members.behind(revision))
            if (member.state === 'in') await declareMember(this.#parts, id, member, 'expelled');
        }
        await Promise.race([heard.promise, setTimeout(lookEveryMs)]);
      } finally {
        end();
      }
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Refuses at once if this appliance is cut off; one that has just started gets the time of its first sign. */
  async #requireMajority(): Promise<void> {
    const { mayAnswer, nowMs } = this.#parts;
    while (!mayAnswer()) {
      if (nowMs() - this.#openedMs > firstSignMs) throw clusterUnavailable('unchanged');
      await setTimeout(lookEveryMs);
    }
  }

  /**
   * Takes the lane of a caller. It is busy while the outcome of the caller's previous change is unknown; after too long, nothing can be
   * committed.
   */
  async #takeLane(caller: number): Promise<Lane> {
    const { id, marks, nowMs } = this.#parts;
    const key = layout.lane(id, caller);
    let lane = await this.#openLane(key);
    // Another writer has changed it: every transaction would lose.
    if (!lane.isPending && marks.takenAt(key) > lane.state.revision) {
      this.#lanes.delete(textOf(key));
      lane = await this.#openLane(key);
    }
    for (const deadlineMs = nowMs() + patienceMs; lane.isPending; await setTimeout(lookEveryMs))
      if (nowMs() > deadlineMs) throw clusterUnavailable('unchanged');
    return lane;
  }

  async #openLane(key: Buffer): Promise<Lane> {
    const opening = this.#lanes.get(textOf(key)) ?? fenceLane(this.#parts.client, key).then(({ lane }) => lane);
    this.#lanes.set(textOf(key), opening);
    try {
      return await opening;
    } catch (error) {
      this.#lanes.delete(textOf(key));
      throw clusterUnavailable('unchanged', error);
    }
  }

  async #transact(caller: number, name: string, intent: Intent): Promise<Settled> {
    const lane = await this.#takeLane(caller);
    const { id, marks } = this.#parts;
    const marked = marks.mark(layout.lane(id, caller), lane.state.revision, name, intent.written);
    const built = buildTransaction(intent, lane.begin(marked), this.#parts.limits);
    if ('exceeds' in built) {
      lane.answered(undefined);
      throw clusterUnavailable(tooLarge(built.exceeds, this.#parts.limits));
    }
    const settling = this.#settle(lane, built.request);
    const late = Promise.withResolvers<never>();
    const timer = globalThis.setTimeout(() => late.reject(clusterUnavailable('unknown')), patienceMs);
    try {
      return await Promise.race([settling, late.promise]);
    } finally {
      clearTimeout(timer);
      // It continues until the outcome is known, although its caller no longer waits.
      settling.catch((error: unknown) => this.#parts.log.warn('a transaction ended without its caller', { reason: reasonOf(error) }));
    }
  }

  async #settle(lane: Lane, request: TxnRequest): Promise<Settled> {
    try {
      return lane.answered(await this.#parts.client.txn(request, txnDeadlineMs));
    } catch (error) {
      if (error instanceof EtcdError && error.isRefused) {
        lane.answered(undefined);
        throw clusterUnavailable('unchanged', error);
      }
    }
    for (;;) {
      const answer = await this.#insist(lane.fence());
      const settled = lane.fenced(answer);
      if (settled !== undefined) return settled;
      // Only one process of an appliance writes to its lanes, so this is another process with the same identity.
      throw clusterUnavailable('unknown', new Error('another process writes under the identity of this appliance'));
    }
  }

  /** Sends an idempotent transaction until it is answered. */
  async #insist(request: TxnRequest): Promise<TxnAnswer> {
    for (;;) {
      this.#stopping.signal.throwIfAborted();
      try {
        return await this.#parts.client.txn(request, txnDeadlineMs);
      } catch {
        await setTimeout(lookEveryMs, undefined, { signal: this.#stopping.signal });
      }
    }
  }
}

type FencedLane = {
  readonly key: Buffer;
  readonly lane: Lane;
  /** revision of the last commit in it */
  readonly committedAt: number;
};

/** Fences a lane: earlier transactions in it are committed by now, or never will be. Rejects with EtcdError. */
async function fenceLane(client: EtcdClient, key: Buffer): Promise<FencedLane> {
  for (;;) {
    const { kvs } = await client.range({ key });
    const committedAt = revisionOf(kvs[0]?.mod_revision ?? '0');
    const last = kvs[0]?.value.toString('utf8') ?? '';
    const { succeeded, header } = await client.txn({
      compare: [unchangedSince(key, committedAt)],
      success: [put(key, Buffer.from(last))],
      failure: [],
    });
    if (succeeded) return { key, lane: new Lane(key, { revision: revisionOf(header.revision), last }), committedAt };
  }
}

function textOf(key: Buffer): string {
  return key.toString('latin1');
}

/** Message about a change that is too large, with the remedy: repeated, it would be refused again. */
function tooLarge(exceeded: keyof Limits, { operations, bytes }: Limits): string {
  if (exceeded === 'bytes') return `Nothing is changed: the change has more than the ${bytes} octets that a transaction of etcd takes.`;
  return (
    `Nothing is changed: the change takes more than the ${operations} operations that a transaction of etcd takes. ` +
    `Start all members of etcd with --max-txn-ops=${mostOperations}, one after another, and then the appliances again.`
  );
}
