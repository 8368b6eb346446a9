// Ids of keys: key material and version records are bound to the id, not to the name.
import { uuidOf } from '../../core/base/uuid.ts';
import type { Hsm } from '../../hsm/api.ts';

/** A random UUID. */
export async function newKeyId(hsm: Hsm): Promise<string> {
  return uuidOf(await hsm.random(16));
}
