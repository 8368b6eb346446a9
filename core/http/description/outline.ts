// The outline of the API description: which operations there are, without their bodies, answers and schemas, for pages that begin with it.
import type { OpenApiDocument, Operation } from './document.ts';

/** A third of the whole. Operations without a command are left out: no page does them. */
export function outlineOf(document: OpenApiDocument): OpenApiDocument {
  const paths = Object.entries(document.paths).flatMap(([path, methods]) => {
    const kept = Object.entries(methods).filter(([, operation]) => operation['x-command'] !== undefined);
    return kept.length === 0 ? [] : [[path, Object.fromEntries(kept.map(([method, operation]) => [method, inBrief(operation)]))] as const];
  });
  const components = { ...document.components, schemas: {}, responses: {}, examples: {} };
  return { ...document, paths: Object.fromEntries(paths), components, 'x-errors': {} };
}

function inBrief(operation: Operation): Operation {
  const { requestBody: _, description: __, ...kept } = operation;
  return {
    ...kept,
    description: '',
    parameters: operation.parameters.map((one) => ({ ...one, description: '' })),
    responses: {},
    'x-codes': [],
  };
}
