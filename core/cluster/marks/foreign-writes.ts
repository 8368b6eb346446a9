// Finds records in the shared store that no appliance has written: each transaction of an appliance also rewrites its lane (lane.ts), with its mark.
import { placeOf } from '../layout.ts';
import type { Revision } from '../replica/assembly.ts';
import { decodeSign, type SeenMember } from '../validity.ts';

export type ForeignWrite = { readonly revision: number; readonly records: readonly string[] };

/** Change of a lane by a revision. `of`: the appliance that owns the lane. `value` undefined: deleted. */
export type LaneEvent = Revision['events'][number] & { readonly of: string };

/** Tells whether a revision with records that rewrites a lane is a transaction of the lane's owner, as far as this appliance can know. */
export type LaneJudge = (lane: LaneEvent, revision: Revision) => boolean;

/**
 * Finds revisions that change records and no lane, or a lane that the judge rejects. Each appliance knows only its own transactions: a writer
 * that uses the lane of another appliance is found by that appliance.
 */
export function foreignWrites(revisions: readonly Revision[], isKnown: LaneJudge): readonly ForeignWrite[] {
  return revisions.flatMap((one) => {
    const places = one.events.map((event) => ({ event, place: placeOf(event.key) }));
    const records = places.flatMap(({ place }) => (place.kind === 'record' ? [place.text] : []));
    const lanes = places.flatMap(({ event, place }) => (place.kind === 'lane' ? [{ ...event, of: place.of }] : []));
    if (records.length === 0) return [];
    // Every lane is judged, because the judge remembers a taken one.
    const judged = lanes.map((lane) => isKnown(lane, one));
    return judged.length > 0 && !judged.includes(false) ? [] : [{ revision: one.revision, records }];
  });
}

/**
 * Returns the judge of lanes of others, from the members at each revision of a batch: an appliance that was removed or never joined commits nothing
 * by its lane. `seen`: the members before the batch, as of revision `from` or later; revisions that are not newer cannot be judged.
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
