// Records in the shared store that no appliance has written: each transaction of one also rewrites its lane (lane.ts).
import type { Revision } from './replica/assembly.ts';
import { placeOf } from './layout.ts';

export type ForeignWrite = { readonly revision: number; readonly records: readonly string[] };

/**
 * Revisions that change records and no lane. Who has a member's key for etcd can rewrite a lane as well: this finds what is done by hand,
 * or by a restored etcd, and proves nothing where it finds nothing.
 */
export function foreignWrites(revisions: readonly Revision[]): readonly ForeignWrite[] {
  return revisions.flatMap(({ revision, events }) => {
    const places = events.map(({ key }) => placeOf(key));
    const records = places.flatMap((place) => (place.kind === 'record' ? [place.text] : []));
    return records.length === 0 || places.some(({ kind }) => kind === 'lane') ? [] : [{ revision, records }];
  });
}
