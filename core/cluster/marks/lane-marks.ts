// The mark of this appliance in its lanes: the holder of a key for etcd cannot extend, repeat or forge its transactions.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { keyBytes } from '../../store/keys.ts';
import { placeOf } from '../layout.ts';
import type { Revision } from '../replica/assembly.ts';

/*
 * value of a lane = name ‖ ' ' ‖ before ‖ ' ' ‖ HMAC-SHA-256(secret, lane ‖ before ‖ name ‖ digest of the records), base64url
 *
 * `before` is the revision of the lane that the transaction compares, so that a transaction cannot be replayed. The
 * secret belongs to this appliance alone, in its replica, and is never in etcd: others cannot judge its lanes, and it judges them when it returns.
 */

/** Stored state of the marks of an appliance, beside its replica. */
const keptMarks = z.object({
  /** id of the appliance, and the shared store */
  appliance: z.string(),
  epoch: z.string(),
  secret: z.base64(),
  /** revision up to which programs without marks have written */
  since: z.int(),
  /** revision of the latest transaction of each lane, by the text of its key */
  latest: z.record(z.string(), z.int()),
});
type KeptMarks = z.output<typeof keptMarks>;

/** Storage of the marks: in one commit with the records (ReplicaWriter). */
export type MarksPlace = {
  readonly marks: Uint8Array | undefined;
  keepMarks(marks: Uint8Array): Promise<void>;
};

type Written = ReadonlyMap<string, Uint8Array | undefined>;

export class LaneMarks {
  readonly #place: MarksPlace;
  readonly #identity: Pick<KeptMarks, 'appliance' | 'epoch'>;
  readonly #taken = new Map<string, number>();
  #kept: KeptMarks | undefined;

  constructor(place: MarksPlace, identity: Pick<KeptMarks, 'appliance' | 'epoch'>) {
    this.#place = place;
    this.#identity = identity;
    const kept = readMarks(place.marks);
    // A copy of the directory that became another appliance has its own marks.
    if (kept?.appliance === identity.appliance && kept.epoch === identity.epoch) this.#kept = kept;
  }

  /** Begins to mark every commit of this appliance. `revision`: its lanes are fenced up to it. */
  async begin(revision: number): Promise<void> {
    if (this.#kept !== undefined) return;
    const secret = randomBytes(32).toString('base64');
    const kept = { ...this.#identity, secret, since: revision, latest: {} };
    await this.#place.keepMarks(encoded(kept));
    this.#kept = kept;
  }

  /** Returns the marked name that a transaction writes to its lane. `before`: the revision of the lane that it compares. */
  mark(lane: Buffer, before: number, name: string, written: Written): string {
    if (this.#kept === undefined) return name;
    return `${name} ${before} ${macOf(this.#kept.secret, lane, before, name, [...written]).toString('base64url')}`;
  }

  /**
   * Tells whether a revision with records that rewrites a lane of this appliance is its own transaction. One that is not is remembered as
   * having taken the lane.
   */
  isOwn(lane: Buffer, value: Buffer | undefined, { revision, events }: Revision): boolean {
    if (this.#kept === undefined || revision <= this.#kept.since) return true;
    const { secret, latest } = this.#kept;
    const text = lane.toString('utf8');
    const [, name, before, mac] = /^(\S+) (\d+) ([\w-]{43})$/.exec(value?.toString('utf8') ?? '') ?? [];
    if (name !== undefined && mac !== undefined && Number(before) >= (latest[text] ?? 0)) {
      const records = events.flatMap(({ key, value: sealed }): [string, Buffer | undefined][] => {
        const place = placeOf(key);
        return place.kind === 'record' ? [[place.text, sealed]] : [];
      });
      if (timingSafeEqual(macOf(secret, lane, Number(before), name, records), Buffer.from(mac, 'base64url'))) {
        this.#kept = { ...this.#kept, latest: { ...latest, [text]: revision } };
        return true;
      }
    }
    this.#taken.set(text, revision);
    return false;
  }

  /** Revision of the last write to a lane by another writer; 0 without one. */
  takenAt(lane: Buffer): number {
    return this.#taken.get(lane.toString('utf8')) ?? 0;
  }

  /** State to store together with the judged revisions; undefined while it is empty. */
  get encoded(): Uint8Array | undefined {
    return this.#kept === undefined ? undefined : encoded(this.#kept);
  }
}

/** Name in the value of a lane, marked or not. */
export function nameIn(value: string): string {
  return value.split(' ')[0] ?? '';
}

/** MAC of the records of a transaction in any order; `undefined`: deleted. */
function macOf(
  secret: string,
  lane: Buffer,
  before: number,
  name: string,
  records: readonly (readonly [string, Uint8Array | undefined])[],
): Buffer {
  const digest = createHash('sha256');
  for (const [text, sealed] of records.toSorted(([one], [other]) => Buffer.compare(keyBytes(one), keyBytes(other)))) {
    const key = keyBytes(text);
    digest.update(`${key.length} ${sealed === undefined ? 'deleted' : sealed.length}\n`).update(key);
    if (sealed !== undefined) digest.update(sealed);
  }
  return createHmac('sha256', Buffer.from(secret, 'base64')).update(lane).update(`\0${before}\0${name}\0`).update(digest.digest()).digest();
}

function encoded(kept: KeptMarks): Uint8Array {
  return Buffer.from(JSON.stringify(kept));
}

/** Reads stored marks; undefined for none, and for unreadable ones: marks then begin again. */
function readMarks(octets: Uint8Array | undefined): KeptMarks | undefined {
  if (octets === undefined) return undefined;
  try {
    return keptMarks.parse(JSON.parse(Buffer.from(octets).toString('utf8')));
  } catch {
    return undefined;
  }
}
