// Links between objects (KMIP 1.4 section 3.35).
import type { StoredAttribute } from '../records/object-record.ts';
import type { Attribute } from '../records/object-values.ts';

/** Link Types that are set here. */
export const links = { publicKey: 0x102, privateKey: 0x103, replacement: 0x106, replaced: 0x107 } as const;

export function linkTo(type: number, id: string): Attribute {
  return {
    name: 'Link',
    value: {
      type: 'structure',
      fields: [
        ['LinkType', { type: 'enumeration', value: type }],
        ['LinkedObjectIdentifier', { type: 'text', value: id }],
      ],
    },
  };
}

export function isLink({ name, value }: StoredAttribute, type: number): boolean {
  if (name !== 'Link' || value.type !== 'structure') return false;
  const kind = value.fields.find(([tag]) => tag === 'LinkType')?.[1];
  return kind?.type === 'enumeration' && kind.value === type;
}
