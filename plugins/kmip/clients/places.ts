// Places by which the entry of a certificate is found: its fingerprint, or a name in it. Records of one entry, in the transaction of its change, each
// with the time from which on it is there: of two entries that take a certificate the one that has named it first counts.
import { hash } from 'node:crypto';
import type { StoreKey, WriteTransaction } from '../../../core/store/store.ts';
import type { KmipTables } from '../context.ts';
import type { ClientDocument } from '../records/client-record.ts';

/** Part of a key of the table: `[fingerprint, hexadecimal]`, or `[cn, digest of the name]`. */
type Place = readonly [kind: string, value: string];

export function placesOf({ fingerprints, certificateName, nameFrom }: ClientDocument): readonly Place[] {
  return [...fingerprints.map(placeOfFingerprint), ...(certificateName === undefined ? [] : [placeOfName(nameFrom, certificateName)])];
}

export function placeOfFingerprint(fingerprint: string): Place {
  return ['fingerprint', fingerprint];
}

/** Names of certificates may be longer than keys of the store, and have any character. */
export function placeOfName(kind: string, name: string): Place {
  return [kind, hash('sha256', name, 'hex')];
}

/** Replaces the places of an entry by those of its new document; undefined: it is removed. Those that stay keep their time. */
export function putPlaces(
  transaction: WriteTransaction,
  { clientPlaces }: Pick<KmipTables, 'clientPlaces'>,
  owner: readonly [tenantId: string, name: string],
  before: ClientDocument | undefined,
  after: ClientDocument | undefined,
  now: string,
): void {
  const keyOf = (place: Place): StoreKey => [...place, ...owner];
  // A name means other certificates with another CA.
  const keeps = before !== undefined && after !== undefined && before.trustCa === after.trustCa;
  const since = new Map<string, string>();
  for (const place of before === undefined ? [] : placesOf(before)) {
    const known = transaction.get(clientPlaces, keyOf(place));
    if (keeps && known !== undefined) since.set(place.join(), known);
    transaction.delete(clientPlaces, keyOf(place));
  }
  for (const place of after === undefined ? [] : placesOf(after))
    transaction.put(clientPlaces, keyOf(place), since.get(place.join()) ?? now);
}

/** An entry at a place. `since`: when it came there, RFC 3339 UTC with six decimals. */
export type Owner = { readonly tenantId: string; readonly name: string; readonly since: string };

export function* ownersAt({ clientPlaces }: Pick<KmipTables, 'clientPlaces'>, place: Place): Iterable<Owner> {
  for (const key of clientPlaces.keys([...place])) {
    const since = clientPlaces.get(key);
    if (since !== undefined) yield { tenantId: String(key[2]), name: String(key[3]), since };
  }
}
