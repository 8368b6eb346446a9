// Commits to the shared store, finds out what became of each transaction, and waits until the change holds everywhere.
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
import { clusterUnavailable } from './unavailable.ts';
import { type Members, wasRemoved } from './validity.ts';

export type CommitterParts = {
  readonly client: EtcdClient;
  readonly follower: Follower;
  readonly members: Members;
  readonly marks: LaneMarks;
  readonly id: string;
  readonly limits: Limits;
  /** Whether this appliance may answer at this moment: it then had the majority a moment ago. */
  readonly mayAnswer: () => boolean;
  readonly nowMs: () => number;
  readonly log: Log;
};

const txnDeadlineMs = 1_000;
/** After that the caller is told that the change may have happened. */
const patienceMs = 8_000;
const catchUpMs = 3_000;
/** How long a member that gives signs may take to apply a change before it is expelled. */
const applyingMs = 2_000;
const lookEveryMs = 50;
const firstSignMs = 5_000;

export class Committer {
  readonly #parts: CommitterParts;
  /** By their keys as text. */
  readonly #lanes = new Map<string, Promise<Lane>>();
  /** What predecessors of this process have committed last, by the name of the change. */
  readonly #before = new Map<string, number>();
  /** What each caller has asked for last: it asks again where no answer came, and gets the same. */
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

  /** Fences the lanes of this appliance: what a predecessor has sent is committed now or never. */
  static async open(parts: CommitterParts): Promise<Committer> {
    const { kvs } = await parts.client.range(layout.lanes(parts.id));
    const lanes = await Promise.all(kvs.map(({ key }) => fenceLane(parts.client, key)));
    // What a predecessor without marks has committed is before that.
    await parts.marks.begin(Math.max(parts.follower.position, ...lanes.map(({ lane }) => lane.state.revision)));
    return new Committer(parts, lanes);
  }

  /**
   * As SharedStore.commit. `name` is drawn for the intent, at least 96 random bits: asked for again under the same name, here or of a successor of this
   * process, it is not committed twice. `caller`: number of the process of this appliance that asks, which asks for one change after
   * another. Each has a lane of its own, whose name stays until that process was answered: in a lane for all, the change of another one would
   * take its place, and a successor would not know it.
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
    // Lost means that something newer is there. Without it the change would lose again.
    if (!(await follower.reaches(settled.revision, catchUpMs)))
      throw clusterUnavailable(settled.isCommitted ? 'not-everywhere' : 'unchanged');
    if (!settled.isCommitted) return 'lost';
    await this.holdsEverywhere(settled.revision);
    return 'committed';
  }

  /**
   * Resolves when every member that may answer has applied a revision that is here. One that is silent is declared out, after its validity has
   * ended. One that gives signs but does not apply is expelled: its signs lose from then on, so that it falls silent.
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

  /** An appliance that is cut off refuses at once. One that has just started is given the time of its first sign. */
  async #requireMajority(): Promise<void> {
    const { mayAnswer, nowMs } = this.#parts;
    while (!mayAnswer()) {
      if (nowMs() - this.#openedMs > firstSignMs) throw clusterUnavailable('unchanged');
      await setTimeout(lookEveryMs);
    }
  }

  /** The lane of a caller. It is taken while nobody knows what became of the caller's change before; after too long, nothing can be committed. */
  async #takeLane(caller: number): Promise<Lane> {
    const { id, marks, nowMs } = this.#parts;
    const key = layout.lane(id, caller);
    let lane = await this.#openLane(key);
    // Somebody else wrote it: every transaction would lose.
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
      // It goes on until the outcome is known, although nobody waits for it any more.
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
      // Only one process of an appliance writes to its lanes, so this is a second one with the same identity.
      throw clusterUnavailable('unknown', new Error('another process writes under the identity of this appliance'));
    }
  }

  /** Sends a transaction that may be sent more than once until it is answered. */
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
  /** the revision of what was committed last in it */
  readonly committedAt: number;
};

/** Whatever was sent in it before is committed by now, or never will be. Rejects with EtcdError. */
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

/** Repeated, the change is refused again: what helps is said. */
function tooLarge(exceeded: keyof Limits, { operations, bytes }: Limits): string {
  if (exceeded === 'bytes') return `Nothing is changed: the change has more than the ${bytes} octets that a transaction of etcd takes.`;
  return (
    `Nothing is changed: the change takes more than ${operations} operations, which is what etcd takes in a transaction. ` +
    `Start all members of etcd with --max-txn-ops=${mostOperations}, one after another, and then the appliances again.`
  );
}
