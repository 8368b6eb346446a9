// Keys and places that are beside the records of a tenant: the sealing keys for the rotation of the wrapping key, and the places of certificates.
import { holderOfStored, walkAll } from '../../core/plugin/key-holders.ts';
import type { KeyHolder } from '../../core/plugin/services/wrapping-keys.ts';
import { writeInPieces } from '../../core/store/records/pieces.ts';
import { forgetTenant } from './clients/first-tenants.ts';
import type { Kmip } from './context.ts';
import { sealingBinding } from './records/space-record.ts';

/** The sealing key of every space. */
export function keyHolders(kmip: Kmip): Iterable<KeyHolder> {
  return walkAll(holdersBySpace(kmip));
}

function* holdersBySpace({ tables }: Kmip): Iterable<Iterable<KeyHolder>> {
  for (const [key, record] of tables.spaces.allEntries([], { uncached: true }))
    yield holderOfStored(tables.spaces, key, record, sealingBinding(String(key[0]), record.id));
}

/** Removes what is noted of the certificates of a deleted tenant. */
export async function dropTenant(kmip: Kmip, tenantId: string): Promise<void> {
  const { store, tables } = kmip;
  store.refresh();
  const places = Array.from(tables.clientPlaces.keys([])).filter((key) => key[2] === tenantId);
  await writeInPieces(store, places, (transaction, key) => void transaction.delete(tables.clientPlaces, key));
  await forgetTenant(kmip, tenantId);
}
