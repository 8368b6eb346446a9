// Schemas of the description as the pages need them: references followed, and what may be null kept apart from what it is.
import type { JsonSchema, OpenApiDocument, Operation } from '../../../../core/http/description/document.ts';

/** A schema without reference at its top; `nullable`: null removes the field. */
export type Resolved = { readonly schema: JsonSchema; readonly nullable: boolean };

const place = '#/components/schemas/';

/** Follows one level; what is inside is resolved when it is looked at. */
export function resolve(schema: JsonSchema, document: OpenApiDocument): Resolved {
  const { $ref, anyOf, ...own } = schema;
  if ($ref !== undefined) {
    const named = document.components.schemas[$ref.slice(place.length)] ?? {};
    const { schema: inner, nullable } = resolve(named, document);
    return { schema: { ...inner, ...own }, nullable };
  }
  const [choice, nothing] = anyOf ?? [];
  if (choice !== undefined && anyOf?.length === 2 && nothing?.type === 'null') {
    return { schema: { ...resolve(choice, document).schema, ...own }, nullable: true };
  }
  const { type } = schema;
  if (typeof type === 'object') return { schema: { ...schema, type: type[0] }, nullable: true };
  return { schema, nullable: false };
}

/** The body of a request, if it is JSON. */
export function inputOf({ requestBody }: Operation, document: OpenApiDocument): JsonSchema | undefined {
  const body = requestBody?.content['application/json']?.schema;
  return body === undefined ? undefined : resolve(body, document).schema;
}

/** Schema of a 2xx answer, if it is JSON. */
export function outputOf({ responses }: Operation, document: OpenApiDocument): JsonSchema | undefined {
  const found = Object.entries(responses).find(([status, response]) => status.startsWith('2') && !('$ref' in response));
  const response = found?.[1];
  if (response === undefined || '$ref' in response) return undefined;
  const schema = response.content?.['application/json']?.schema;
  return schema === undefined ? undefined : resolve(schema, document).schema;
}

/** The fields of an entry of a list. */
export function columnsOf(operation: Operation, document: OpenApiDocument): Readonly<Record<string, JsonSchema>> {
  const { items = {} } = outputOf(operation, document) ?? {};
  const { properties = {} } = resolve(items, document).schema;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, resolve(schema, document).schema]));
}

/** A value as text: texts as they are, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
