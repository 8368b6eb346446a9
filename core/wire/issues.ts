// Turns an issue of zod into a sentence that names field, rule and fix in wire names, and never the value.
import type { z } from 'zod';
import { counted } from '../base/texts/counted.ts';
import type { Finding, IntegerBounds, Shape } from './shape.ts';

/** Describes one issue; `value` is the parsed input (camelCase), used only to tell missing fields from wrong ones. */
export function describeIssue(issue: z.core.$ZodIssue, shape: Shape, value: unknown): Finding {
  const { info, found, bounds } = locate(issue.path, shape, value);
  const subject = info === '' ? 'The body' : `"${info}"`;
  const where = info === '' ? {} : { info };
  if (found === undefined && issue.code !== 'custom') return { code: 'missing-field', message: `${subject} is required.`, ...where };
  const code = issue.code === 'custom' && issue.params?.['code'] === 'invalid-base64' ? 'invalid-base64' : 'invalid-value';
  return { code, message: `${subject} ${ruleOf(issue, bounds)}.`, ...where };
}

/** A name chosen by the caller if it is short and harmless enough for a message; otherwise a placeholder. */
export function shownName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : '(unprintable)';
}

/** The rule for integers between these bounds, as far as there are any. */
export function integerRule({ least = -Infinity, most = Infinity }: IntegerBounds): string {
  if (least === most) return `must be ${least}`;
  if (least > -Infinity && most < Infinity) return `must be an integer from ${least} to ${most}`;
  if (least > -Infinity) return `must be an integer of at least ${least}`;
  return most < Infinity ? `must be an integer of at most ${most}` : 'must be an integer from -9007199254740991 to 9007199254740991';
}

/** The issue's path in wire names, the value at the path, and the bounds of an integer there. */
function locate(
  path: readonly PropertyKey[],
  shape: Shape,
  value: unknown,
): { info: string; found: unknown; bounds: IntegerBounds | undefined } {
  const names: string[] = [];
  let here: Shape = shape;
  let found: unknown = value;
  for (const part of path) {
    found = typeof found === 'object' && found !== null ? (found as Record<PropertyKey, unknown>)[part] : undefined;
    const field = here.kind === 'object' ? here.byCamel.get(String(part)) : undefined;
    names.push(field === undefined ? shownName(String(part)) : field.wire);
    if (field !== undefined) here = field.shape;
    else if (here.kind === 'list') here = here.element;
    else if (here.kind === 'map') here = here.value;
  }
  return { info: names.join('/'), found, bounds: here.kind === 'value' ? here.integer : undefined };
}

function ruleOf(issue: z.core.$ZodIssue, bounds: IntegerBounds | undefined): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'int') return integerRule(bounds ?? {});
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'too_big':
      return `must be ${issue.exact === true ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most'} ${withUnit(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `must be ${issue.exact === true ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least'} ${withUnit(issue.minimum, issue.origin)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((one) => JSON.stringify(one)).join(', ')}`;
    case 'invalid_format':
      return issue.message.startsWith('Invalid ')
        ? `must be ${issue.pattern === undefined ? `a valid ${issue.format}` : `of the form ${issue.pattern}`}`
        : issue.message;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'custom':
      return issue.message === 'Invalid input' ? 'is not valid' : issue.message.replace(/\.$/, '');
    case 'invalid_union':
      return unionRule(issue, bounds);
    case 'invalid_key':
      return `cannot be a name here: a name ${issue.issues.map((one) => ruleOf(one, undefined)).join(' and ')}`;
    case 'unrecognized_keys':
    case 'invalid_element':
    default:
      return 'has a member that is not allowed';
  }
}

function unionRule(issue: z.core.$ZodIssueInvalidUnion, bounds: IntegerBounds | undefined): string {
  const rules = issue.errors.flatMap((option) => option.filter((inner) => inner.path.length === 0).map((one) => ruleOf(one, bounds)));
  return rules.length === 0 ? 'has none of the allowed forms' : [...new Set(rules)].join(' or ').replaceAll(' or must be ', ' or ');
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function withUnit(limit: number | bigint, origin: string): string {
  if (origin === 'string') return `${counted(limit, 'character')} long`;
  return origin === 'array' || origin === 'set' ? elementsLong(limit) : String(limit);
}

/** Length of a list. */
export function elementsLong(count: number | bigint): string {
  return `${counted(count, 'element')} long`;
}
