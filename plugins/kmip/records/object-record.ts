// Records of managed objects. The material is a record of its own: lists and searches do not read it, and Destroy removes it.
import type { AttributeValue, ObjectType } from './object-values.ts';

/** An attribute as it is stored, with the index by which KMIP 1.x names it. */
export type StoredAttribute = { readonly name: string; readonly index: number; readonly value: AttributeValue };

/** A version of a transit key. `keyId`: a later key of the name is another one. */
export type Tie = {
  readonly transitKey: string;
  readonly keyId: string;
  readonly version: number;
  readonly cipher: string;
  readonly use: 'encrypt' | 'sign' | 'mac';
};

/** Key Wrapping Data as it came, in TTLV. `isWhole`: the material is the whole Key Value, wrapped; otherwise the Key Material in it. */
export type KeyWrapping = { readonly data: Uint8Array; readonly isWhole: boolean };

export type ObjectRecord = {
  readonly objectType: ObjectType;
  /** name of the client entry that made it; of an administrator who tied it: absent */
  readonly client?: string;
  /** RFC 3339 UTC with six decimals */
  readonly created: string;
  /** by name and index; State, Object Type and Unique Identifier follow from the rest, and are not stored */
  readonly attributes: readonly StoredAttribute[];
  /** Key Format Type of the material; absent: none */
  readonly keyFormat?: number;
  /** Certificate Type, Secret Data Type or Opaque Data Type */
  readonly subtype?: number;
  /** of material that came wrapped, and leaves so */
  readonly wrapping?: KeyWrapping;
  /** version of a transit key that the object is: its material stays there */
  readonly tie?: Tie;
  /** first time that its material has left; RFC 3339 UTC with six decimals */
  readonly leftAt?: string;
};

export type SealedMaterial = {
  /** as Hsm.encrypt answers it, under the key of the space, bound to tenant, space and object */
  readonly sealed: Uint8Array;
};

/** Tells whether an object has a record of material: templates have none, and that of a tied one is the transit key's. */
export function hasMaterial({ objectType, tie }: Pick<ObjectRecord, 'objectType' | 'tie'>): boolean {
  return objectType !== 'template' && tie === undefined;
}
