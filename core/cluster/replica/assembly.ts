// Assembles whole revisions and positions from the messages of a watch: a revision may span several messages, and a message may hold a
// thousand revisions.
import { type KeyValue, revisionOf, type WatchAnswer } from '../../etcd/messages.ts';

/** All events of one revision, in the order of its transaction. `value` is undefined for a key that was deleted. */
export type Revision = {
  readonly revision: number;
  readonly events: readonly { readonly key: Buffer; readonly value: Buffer | undefined }[];
};

export type Progress = {
  /** in order, each complete */
  readonly revisions: readonly Revision[];
  /** revision up to which everything has been delivered; undefined while unknown */
  readonly position?: number;
  /** the revisions after the position are gone: the whole state must be fetched */
  readonly isCompacted?: true;
  /** the server ended the watch for another reason */
  readonly ended?: string;
};

export class Assembly {
  readonly #done: number;
  #last: number;
  #open: { readonly revision: number; readonly events: Revision['events'][number][] } | undefined;

  /** `position`: revisions up to this one were delivered before, and are skipped if they come again. */
  constructor(position: number) {
    this.#done = position;
    this.#last = position;
  }

  /** Takes a message. Throws if revisions come out of order: the state built from them would be wrong. */
  take(answer: WatchAnswer): Progress {
    if (answer.canceled) {
      return answer.compact_revision === '0' ? { revisions: [], ended: answer.cancel_reason } : { revisions: [], isCompacted: true };
    }
    const revisions: Revision[] = [];
    for (const { type, kv } of answer.events) this.#add(type === 1, kv, revisions);
    // The rest of the last revision may be in the next fragment.
    if (answer.fragment) return { revisions };
    this.#end(revisions);
    // The header of a message with events is the newest revision of the store, which a watch that catches up has not delivered. That of the
    // first message, which confirms the watch, says nothing either.
    const isProgress = answer.events.length === 0 && !answer.created;
    if (isProgress) this.#last = Math.max(this.#last, revisionOf(answer.header.revision));
    return { revisions, position: this.#last };
  }

  #add(isDeletion: boolean, { key, value, mod_revision: modified }: KeyValue, revisions: Revision[]): void {
    const revision = revisionOf(modified);
    if (revision <= this.#done) return;
    if (this.#open?.revision !== revision) {
      this.#end(revisions);
      if (revision <= this.#last) throw new Error(`etcd sent revision ${revision} after ${this.#last}`);
      this.#open = { revision, events: [] };
    }
    this.#open?.events.push({ key, value: isDeletion ? undefined : value });
  }

  #end(revisions: Revision[]): void {
    if (this.#open === undefined) return;
    revisions.push(this.#open);
    this.#last = this.#open.revision;
    this.#open = undefined;
  }
}
