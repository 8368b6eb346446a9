// Types, states and attributes of managed objects, as operations, records and documents have them.

export const objectTypes = {
  certificate: 1,
  'symmetric-key': 2,
  'public-key': 3,
  'private-key': 4,
  /** up to 1.4 */
  template: 6,
  'secret-data': 7,
  'opaque-object': 8,
} as const;
export type ObjectType = keyof typeof objectTypes;

export const objectStates = {
  'pre-active': 1,
  active: 2,
  deactivated: 3,
  compromised: 4,
  destroyed: 5,
  'destroyed-compromised': 6,
} as const;
export type ObjectState = keyof typeof objectStates;

/**
 * Value of an attribute. Enumerations have the number of the specification. A structure has its fields in the order of the specification, by
 * the names of their tags without spaces: Name is `{ type: 'structure', fields: [['NameValue', …], ['NameType', …]] }`.
 */
export type AttributeValue =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'integer' | 'enumeration' | 'interval'; readonly value: number }
  /** decimal */
  | { readonly type: 'long'; readonly value: string }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'octets' | 'big-integer'; readonly value: Uint8Array }
  /** seconds since 1970 */
  | { readonly type: 'date'; readonly value: number }
  | { readonly type: 'structure'; readonly fields: readonly (readonly [tag: string, value: AttributeValue])[] };

/** An attribute by its name in KMIP 1.x: `Cryptographic Usage Mask`, `Name`, `x-…`. Vendor attributes of 2.0 are `y-VENDOR-NAME` unless the vendor is `x`. */
export type Attribute = {
  readonly name: string;
  /** absent: 0, or the next free one where one is added */
  readonly index?: number;
  readonly value: AttributeValue;
};
