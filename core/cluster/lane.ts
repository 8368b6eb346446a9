// A lane: a sequence of transactions, each of which changes the key of the lane, so that the outcome of every one can be determined.
import { type Header, put, read, revisionOf, type TxnAnswer, type TxnRequest, unchangedSince } from '../etcd/messages.ts';
import type { Guard } from './transaction.ts';

/*
 * A transaction that timed out may still be on its way and commit later. Each transaction of a lane therefore compares that the key of
 * the lane is as the previous one left it, and writes its own name there. If the outcome is unknown, a fence is committed: it compares the
 * same and writes the old name again. One of both wins, and the other never can. A lane thus always has one key, and nothing has
 * to be swept; a process that starts fences its lanes and knows what its predecessor has committed.
 */

/** State of the key: its revision (0: it does not exist) and the name of the last transaction that was committed. */
export type LaneState = { readonly revision: number; readonly last: string };

/** Known outcome of a transaction. */
export type Settled = { readonly isCommitted: boolean; readonly revision: number };

export class Lane {
  readonly #key: Buffer;
  #state: LaneState;
  #pending: string | undefined;

  /** `state`: found by a fence. */
  constructor(key: Buffer, state: LaneState) {
    this.#key = key;
    this.#state = state;
  }

  get state(): LaneState {
    return this.#state;
  }

  /** True while the outcome of a transaction is unknown. */
  get isPending(): boolean {
    return this.#pending !== undefined;
  }

  /** Compares and writes that the transaction with this name must contain. `name` is never used twice. */
  begin(name: string): Guard {
    if (this.#pending !== undefined) throw new TypeError('a lane has one transaction at a time');
    this.#pending = name;
    return { compare: [unchangedSince(this.#key, this.#state.revision)], write: [put(this.#key, Buffer.from(name))] };
  }

  /** Records the server's answer to the transaction, or (`undefined`) its refusal, after which it never happens. */
  answered(answer: (Pick<TxnAnswer, 'succeeded'> & { readonly header: Pick<Header, 'revision'> }) | undefined): Settled {
    const name = this.#requirePending();
    this.#pending = undefined;
    const revision = answer === undefined ? this.#state.revision : revisionOf(answer.header.revision);
    if (answer?.succeeded !== true) return { isCommitted: false, revision };
    this.#state = { revision, last: name };
    return { isCommitted: true, revision };
  }

  /** Fence after an unknown outcome, to be sent until it is answered. A fence whose own outcome is unknown is sent again unchanged. */
  fence(): TxnRequest {
    this.#requirePending();
    const { revision, last } = this.#state;
    return {
      compare: [unchangedSince(this.#key, revision)],
      success: [put(this.#key, Buffer.from(last))],
      failure: [read({ key: this.#key })],
    };
  }

  /** Records the answer to a fence. Undefined: neither the transaction nor a fence left the lane in this state, so another process uses it. */
  fenced(answer: TxnAnswer): Settled | undefined {
    const name = this.#requirePending();
    const state = stateAfterFence(answer, this.#state);
    const isCommitted = state.last === name;
    if (!isCommitted && state.last !== this.#state.last) return undefined;
    this.#pending = undefined;
    this.#state = state;
    return { isCommitted, revision: isCommitted ? state.revision : revisionOf(answer.header.revision) };
  }

  #requirePending(): string {
    if (this.#pending === undefined) throw new TypeError('the lane has no transaction');
    return this.#pending;
  }
}

/** The state after the answer to a fence that was sent in the state `before`. */
function stateAfterFence({ succeeded, header, responses }: TxnAnswer, before: LaneState): LaneState {
  if (succeeded) return { revision: revisionOf(header.revision), last: before.last };
  const found = responses[0]?.response_range?.kvs[0];
  return found === undefined ? { revision: 0, last: '' } : { revision: revisionOf(found.mod_revision), last: found.value.toString('utf8') };
}
