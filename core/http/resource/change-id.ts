// Id of the last change of an entry, in its record: each change gets another entity tag, even one that restores an earlier document.
import { randomBytes } from 'node:crypto';

type Changed = { readonly changeId?: string };

/**
 * Returns the record with a new id. Without ids, a caller who may change but not read a field would learn from equal tags that it had the value
 * already.
 */
export function withNewChangeId<Rec>(record: Rec): Rec {
  return { ...record, changeId: randomBytes(12).toString('base64url') };
}

/** Returns the record with the id of another one. */
export function withChangeIdOf<Rec>(record: Rec, other: unknown): Rec {
  const { changeId: _, ...rest } = record as Changed;
  const changeId = changeIdOf(other);
  return { ...rest, ...(changeId === undefined ? {} : { changeId }) } as Rec;
}

/** Id of a record; undefined for records of versions without ids. */
export function changeIdOf(record: unknown): string | undefined {
  return (record as Changed).changeId;
}
