// The keys of a CA's registration authority, as the key ledger and the rotation of wrapping keys know them.
import type { KeyBinding, KeyReference } from '../../../hsm/api.ts';
import type { CaRecord } from '../records/records.ts';

/** Its binding: the key of one number. */
export function registrationReference(
  ca: { readonly tenantId: string; readonly caId: string },
  number: number,
): { readonly binding: KeyBinding } {
  return { binding: { tenant: ca.tenantId, keyId: ca.caId, version: number, purpose: 'ra' } };
}

export function registrationKeys(tenantId: string, { id, registrations = [] }: CaRecord): readonly KeyReference[] {
  return registrations.map(({ number, key }) => ({ ...registrationReference({ tenantId, caId: id }, number), stored: key.stored }));
}
