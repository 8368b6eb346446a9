// The refusals of an endpoint: its error codes by status, and the form they all have.
import { defined } from '../../base/defined.ts';
import { ServiceError, type ErrorRow, type ErrorTable } from '../../base/errors.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { formatProblem, problemMediaType } from '../response/problem.ts';
import { mapValues, schemaPlace, type JsonSchema, type OpenApiDocument, type Response } from './document.ts';

/** Responses by status. Throws when the endpoint names an error that no table has. */
export function refusalsOf(endpoint: AnyEndpoint, errors: ErrorTable): Record<string, Response> {
  const byStatus: Record<string, string[]> = {};
  for (const code of codesOf(endpoint)) {
    const row = errors[code];
    if (row === undefined) throw new Error(`${endpoint.method} ${endpoint.path} names the error ${code}, which no table has`);
    (byStatus[row.status] ??= []).push(code);
  }
  const responses = mapValues(byStatus, (codes, status) => ({
    description: codes.map((code) => `\`${code}\`: ${errors[code]?.when ?? ''}`).join('; '),
    'x-codes': codes,
    ...defined({ headers: headersOf[status] }),
    // The last code is the one that says most about this operation.
    content: { [problemMediaType]: { schema: problem, examples: exampleRefusal(codes.at(-1) ?? '') } },
  }));
  return { ...responses, default: { description: 'Any other refusal.', content: { [problemMediaType]: { schema: problem } } } };
}

const problem = { $ref: `${schemaPlace}Problem` };

function exampleRefusal(code: string) {
  return { [code]: { $ref: `#/components/examples/${code}` } };
}

/** A refusal for each code that one of the responses gives as its example. */
export function exampleRefusals(responses: readonly Response[], errors: ErrorTable): OpenApiDocument['components']['examples'] {
  const shown = responses.flatMap(({ content = {} }) => Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)));
  const codes = [...new Set(shown)].sort();
  return Object.fromEntries(
    codes.map((code) => {
      const row = errors[code] as ErrorRow;
      return [code, { summary: row.title, value: formatProblem(new ServiceError(code, row, {}), exampleRequestId) }];
    }),
  );
}

const exampleRequestId = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';

/** The error codes of an endpoint: those of the pipeline that apply to it, and its own. */
export function codesOf(endpoint: AnyEndpoint): string[] {
  const hasBody = endpoint.method !== 'GET' && endpoint.method !== 'DELETE';
  const codes = [
    ...(endpoint.access === 'token' ? ['invalid-token', 'policy-denied'] : []),
    ...(endpoint.path.includes('{') ? ['not-found'] : []),
    ...(endpoint.anyQuery === true ? [] : ['unknown-parameter', 'invalid-value']),
    ...(hasBody ? ['invalid-json', 'unknown-field', 'missing-field', 'invalid-base64', 'payload-too-large', 'unsupported-media-type'] : []),
    ...(endpoint.documented?.resource === undefined || !hasBody ? [] : ['read-only-field']),
    ...(endpoint.whileSealed === true ? [] : ['sealed', 'hsm-unavailable', 'storage-unavailable']),
    ...(endpoint.whileSealed === true || !hasBody ? [] : ['key-object-missing', 'token-not-configured']),
    ...(hasBody && endpoint.access === 'token' ? ['busy'] : []),
    ...(endpoint.audit === 'required' ? ['audit-unavailable'] : []),
    ...(endpoint.audit === 'required' && endpoint.whileBehind !== true ? ['shipping-behind'] : []),
    'internal-error',
    ...(endpoint.errors ?? []),
  ];
  return [...new Set(codes)];
}

const retryAfterHeader = {
  description: 'Seconds to wait before the next attempt.',
  schema: { type: 'integer', format: 'int32', minimum: 1, examples: [5] },
};
const headersOf: Readonly<Record<string, Response['headers']>> = {
  401: {
    'WWW-Authenticate': { description: 'The scheme: a token is sent as `Bearer`.', schema: { type: 'string', examples: ['Bearer'] } },
  },
  429: { 'Retry-After': retryAfterHeader },
  503: { 'Retry-After': retryAfterHeader },
};

/** The body of every refusal (core/http/response/problem.ts). */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'Why a request was refused (RFC 9457).',
  required: ['type', 'title', 'status', 'code', 'request-id', 'errors'],
  properties: {
    type: { type: 'string', description: '`urn:keystore:error:` and the code.', examples: ['urn:keystore:error:not-found'] },
    title: { type: 'string', description: 'The code in words.', examples: ['Not found'] },
    status: { type: 'integer', format: 'int32', description: 'The HTTP status.', minimum: 400, maximum: 599, examples: [404] },
    detail: {
      type: 'string',
      description: 'For people: field, rule and fix. Absent from 500 up.',
      examples: ['There is no transit key of this name.'],
    },
    code: { type: 'string', description: 'The contract: kebab-case, never reused; see `x-errors`.', examples: ['not-found'] },
    'request-id': { type: 'string', description: 'Finds the request in logs.', examples: ['f81d4fae-7dec-41d0-a765-00a0c91e6bf6'] },
    errors: {
      type: 'array',
      minItems: 1,
      description: 'One item for each thing that is wrong.',
      items: { $ref: `${schemaPlace}ProblemItem` },
    },
  },
};

/** One thing that is wrong. */
export const problemItemSchema: JsonSchema = {
  type: 'object',
  description: 'One thing that is wrong with a request.',
  required: ['error-message'],
  properties: {
    'error-message': { type: 'string', description: 'What is wrong.', examples: ['"cipher" must be a text.'] },
    'error-info': { type: 'string', description: 'Where: the path of the field.', examples: ['auto-rotate/rotate-after'] },
  },
};
