// Formats the result of run() as an answer: JSON in wire form unless the endpoint says otherwise.
import { defined } from '../../base/defined.ts';
import { Wire, formatOutput } from '../../wire/schema.ts';
import type { Answer } from './answer.ts';
import type { FieldAccess } from '../../access/access-control.ts';
import { Reply, type AnyEndpoint } from '../endpoint.ts';

/** The answer of an endpoint. `access` is given when policies hide fields. */
export function formatReply(endpoint: AnyEndpoint, value: unknown, access: Pick<FieldAccess, 'withoutHidden'> | undefined): Answer {
  if (!(value instanceof Reply))
    return jsonAnswer(endpoint, endpoint.successStatus ?? (value === undefined ? 204 : 200), value, undefined, access);
  const { status, body, headers, last } = value;
  const { 'content-type': contentType, ...others } = headers;
  if (!isVerbatim(body)) return { ...jsonAnswer(endpoint, status, body, headers, access), ...defined({ last }) };
  const mediaType = typeof contentType === 'string' ? contentType : (endpoint.produces ?? 'application/octet-stream');
  return { status, mediaType, body, headers: others };
}

function jsonAnswer(
  endpoint: AnyEndpoint,
  status: number,
  value: unknown,
  headers: Answer['headers'],
  access: Pick<FieldAccess, 'withoutHidden'> | undefined,
): Answer {
  const added = headers === undefined ? nothing : { headers };
  if (value === undefined) return { status, ...added };
  const wire = value instanceof Wire ? value.value : formatOutput(value, endpoint.output);
  const shown = access === undefined ? wire : access.withoutHidden(wire, endpoint.nameField);
  return { status, mediaType: 'application/json', body: JSON.stringify(shown), ...added };
}

const nothing = {} as const;

function isVerbatim(body: unknown): body is string | Uint8Array | AsyncIterable<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return true;
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
