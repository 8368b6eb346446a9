// Index of objects by attributes: its keys have a digest under a key of the space, because names of clients may be longer than keys, and are nobody else's.
import { createHmac } from 'node:crypto';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { Kmip } from '../context.ts';
import { isIndexed } from '../records/attribute-rules.ts';
import type { StoredAttribute } from '../records/object-record.ts';
import type { Attribute, AttributeValue } from '../records/object-values.ts';
import type { SpaceRecord } from '../records/space-record.ts';
import { valueToJson } from './attribute-json.ts';

/** An object in its space. */
export type ObjectPlace = Found & { readonly id: string };
type Found = { readonly tenantId: string; readonly space: Pick<SpaceRecord, 'id' | 'indexKey'> };

/** Prefix of the keys of objects with an attribute; undefined for one that is not indexed. */
export function indexPrefix({ tenantId, space }: Found, { name, value }: Pick<Attribute, 'name' | 'value'>): StoreKey | undefined {
  if (!isIndexed(name)) return undefined;
  const text = JSON.stringify([name, indexedPart(name, value)]);
  return [tenantId, space.id, createHmac('sha256', space.indexKey).update(text).digest('base64url')];
}

/** Changes the index from the former attributes to those of now. */
export function putIndex(
  kmip: Kmip,
  transaction: WriteTransaction,
  place: ObjectPlace,
  before: readonly StoredAttribute[],
  after: readonly StoredAttribute[],
): void {
  const table = kmip.tables.attributes;
  const [old, fresh] = [keysOf(place, before), keysOf(place, after)];
  for (const [text, key] of old) if (!fresh.has(text)) transaction.delete(table, key);
  for (const [text, key] of fresh) if (!old.has(text)) transaction.put(table, key, true);
}

/** Keys of the index for an object, by their text. */
export function keysOf(place: ObjectPlace, attributes: readonly StoredAttribute[]): ReadonlyMap<string, StoreKey> {
  const keys = new Map<string, StoreKey>();
  for (const attribute of attributes) {
    const prefix = indexPrefix(place, attribute);
    if (prefix !== undefined) keys.set(String(prefix[2]), [...prefix, place.id]);
  }
  return keys;
}

/** Names are found by their text, whatever their type; other structures in any order of their fields. */
function indexedPart(name: string, value: AttributeValue): unknown {
  if (value.type !== 'structure') return valueToJson(value);
  if (name !== 'Name') return valueToJson({ ...value, fields: value.fields.toSorted(([left], [right]) => (left < right ? -1 : 1)) });
  return value.fields.find(([tag]) => tag === 'NameValue')?.map((part) => (typeof part === 'string' ? part : valueToJson(part)));
}
