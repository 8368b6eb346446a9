// The fields of a form, from the schema of a body: about ten kinds, containers taken apart, what is left as JSON.
import type { JsonSchema, OpenApiDocument } from '../../../../core/http/description/document.ts';
import { resolve } from '../description/schema.ts';

export type FieldKind = 'text' | 'long' | 'octets' | 'secret' | 'number' | 'boolean' | 'choice' | 'lines' | 'map' | 'json';

export type Field = {
  /** `auto-rotate/rotate-after`, as in `fields=` and in refusals */
  readonly path: string;
  readonly kind: FieldKind;
  readonly schema: JsonSchema;
  /** field and all that contain it */
  readonly required: boolean;
  /** null removes it */
  readonly nullable: boolean;
};

/** Deepest container that is taken apart; a schema that contains itself ends here. */
const deepest = 4;
/** Texts that may be longer get more room. */
const shortCharacters = 512;

/** Every field that a person can send, containers replaced by their fields. */
export function fieldsIn(body: JsonSchema, document: OpenApiDocument, within = '', isRequired = true, depth = 0): readonly Field[] {
  const required = new Set(body.required);
  return Object.entries(body.properties ?? {}).flatMap(([name, property]): readonly Field[] => {
    const { schema, nullable } = resolve(property, document);
    if (schema.readOnly === true) return [];
    const path = `${within}${name}`;
    const needed = isRequired && required.has(name);
    if (isContainer(schema) && depth < deepest) return fieldsIn(schema, document, `${path}/`, needed, depth + 1);
    return [{ path, kind: kindOf(schema, document), schema, required: needed, nullable }];
  });
}

function isContainer({ type, properties = {}, additionalProperties }: JsonSchema): boolean {
  return type === 'object' && Object.keys(properties).length > 0 && typeof additionalProperties !== 'object';
}

/** The first row that fits. */
const kinds: readonly (readonly [kind: FieldKind, fits: (schema: JsonSchema, items: JsonSchema) => boolean])[] = [
  ['boolean', ({ type }) => type === 'boolean'],
  ['choice', ({ enum: values }) => values !== undefined],
  ['number', ({ type }) => type === 'integer' || type === 'number'],
  ['lines', ({ type }, items) => type === 'array' && isScalar(items)],
  ['map', ({ type, additionalProperties: values }, items) => type === 'object' && typeof values === 'object' && isScalar(items)],
  [
    'octets',
    (schema) =>
      isText(schema) && (schema.contentEncoding === 'base64' || schema['x-payload'] === true || schema['x-text-or-base64'] === true),
  ],
  ['secret', (schema) => isText(schema) && schema['x-secret'] === true && !isPem(schema)],
  ['long', (schema) => isText(schema) && ((schema.maxLength ?? 0) > shortCharacters || isPem(schema))],
  ['text', isText],
];

function kindOf(schema: JsonSchema, document: OpenApiDocument): FieldKind {
  const { items: inList = {}, additionalProperties: inMap } = schema;
  // Schema of the elements of a list or a map; no schema is both.
  const items = resolve(typeof inMap === 'object' ? inMap : inList, document).schema;
  return kinds.find(([, fits]) => fits(schema, items))?.[0] ?? 'json';
}

function isScalar({ type, anyOf }: JsonSchema): boolean {
  return (
    type === 'string' || type === 'integer' || type === 'number' || (type === undefined && anyOf !== undefined && anyOf.every(isScalar))
  );
}

/** A text, or something that can be written as one. */
function isText({ type, anyOf = [] }: JsonSchema): boolean {
  return type === 'string' || (type === undefined && anyOf.some(isText));
}

function isPem({ examples = [] }: JsonSchema): boolean {
  return examples.some((example) => typeof example === 'string' && example.includes('-----BEGIN'));
}
