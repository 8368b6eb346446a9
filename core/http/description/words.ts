// Types and limits of fields in words, for the page and for the help of the command line.
import { counted } from '../../base/texts/counted.ts';
import type { JsonSchema } from './document.ts';

/** `text`, `list of text`, `map of whole number`, `latest or whole number`. */
export function typeOf(schema: JsonSchema): string {
  const choices = schema.properties === undefined ? (schema.anyOf ?? schema.oneOf) : undefined;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', '');
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one).replaceAll('"', '')).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object') {
    const { additionalProperties: values } = schema;
    return schema.properties === undefined && typeof values === 'object' ? `map of ${typeOf(values)}` : 'container';
  }
  if (schema['x-words'] !== undefined) return [...schema['x-words'], nameOf(schema)].join(' or ');
  if (schema.contentEncoding === 'base64' || schema['x-payload'] === true) return 'base64';
  if (schema.format === 'date-time') return 'timestamp';
  return nameOf(schema);
}

function nameOf({ type }: JsonSchema): string {
  return typeNames[typeof type === 'object' ? type[0] : (type ?? '')] ?? 'any value';
}

const typeNames: Readonly<Record<string, string>> = { string: 'text', integer: 'whole number', number: 'number', boolean: 'true or false' };

/** The limits and marks of a field. */
export function rulesOf(field: JsonSchema): string[] {
  const preset = field['x-default'] ?? field.default;
  return [
    ...range(field.minimum, field.maximum),
    ...range(field.minLength, field.maxLength, 'character'),
    ...range(field.minItems, field.maxItems, 'entry', 'entries'),
    ...(preset === undefined || typeof preset === 'object' || preset === ''
      ? []
      : [`default ${JSON.stringify(preset).replaceAll('"', '')}`]),
    ...(field['x-secret'] === true ? ['secret'] : []),
    ...(field.readOnly === true ? ['read-only'] : []),
    ...(field['x-creation-only'] === true ? ['set at creation only'] : []),
    ...(field['x-one-way'] === true ? ['cannot be set back'] : []),
    ...(field['x-names']?.needs ?? []).map(({ operation, path }) => `needs ${operation} of ${path.replace('{}', '<name>')}`),
  ];
}

function range(from: number | undefined, to: number | undefined, unit?: string, units?: string): string[] {
  const of = (count: number): string => (unit === undefined ? String(count) : counted(count, unit, units));
  if (to === undefined) return from === undefined || from === 0 ? [] : [`at least ${of(from)}`];
  if (from === to) return [of(to)];
  return [from === undefined ? `at most ${of(to)}` : `${from} to ${of(to)}`];
}
