// The refusals of an endpoint: its error codes, a shared response for each of their statuses, and the form that all refusals have.
import { defined } from '../../base/defined.ts';
import { ServiceError, type ErrorRow, type ErrorTable } from '../../base/errors.ts';
import type { AnyEndpoint } from '../endpoint.ts';
import { formatProblem, problemMediaType } from '../response/problem.ts';
import { schemaPlace, type Content, type JsonSchema, type OpenApiDocument, type Reference, type Response } from './document.ts';

export type Refusals = {
  /** in the order of the checks; the most specific ones come last */
  readonly codes: readonly string[];
  /** by status, and `default` */
  readonly responses: Readonly<Record<string, Reference>>;
};

/** Returns codes, and responses shared by all operations. Throws if the endpoint names an error that no table has. */
export function refusalsOf(endpoint: AnyEndpoint, errors: ErrorTable): Refusals {
  const codes = codesOf(endpoint);
  const statuses = codes.map((code) => {
    const row = errors[code];
    if (row === undefined) throw new Error(`${endpoint.method} ${endpoint.path} names the error ${code}, which no table has`);
    return row.status;
  });
  const named = [...new Set(statuses)].map((status) => [status, { $ref: `${responsePlace}${kindOf(status).name}` }] as const);
  return { codes, responses: { ...Object.fromEntries(named), default: { $ref: `${responsePlace}${otherRefusal.name}` } } };
}

/** The shared responses and their examples: one for each status that an error has, by name. */
export function sharedRefusals(errors: ErrorTable): Pick<OpenApiDocument['components'], 'responses' | 'examples'> {
  const shown = new Map<number, string>();
  for (const [code, { status }] of Object.entries(errors)) if (status in kinds && !shown.has(status)) shown.set(status, code);
  const responses = [...shown].map(([status, code]): [string, Response] => {
    const { name, description } = kindOf(status);
    return [name, { description, ...defined({ headers: headersOf[status] }), content: problemContent({ [code]: exampleRefusal(code) }) }];
  });
  return {
    responses: {
      ...Object.fromEntries(responses),
      [otherRefusal.name]: { description: otherRefusal.description, content: problemContent() },
    },
    examples: Object.fromEntries(
      [...shown.values()].sort().map((code) => [code, { summary: errors[code]?.title ?? '', value: exampleProblem(code, errors) }]),
    ),
  };
}

/** Combines both bodies of a status that is used for an answer and for refusals. */
export function orRefused({ description, headers, content }: Response, status: string): Response {
  const text = `${description}; or refused: ${kindOf(Number(status)).description}`;
  const all = { ...headersOf[status], ...headers };
  return { description: text, ...(Object.keys(all).length === 0 ? {} : { headers: all }), content: { ...problemContent(), ...content } };
}

/** The document of a refusal with this code. */
export function exampleProblem(code: string, errors: ErrorTable): unknown {
  return formatProblem(new ServiceError(code, errors[code] as ErrorRow, {}), exampleRequestId);
}

const responsePlace = '#/components/responses/';
const exampleRequestId = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6';

type Kind = { readonly name: string; readonly description: string };

/** Meaning of each status. The names are those of RFC 9110, and types of generated clients: they never change. */
const kinds: Readonly<Record<number, Kind>> = {
  400: { name: 'BadRequest', description: 'The request itself is wrong.' },
  401: { name: 'Unauthorized', description: 'It is not certain who calls: the token or the login is not accepted.' },
  403: { name: 'Forbidden', description: 'The caller may not do this.' },
  404: { name: 'NotFound', description: 'There is no such thing, or not for this caller.' },
  405: { name: 'MethodNotAllowed', description: 'The path has other methods.' },
  408: { name: 'RequestTimeout', description: 'The request came too slowly.' },
  409: { name: 'Conflict', description: 'The present state of the resource forbids it; changing that state makes it work.' },
  412: { name: 'PreconditionFailed', description: 'The entity tags of the request do not fit the present state.' },
  413: { name: 'ContentTooLarge', description: 'The body is over the limit of the operation.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is of another media type.' },
  429: { name: 'TooManyRequests', description: 'Too many attempts or requests: wait, then try again.' },
  431: { name: 'RequestHeaderFieldsTooLarge', description: 'The headers are over 16 KiB.' },
  500: { name: 'InternalServerError', description: 'A fault of the appliance.' },
  502: { name: 'BadGateway', description: 'Another server gave no usable answer.' },
  503: { name: 'ServiceUnavailable', description: 'Not at the moment.' },
  504: { name: 'GatewayTimeout', description: 'Another server gave no answer in time.' },
};
const otherRefusal: Kind = { name: 'OtherRefusal', description: 'Any other refusal.' };

function kindOf(status: number): Kind {
  const kind = kinds[status];
  if (kind === undefined) throw new Error(`the API description has no name for refusals with status ${status}`);
  return kind;
}

function problemContent(examples?: Content[string]['examples']): Content {
  return { [problemMediaType]: { schema: problem, ...defined({ examples }) } };
}

const problem = { $ref: `${schemaPlace}Problem` };

function exampleRefusal(code: string) {
  return { $ref: `#/components/examples/${code}` };
}

/** The error codes of an endpoint: those of the pipeline that apply to it, and its own. */
export function codesOf(endpoint: AnyEndpoint): string[] {
  const hasBody = endpoint.method !== 'GET' && endpoint.method !== 'DELETE';
  const codes = [
    ...(endpoint.access === 'token' ? ['invalid-token', 'policy-denied', 'quota-exceeded'] : []),
    ...(endpoint.path.includes('{') ? ['not-found'] : []),
    ...(endpoint.anyQuery === true ? [] : ['unknown-parameter', 'invalid-value']),
    ...(hasBody ? ['invalid-json', 'unknown-field', 'missing-field', 'invalid-base64', 'payload-too-large', 'unsupported-media-type'] : []),
    ...(endpoint.documented?.resource === undefined || !hasBody ? [] : ['read-only-field']),
    ...(endpoint.whileSealed === true ? [] : ['sealed', 'cluster-unavailable', 'hsm-unavailable', 'storage-unavailable']),
    ...(endpoint.whileSealed === true || !hasBody ? [] : ['key-object-missing', 'token-not-configured']),
    ...(hasBody && endpoint.access === 'token' ? ['busy', 'too-slow'] : []),
    ...(endpoint.audit === 'required' ? ['audit-unavailable'] : []),
    ...(endpoint.audit === 'required' && endpoint.whileBehind !== true ? ['shipping-behind'] : []),
    ...(mayNeedApproval(endpoint) ? approvalCodes : []),
    'internal-error',
    ...(endpoint.errors ?? []),
  ];
  return [...new Set(codes)];
}

const approvalCodes = ['approval-needed', 'approval-refused', 'approval-missing', 'approval-void', 'invalid-value', 'precondition-failed'];

/** Tells whether a rule of approvals may be about an endpoint. */
export function mayNeedApproval({ access, method, ...endpoint }: AnyEndpoint): boolean {
  const act = 'act' in endpoint ? endpoint.act : undefined;
  if (access === 'public') return false;
  return act === undefined ? method !== 'GET' : act !== 'none';
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

/** Schema of one problem. */
export const problemItemSchema: JsonSchema = {
  type: 'object',
  description: 'One thing that is wrong with a request.',
  required: ['error-message'],
  properties: {
    'error-message': { type: 'string', description: 'What is wrong.', examples: ['"cipher" must be a text.'] },
    'error-info': { type: 'string', description: 'Where: the path of the field.', examples: ['auto-rotate/rotate-after'] },
  },
};
