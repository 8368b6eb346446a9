// Form of a schema for the translation between code and wire, and the problems of a body.
import type { ErrorItem } from '../base/errors.ts';
import type { JsonValue } from './json.ts';

/** Form of a schema for the translation: names are fields in objects, and chosen by the caller in maps. */
export type Shape =
  | { readonly kind: 'object'; readonly byWire: ReadonlyMap<string, Field>; readonly byCamel: ReadonlyMap<string, Field> }
  | ListShape
  | { readonly kind: 'map'; readonly value: Shape }
  | { readonly kind: 'value'; readonly integer?: IntegerBounds };

/** Bounds of an integer, both included; absent: as far as integers are exact. */
export type IntegerBounds = { readonly least?: number; readonly most?: number };

/** A list. `most`: limit of its elements. */
type ListShape = {
  readonly kind: 'list';
  readonly element: Shape;
  readonly ordered: boolean;
  readonly whenEmpty: readonly JsonValue[] | undefined;
  readonly most: number;
};

/** A field. `absent`: the value (wire form) that an absent field stands for, if there is one. */
export type Field = {
  readonly wire: string;
  readonly camel: string;
  readonly shape: Shape;
  readonly readOnly: boolean;
  readonly absent?: JsonValue | undefined;
};

/** One problem of a body. */
export type Finding = {
  readonly code: 'unknown-field' | 'read-only-field' | 'missing-field' | 'invalid-value' | 'invalid-base64';
} & ErrorItem;
