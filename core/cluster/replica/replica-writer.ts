// Writes the state of etcd into the LMDB store of this appliance: revision after revision, or page after page of a whole state.
import type { Log } from '../../base/context.ts';
import { defined } from '../../base/defined.ts';
import { examineContent } from '../../store/check.ts';
import { proofText } from '../../store/data-key.ts';
import { Environment } from '../../store/environment.ts';
import { keyBytes } from '../../store/keys.ts';
import { firstTable } from '../../store/files/content.ts';
import { firstLevel } from '../../store/records/level.ts';
import { laneMarksKey, type Position, positionOf, putPosition, replicated, revisionIn } from '../../store/replica.ts';
import { noteChanges } from '../../store/revision.ts';
import type { Revision } from './assembly.ts';
import { placeOf, readEpoch } from '../layout.ts';

/** One record of a page: the text of its key, the sealed record, and the revision that wrote it. */
export type PageRecord = { readonly text: string; readonly sealed: Uint8Array; readonly revision: number };

/** Keys of LMDB compared with a page at a time. */
const pageKeys = 1_000;
/** Stands for no limit, as a number that LMDB accepts. */
const everyKey = 2 ** 31 - 1;

/** The only writer of a replica. Holds no key: records stay sealed. */
export class ReplicaWriter {
  readonly #environment: Environment;
  /** true if the revisions of local records belong to the same store as the state being filled in */
  #isSameStore = false;

  constructor(directory: string, log: Log) {
    this.#environment = new Environment(directory, () => undefined, log);
  }

  /** Position of the replica; undefined for a store that has followed none. */
  get position(): Position | undefined {
    return positionOf(this.#environment);
  }

  /** As MarksPlace (lane-marks.ts). */
  get marks(): Uint8Array | undefined {
    return this.#environment.get(laneMarksKey);
  }

  async keepMarks(marks: Uint8Array): Promise<void> {
    await this.#commit(() => this.#environment.put(laneMarksKey, marks));
  }

  /** Level of the local records (store/records/level.ts). */
  get level(): number {
    return this.position?.level ?? firstLevel;
  }

  /** Tells whether following the store of that epoch would lose local records: those of a single appliance. */
  hasOwnRecords(epoch: string): boolean {
    const { position } = this;
    const isOwn = position === undefined || (position.founding === true && position.epoch !== epoch);
    // A new store has a proof of its key and nothing else.
    return isOwn && this.#environment.keys({ low: firstTable, high: Buffer.of(0xff) }, 1, false).length > 0;
  }

  /** Yields every record, sealed, with the proof of the data key. */
  *records(): Iterable<Pick<PageRecord, 'text' | 'sealed'>> {
    const proof = this.#environment.get(keyBytes(proofText));
    if (proof !== undefined) yield { text: proofText, sealed: proof };
    for (let low = firstTable; ;) {
      const keys = this.#environment.keys({ low, high: Buffer.of(0xff) }, pageKeys, false);
      for (const key of keys) {
        const sealed = this.#environment.get(key);
        if (sealed !== undefined) yield { text: key.toString('utf8'), sealed };
      }
      const last = keys.at(-1);
      if (last === undefined) return;
      low = Buffer.concat([last, Buffer.of(0)]);
    }
  }

  /**
   * Writes records and position in one commit of LMDB, so that a revision is applied whole or not at all. Revisions that change no record cost no
   * commit: the position on the disk may be behind them. `marks`: those of LaneMarks after these revisions.
   */
  async apply(revisions: readonly Revision[], position: Pick<Position, 'epoch' | 'revision'>, marks?: Uint8Array): Promise<void> {
    const events = revisions.flatMap(({ revision, events }) => events.map(({ key, value }) => ({ place: placeOf(key), value, revision })));
    if (events.every(({ place: { kind } }) => kind === 'member' || kind === 'lane')) return;
    const changedAt = events.findLast(({ place }) => place.kind === 'record')?.revision ?? this.position?.changedAt;
    const epoch = events.findLast(({ place }) => place.kind === 'epoch')?.value;
    const level = epoch === undefined ? this.level : readEpoch(epoch).level;
    await this.#commit((changed) => {
      for (const { place, value, revision } of events) {
        if (place.kind !== 'record') continue;
        const key = keyBytes(place.text);
        if (value === undefined) this.#environment.remove(key);
        else this.#environment.put(key, replicated(value, revision));
        changed.add(place.text);
      }
      putPosition(this.#environment, { ...position, level, ...defined({ changedAt }) });
      if (marks !== undefined) this.#environment.put(laneMarksKey, marks);
    });
  }

  /** Records that the shared store of that epoch is about to be made of the local records. */
  async beginBootstrap(epoch: string): Promise<void> {
    await this.#commit(() => putPosition(this.#environment, { epoch, revision: 0, filling: true, founding: true }));
  }

  /**
   * Tells whether the records differ from those that were written, as after a fault of the disk. If so, nothing is answered from this
   * replica until it is filled, and every record of it is written again.
   */
  async distrustIfChanged(): Promise<boolean> {
    const { position } = this;
    if (position === undefined || position.filling === true) return false;
    const { isAsWritten, accept } = await examineContent(this.#environment);
    if (!isAsWritten) await this.#commit(() => putPosition(this.#environment, { epoch: '', revision: 0, filling: true }));
    await accept();
    return !isAsWritten;
  }

  /**
   * Forbids answers from this replica, also after a crash, until `filled`. For a store other than before, the position has no
   * epoch meanwhile, so that an interrupted fill does not trust the revisions of the former one.
   */
  async beginFilling(epoch: string): Promise<void> {
    const { position } = this;
    this.#isSameStore = position?.epoch === epoch && position.founding === undefined;
    await this.#commit(() => putPosition(this.#environment, { epoch: this.#isSameStore ? epoch : '', revision: 0, filling: true }));
  }

  /**
   * Makes the store equal to a page of the whole state, in the order of keys: from `after` (exclusive; undefined: from the first) to the last
   * of the page, or to the end. Records that are equal already are not written again.
   */
  async fillPage(page: readonly PageRecord[], after: string | undefined, isLast: boolean): Promise<void> {
    const wanted = new Map(page.map((record) => [record.text, record]));
    const low =
      after === undefined || keyBytes(after).compare(firstTable) < 0 ? firstTable : Buffer.concat([keyBytes(after), Buffer.of(0)]);
    const last = page.at(-1);
    const high = isLast || last === undefined ? Buffer.of(0xff) : Buffer.concat([keyBytes(last.text), Buffer.of(0)]);
    await this.#commit((changed) => {
      for (const key of this.#environment.keys({ low, high }, everyKey, false)) {
        const text = key.toString('utf8');
        if (wanted.has(text)) continue;
        this.#environment.remove(key);
        changed.add(text);
      }
      for (const { text, sealed, revision } of page) {
        const key = keyBytes(text);
        if (this.#isSameStore && revisionIn(this.#environment.get(key)) === revision) continue;
        this.#environment.put(key, replicated(sealed, revision));
        changed.add(text);
      }
    });
  }

  /** Records that the whole state of that position is present. */
  async filled(position: Position): Promise<void> {
    await this.#commit(() => putPosition(this.#environment, position));
  }

  async close(): Promise<void> {
    await this.#environment.close();
  }

  /** Commits; the workers see the commit and drop the changed records from their caches. */
  async #commit(work: (changed: Set<string>) => void): Promise<void> {
    await this.#environment.commit(() => {
      const changed = new Set<string>();
      work(changed);
      noteChanges(this.#environment, changed);
    });
    // A held snapshot of this process would keep LMDB from reusing pages.
    this.#environment.refresh(keyBytes(proofText), () => true);
  }
}
