// An object space as administrators write it and as it is stored: what its clients share, and the key that seals its objects.
import { z } from 'zod';
import { shownText } from '../../../core/wire/shown-text.ts';
import type { KeyBinding, KeyReference, StoredKey } from '../../../hsm/api.ts';

/** Most objects that a space can be allowed to have. */
const mostObjects = 1_000_000;

export const spaceDocument = z.object({
  description: shownText({ maxCharacters: 1_024, lines: true })
    .default('')
    .meta({ description: 'What the space is for.', example: 'disks of the storage array in Berlin' }),
  maxObjects: z
    .int()
    .min(1)
    .max(mostObjects)
    .default(200_000)
    .meta({ description: 'Objects that it may have, with destroyed ones that were not removed.', example: 200_000 }),
});

export type SpaceDocument = z.output<typeof spaceDocument>;

export type SpaceRecord = SpaceDocument & {
  /** uuid, never used again: a later space of the name has other objects */
  readonly id: string;
  /** the key that seals the material of its objects, made in the token, which never leaves it in clear */
  readonly stored: StoredKey;
  /** key of the digests by which objects are found, 32 random octets: it reveals and protects no material */
  readonly indexKey: Uint8Array;
};

/** The key of a space with its binding. */
export function sealingKeyOf(tenantId: string, { id, stored }: Pick<SpaceRecord, 'id' | 'stored'>): KeyReference {
  return { stored, binding: sealingBinding(tenantId, id) };
}

export function sealingBinding(tenant: string, keyId: string): KeyBinding {
  return { tenant, keyId, version: 1, purpose: 'kmip' };
}
