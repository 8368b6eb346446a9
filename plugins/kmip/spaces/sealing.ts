// The seal of material: the token encrypts it under the key of the space, bound to tenant, space, object and type, and it opens nowhere else.
import { encodeUtf8 } from '../../../core/base/bytes.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import type { Kmip } from '../context.ts';
import type { ObjectType } from '../records/object-values.ts';
import type { SealedMaterial } from '../records/object-record.ts';
import { sealingKeyOf, type SpaceRecord } from '../records/space-record.ts';

/** An object, for its seal. */
export type Sealing = { readonly tenantId: string; readonly space: SpaceRecord; readonly id: string; readonly objectType: ObjectType };

export async function sealMaterial({ hsm }: Pick<Kmip, 'hsm'>, of: Sealing, material: Secret<Uint8Array>): Promise<SealedMaterial> {
  const sealed = await hsm.encrypt(sealingKeyOf(of.tenantId, of.space), revealSecret(material), { associatedData: boundTo(of) });
  return { sealed: Uint8Array.from(sealed) };
}

export async function openMaterial({ hsm }: Pick<Kmip, 'hsm'>, of: Sealing, { sealed }: SealedMaterial): Promise<Secret<Uint8Array>> {
  const opened = await hsm.decrypt(sealingKeyOf(of.tenantId, of.space), sealed, { associatedData: boundTo(of) });
  return new Secret(opened);
}

function boundTo({ tenantId, space, id, objectType }: Sealing): Uint8Array {
  return encodeUtf8(['keystored/kmip/1', tenantId, space.id, id, objectType].join('\0'));
}
