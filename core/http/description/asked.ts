// The answer 202 of operations that a rule of approvals may be about: other people were asked, and nothing was done yet.
import type { AnyEndpoint } from '../endpoint.ts';
import { type JsonSchema, type OpenApiDocument, type Reference, type Response, schemaPlace } from './document.ts';
import { mayNeedApproval } from './refusals.ts';
import { exampleOf } from './schema.ts';

const names = { withDocument: 'Accepted', alone: 'AcceptedAlone' } as const;
const described =
  'Nothing was done: with the header `Approval-Reason`, other people were asked to approve this very request. Sent once more with the header ' +
  '`Approval` and the id, when they have approved, it runs.';

/**
 * The responses of an endpoint that answer so; none where no rule can be about it. Of an operation that answers no document the content is left to the text:
 * generators take the one of the lowest status for what the operation answers, and fail at 204.
 */
export function askedOf(endpoint: AnyEndpoint, successes: Readonly<Record<string, Response>>): Readonly<Record<string, Reference>> {
  if (!mayNeedApproval(endpoint)) return {};
  const statuses = Object.keys(successes);
  if (statuses.includes('202')) throw new Error(`${endpoint.method} ${endpoint.path} has an answer 202 of its own`);
  const hasDocument = statuses.some((status) => status < '202' && successes[status]?.content !== undefined);
  return { 202: { $ref: `#/components/responses/${hasDocument ? names.withDocument : names.alone}` } };
}

const asked: JsonSchema = {
  type: 'object',
  description: 'A request for approval that was made in place of a call.',
  required: ['id', 'needed', 'expires', 'digest', 'digest-words'],
  properties: {
    id: { type: 'string', description: 'For the header `Approval`.', examples: ['f81d4fae-7dec-41d0-a765-00a0c91e6bf6'] },
    needed: { type: 'integer', format: 'int32', description: 'How many people must approve.', minimum: 1, examples: [2] },
    expires: { type: 'string', format: 'date-time', description: 'Until when they can.', examples: ['2026-11-28T12:00:00.000000Z'] },
    digest: {
      type: 'string',
      description: 'Of the request: approvers send it back.',
      examples: ['4q2v7nGmXjvYw1m0pJt6Jq0cB3Zr8Q5oWf2dKx9sLhE'],
    },
    'digest-words': {
      type: 'string',
      description: 'The same in six words, to be compared by telephone.',
      examples: ['lusab babad gutih tugad nomij pavod'],
    },
  },
};

/** The schema of the request for approval. */
export const askedSchemas: Readonly<Record<string, JsonSchema>> = { ApprovalAsked: asked };

/** The shared responses. */
export const askedResponses: OpenApiDocument['components']['responses'] = {
  [names.withDocument]: {
    description: described,
    headers: headers(),
    content: { 'application/json': { schema: { $ref: `${schemaPlace}ApprovalAsked` }, example: exampleOf(asked) } },
  },
  [names.alone]: { description: `${described} The body is JSON, an \`ApprovalAsked\`.`, headers: headers() },
};

function headers(): NonNullable<Response['headers']> {
  const schema = { type: 'string', format: 'uri-reference', examples: ['/v1/state/approvals/f81d4fae-7dec-41d0-a765-00a0c91e6bf6'] };
  return { Location: { description: 'Path of the request for approval.', schema } };
}
