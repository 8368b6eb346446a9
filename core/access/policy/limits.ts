// Limits of rules that allow something: values and hidden fields, in the form in which they are judged and compared.
import type { Grants } from './engine.ts';

/** A field, its path, and the values that it may have. */
export type Limit = { readonly field: string; readonly path: readonly string[]; readonly values: ReadonlySet<unknown> };

/** Restrictions from the rules of one policy for one path. */
export type Restrictions = {
  readonly restricts: boolean;
  readonly limits: readonly (readonly Limit[])[];
  readonly hidden: ReadonlySet<string>;
};

/** Fields left out of answers; `around`: they themselves, and the containers that they are in. */
type Hidden = { readonly fields: ReadonlySet<string>; readonly around: ReadonlySet<string> };

const restrictions = new WeakMap<Grants, Restrictions>();

/** Computes restrictions once for a list of rules, which stays the same as long as its policy. */
export function restrictionsOf(grants: Grants): Restrictions {
  let known = restrictions.get(grants);
  if (known === undefined) {
    const allowed = new Map(grants.map(({ allowedValues }) => [JSON.stringify(allowedValues), allowedValues]));
    known = {
      restricts: grants.every((rule) => rule.hideFields.length > 0 || Object.keys(rule.allowedValues).length > 0),
      limits: [...allowed.values()].map((values) =>
        Object.entries(values).map(([field, some]) => ({ field, path: field.split('/'), values: new Set<unknown>(some) })),
      ),
      hidden: inEach(grants.map(({ hideFields }) => new Set(hideFields))),
    };
    restrictions.set(grants, known);
  }
  return known;
}

function inEach([first = new Set(), ...others]: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set([...first].filter((one) => others.every((other) => other.has(one))));
}

/** Fields hidden by all deciding policies together, by the first policy: lists request the same ones repeatedly. */
const together = new WeakMap<Grants, { readonly of: readonly Grants[]; readonly hidden: Hidden }>();
const nothing: Hidden = { fields: new Set(), around: new Set() };

/** Fields that all of the rules hide. */
export function hiddenBy(grants: readonly Grants[]): Hidden {
  const [first] = grants;
  if (first === undefined) return nothing;
  const known = together.get(first);
  if (known !== undefined && known.of.length === grants.length && known.of.every((one, index) => one === grants[index]))
    return known.hidden;
  const fields = inEach(grants.map((one) => restrictionsOf(one).hidden));
  const hidden = { fields, around: new Set([...fields].flatMap((field) => [field, ...containersOf(field)])) };
  together.set(first, { of: grants, hidden });
  return hidden;
}

/** Containers of a field: for `a/b/c` these are `a/b` and `a`. */
export function containersOf(field: string): readonly string[] {
  const parts = field.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Tells whether these rules restrict anything. Most do not, and then the other functions are not called. */
export function hasConstraints(grants: readonly Grants[]): boolean {
  return grants.every((one) => restrictionsOf(one).restricts);
}

/** Tells whether rules, allowing together, neither accept nor show more than others, allowing together. */
export function isAsNarrow(narrow: readonly Grants[], wide: readonly Grants[]): boolean {
  const { fields } = hiddenBy(narrow);
  const isHidden = (field: string): boolean => [field, ...containersOf(field)].some((one) => fields.has(one));
  if (![...hiddenBy(wide).fields].every(isHidden)) return false;
  const [own, others] = [narrow, wide].map((grants) => grants.flatMap((one) => restrictionsOf(one).limits));
  return own?.every((limits) => others?.some((other) => other.every((limit) => limits.some((one) => isWithin(one, limit))))) === true;
}

function isWithin(inner: Limit, outer: Limit): boolean {
  return inner.field === outer.field && inner.values.isSubsetOf(outer.values);
}
