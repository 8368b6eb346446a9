// The id of the last change of an entry, in its record: it makes each change another entity tag, even one that brings back an earlier document.
import { randomBytes } from 'node:crypto';

type Changed = { readonly changeId?: string };

/**
 * The record under a new id. Without one, who may change what they cannot read would know from equal tags that they have given a field the value
 * that it had.
 */
export function withNewChangeId<Rec>(record: Rec): Rec {
  return { ...record, changeId: randomBytes(12).toString('base64url') };
}

/** The record under the id of another one. */
export function withChangeIdOf<Rec>(record: Rec, other: unknown): Rec {
  const { changeId: _, ...rest } = record as Changed;
  const changeId = changeIdOf(other);
  return { ...rest, ...(changeId === undefined ? {} : { changeId }) } as Rec;
}

/** Undefined for records of versions before there were ids. */
export function changeIdOf(record: unknown): string | undefined {
  return (record as Changed).changeId;
}
