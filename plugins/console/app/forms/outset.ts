// Knowledge of a page that the description has not: where a form begins, in which words, and what its request amounts to.
import type { ComponentChildren } from 'preact';
import type { Body, Draft, Typed } from './draft.ts';
import type { FieldWords } from './field.tsx';

export type Outset = {
  /** fields to begin with, in this order; all others are below "More settings" */
  readonly first: readonly string[];
  /** values that are set unless somebody types others */
  readonly preset?: Readonly<Record<string, Typed>>;
  /** values that are set whatever somebody types */
  readonly fixed?: Readonly<Record<string, Typed>>;
  /** words of fields of `first` */
  readonly words?: Readonly<Record<string, FieldWords>>;
  /** values that a field of `first` offers */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** parts of the page between the fields and the button */
  readonly beside?: ComponentChildren;
  /** effect of the request, in sentences */
  readonly review?: (body: Body) => ComponentChildren;
};

/** The draft of a form with what its page sets. A typed value that is not offered any longer does not count. */
export function withOutset({ preset = {}, fixed = {}, choices = {} }: Outset, typed: Draft): Draft {
  const kept = [...typed].filter(([path, value]) => typeof value !== 'string' || choices[path]?.includes(value) !== false);
  return new Map([...Object.entries(preset), ...kept, ...Object.entries(fixed)]);
}
