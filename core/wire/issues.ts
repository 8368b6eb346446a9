// Turns an issue of zod into a sentence that names field, rule and fix in wire names, and never the value.
import type { z } from 'zod';
import type { Finding, Shape } from './shape.ts';

/** Describes one issue; `value` is the parsed input (camelCase), used only to tell missing fields from wrong ones. */
export function describeIssue(issue: z.core.$ZodIssue, shape: Shape, value: unknown): Finding {
  const { info, found } = locate(issue.path, shape, value);
  const subject = info === '' ? 'The body' : `"${info}"`;
  const where = info === '' ? {} : { info };
  if (found === undefined && issue.code !== 'custom') return { code: 'missing-field', message: `${subject} is required.`, ...where };
  const code = issue.code === 'custom' && issue.params?.['code'] === 'invalid-base64' ? 'invalid-base64' : 'invalid-value';
  return { code, message: `${subject} ${ruleOf(issue)}.`, ...where };
}

/** A name chosen by the caller if it is short and harmless enough for a message; otherwise a placeholder. */
export function shownName(name: string): string {
  return /^[\w.-]{1,64}$/.test(name) ? name : '(unprintable)';
}

/** The issue's path in wire names, and the value at the path. */
function locate(path: readonly PropertyKey[], shape: Shape, value: unknown): { info: string; found: unknown } {
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
  return { info: names.join('/'), found };
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'too_big':
      return `must be ${issue.exact === true ? 'exactly' : issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `must be ${issue.exact === true ? 'exactly' : issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`;
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
      return unionRule(issue);
    case 'invalid_key':
      return `cannot be a name here: a name ${issue.issues.map(ruleOf).join(' and ')}`;
    case 'unrecognized_keys':
    case 'invalid_element':
    default:
      return 'has a member that is not allowed';
  }
}

function unionRule(issue: z.core.$ZodIssueInvalidUnion): string {
  const rules = issue.errors.flatMap((option) => option.filter((inner) => inner.path.length === 0).map(ruleOf));
  return rules.length === 0 ? 'has none of the allowed forms' : [...new Set(rules)].join(' or ').replaceAll(' or must be ', ' or ');
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer within -9007199254740991 and 9007199254740991',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' || origin === 'set' ? ' elements long' : '';
}
