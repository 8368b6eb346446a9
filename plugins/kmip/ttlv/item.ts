// Items of TTLV (KMIP 1.4 section 9.1): tag, type, value.
import { type EnumerationName, type EnumerationWord, enumerations } from './enumerations.ts';
import { type TagName, tags } from './tags.ts';

/** Types by their numbers. */
export const itemTypes = {
  structure: 1,
  integer: 2,
  long: 3,
  'big-integer': 4,
  enumeration: 5,
  boolean: 6,
  text: 7,
  octets: 8,
  /** seconds since 1970 */
  date: 9,
  interval: 10,
  /** 2.0: microseconds since 1970 */
  'date-extended': 11,
} as const;
export type ItemType = keyof typeof itemTypes;

/** Values by their types. */
export type Values = {
  readonly structure: readonly Item[];
  readonly integer: number;
  readonly long: bigint;
  /** two's complement, in a multiple of eight octets */
  readonly 'big-integer': Uint8Array;
  readonly enumeration: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly octets: Uint8Array;
  readonly date: number;
  readonly interval: number;
  readonly 'date-extended': bigint;
};

type ItemOf<T extends ItemType> = { readonly tag: number; readonly type: T; readonly value: Values[T] };
/** An item. Tags are numbers, since vendors have their own. */
export type Item = { readonly [T in ItemType]: ItemOf<T> }[ItemType];
export type Structure = ItemOf<'structure'>;

/** Makes a structure; absent items are left out. */
export function structure(tag: TagName, ...items: readonly (Item | undefined)[]): Structure {
  return { tag: tags[tag], type: 'structure', value: items.filter((item) => item !== undefined) };
}

export function text(tag: TagName, value: string): Item {
  return { tag: tags[tag], type: 'text', value };
}

export function integer(tag: TagName, value: number): Item {
  return { tag: tags[tag], type: 'integer', value };
}

export function date(tag: TagName, value: number): Item {
  return { tag: tags[tag], type: 'date', value };
}

export function boolean(tag: TagName, value: boolean): Item {
  return { tag: tags[tag], type: 'boolean', value };
}

export function octets(tag: TagName, value: Uint8Array): Item {
  return { tag: tags[tag], type: 'octets', value };
}

/** Makes an enumeration by the name of its value. */
export function enumeration<Name extends EnumerationName>(tag: Name, word: EnumerationWord<Name>): Item {
  return enumerated(tag, enumerations[tag][word]);
}

/** Makes an enumeration by its number. */
export function enumerated(tag: TagName, value: number): Item {
  return { tag: tags[tag], type: 'enumeration', value };
}
