// Parts that the controls of forms share.
import type { OpenApiDocument } from '../../../../../core/http/description/document.ts';
import { textOf } from '../../description/schema.ts';
import type { Typed } from '../draft.ts';
import type { Field } from '../fields.ts';

export type ControlProps = {
  readonly field: Field;
  /** typed value; undefined: untouched */
  readonly typed: Typed | undefined;
  /** value of the document, as the field shows it */
  readonly present: Exclude<Typed, null> | undefined;
  /** true if an entry is changed, false if it is made */
  readonly isChange: boolean;
  readonly onType: (typed: Typed | undefined) => void;
  /** place to which the form sends it, so that a control finds the lists that belong to it */
  readonly place: FormPlace;
};

export type FormPlace = {
  readonly document: OpenApiDocument;
  /** template of the path of the request */
  readonly template: string;
  readonly names: readonly string[];
  /** true if the form lies over another one */
  readonly isAbove: boolean;
  /** opens the form that makes an entry of a list, over this one; absent where that is not possible */
  readonly onMake?: ((list: string, onMade: (name: string) => void) => void) | undefined;
};

export type Control = {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid'?: true;
  readonly required?: true;
};

export const plainInput = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

/** Returns the shown text: the typed one, else that of the document. */
export function shown({ typed, present }: ControlProps): string {
  const value = typed ?? present;
  return typeof value === 'string' ? value : '';
}

export function exampleOf({ field, isChange }: ControlProps): string | undefined {
  const [example] = field.schema.examples ?? [];
  return isChange || example === undefined || typeof example === 'object' ? undefined : `for example ${textOf(example)}`;
}
