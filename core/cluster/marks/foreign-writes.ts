// Records in the shared store that no appliance has written: each transaction of one also rewrites its lane (lane.ts), with its mark.
import { placeOf } from '../layout.ts';
import type { Revision } from '../replica/assembly.ts';
import { decodeSign, type SeenMember } from '../validity.ts';

export type ForeignWrite = { readonly revision: number; readonly records: readonly string[] };

/** What a revision has made of a lane. `of`: the appliance whose lane it is. `value` undefined: deleted. */
export type LaneEvent = Revision['events'][number] & { readonly of: string };

/** Whether a revision with records that rewrites a lane is a transaction of the appliance whose lane it is, as far as can be known here. */
export type LaneJudge = (lane: LaneEvent, revision: Revision) => boolean;

/**
 * Revisions that change records and no lane, or a lane that the judge does not know. Each appliance knows its own transactions and no others': who
 * writes by the lane of another is found by that one.
 */
export function foreignWrites(revisions: readonly Revision[], isKnown: LaneJudge): readonly ForeignWrite[] {
  return revisions.flatMap((one) => {
    const places = one.events.map((event) => ({ event, place: placeOf(event.key) }));
    const records = places.flatMap(({ place }) => (place.kind === 'record' ? [place.text] : []));
    const lanes = places.flatMap(({ event, place }) => (place.kind === 'lane' ? [{ ...event, of: place.of }] : []));
    if (records.length === 0) return [];
    // Each is asked: one that was taken is remembered.
    const judged = lanes.map((lane) => isKnown(lane, one));
    return judged.length > 0 && !judged.includes(false) ? [] : [{ revision: one.revision, records }];
  });
}

/**
 * Who was a member at each revision of a batch, for lanes of others: nothing is committed by that of one that was removed, or that never came
 * in. `seen`: the members before the batch, as of revision `from` or later; what is not newer cannot be judged.
 */
export function memberAt(
  seen: ReadonlyMap<string, SeenMember>,
  revisions: readonly Revision[],
  from: number,
): (id: string, revision: number) => boolean {
  const signs = revisions.flatMap(({ revision, events }) =>
    events.flatMap(({ key, value }) => {
      const place = placeOf(key);
      return place.kind === 'member'
        ? [{ id: place.id, revision, isIn: value !== undefined && decodeSign(value).state !== 'removed' }]
        : [];
    }),
  );
  return (id, revision) => {
    if (revision <= from) return true;
    const latest = signs.findLast((one) => one.id === id && one.revision <= revision);
    if (latest !== undefined) return latest.isIn;
    return seen.has(id) && seen.get(id)?.state !== 'removed';
  };
}
