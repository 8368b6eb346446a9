// Formats the result of run() as an answer: JSON in wire form unless the endpoint says otherwise.
import { Wire, formatOutput } from '../../wire/schema.ts';
import type { Answer } from './answer.ts';
import type { FieldAccess } from '../../access/access-control.ts';
import { Reply, type AnyEndpoint } from '../endpoint.ts';

/** Form of an answer. `access` is given when policies hide fields; `takesDocument`: the exchange reads the document of the answer. */
export type ReplyForm = { readonly access?: Pick<FieldAccess, 'withoutHidden'> | undefined; readonly takesDocument?: boolean | undefined };

/** The answer of an endpoint. */
export function formatReply(endpoint: AnyEndpoint, value: unknown, form: ReplyForm): Answer {
  if (!(value instanceof Reply))
    return jsonAnswer(endpoint, endpoint.successStatus ?? (value === undefined ? 204 : 200), value, undefined, form);
  const { status, body, headers, last } = value;
  const { 'content-type': contentType, ...others } = headers;
  if (!isVerbatim(body)) {
    const answer = jsonAnswer(endpoint, status, body, headers, form);
    // Never spread: that would write a body that nobody may ask for.
    return last === undefined ? answer : Object.assign(answer, { last });
  }
  const mediaType = typeof contentType === 'string' ? contentType : (endpoint.produces ?? 'application/octet-stream');
  return { status, mediaType, body, headers: others };
}

function jsonAnswer(
  endpoint: AnyEndpoint,
  status: number,
  value: unknown,
  headers: Answer['headers'],
  { access, takesDocument = false }: ReplyForm,
): Answer {
  const added = headers === undefined ? nothing : { headers };
  if (value === undefined) return { status, ...added };
  const wire = value instanceof Wire ? value.value : formatOutput(value, endpoint.output);
  const shown = access === undefined ? wire : access.withoutHidden(wire, endpoint.nameField);
  if (!takesDocument) return { status, mediaType: 'application/json', body: JSON.stringify(shown), ...added };
  return {
    ...{ status, mediaType: 'application/json', document: shown, ...added },
    get body() {
      return JSON.stringify(shown);
    },
  };
}

const nothing = {} as const;

function isVerbatim(body: unknown): body is string | Uint8Array | AsyncIterable<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return true;
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
