// The body of a request as the typed input of its endpoint: media type, then JSON (or a form, or octets), then the schema.
import type { IncomingHttpHeaders } from 'node:http';
import { decodeUtf8 } from '../../base/bytes.ts';
import { fail } from '../../base/errors.ts';
import { parseJsonObject, type JsonObject } from '../../wire/json.ts';
import type { LargeJson } from '../../wire/json-large.ts';
import { parseInput, parseTranslated } from '../../wire/schema.ts';
import type { AnyEndpoint } from '../endpoint.ts';

const jsonMediaType = 'application/json';
const formMediaType = 'application/x-www-form-urlencoded';
const mergePatchMediaType = 'application/merge-patch+json';

/** The media types an endpoint takes. */
export function mediaTypesOf(endpoint: Pick<AnyEndpoint, 'method' | 'consumes'>): readonly string[] {
  if (endpoint.consumes !== undefined) return [endpoint.consumes];
  return endpoint.method === 'PATCH' ? [jsonMediaType, mergePatchMediaType] : [jsonMediaType];
}

/** Tells whether a body is a merge patch of RFC 7396, which replaces lists. */
export function isMergePatch(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType) === mergePatchMediaType;
}

function mediaTypeOf(contentType: string | undefined): string {
  return (contentType?.split(';')[0] ?? '').trim().toLowerCase();
}

/** Throws `unsupported-media-type` for a body of another type, charset or content coding. An empty body needs no type. */
export function requireMediaType(endpoint: AnyEndpoint, headers: IncomingHttpHeaders, body: { readonly length: number }): void {
  if (body.length === 0) return;
  const { 'content-type': contentType, 'content-encoding': coding } = headers;
  if (contentType === jsonMediaType && endpoint.consumes === undefined && coding === undefined) return;
  const accepted = mediaTypesOf(endpoint);
  const [mediaType = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  const fits =
    accepted.includes(mediaType) && (charset === undefined || charset === 'utf-8') && (coding === undefined || coding === 'identity');
  if (!fits)
    throw fail('unsupported-media-type', { detail: `The body must be ${accepted.join(' or ')} in UTF-8, without content coding.` });
}

/** A body that was parsed before its turn. The result is used in its place among the checks. */
export type ReadBody = { readonly length: number; readonly json: PromiseSettledResult<LargeJson> };

/** The text that was taken out of a large body. */
export function largeTextOf(body: Uint8Array | ReadBody): Uint8Array | undefined {
  return 'json' in body && body.json.status === 'fulfilled' ? body.json.value.text : undefined;
}

/** Tells whether a body should be parsed by another thread: it is JSON, and takes milliseconds. */
export function isLongReading({ consumes }: AnyEndpoint, body: Uint8Array): boolean {
  return body.length > quickBytes && (consumes === undefined || consumes === jsonMediaType);
}

/** Parsing this much takes half a millisecond. */
const quickBytes = 256 * 1024;

/**
 * The input for run(). An absent body counts as an empty object; without an input schema no field may be sent. `translated`: from the document of
 * a foreign protocol.
 */
export function readInput(
  endpoint: AnyEndpoint,
  body: Uint8Array | ReadBody,
  translated: (document: JsonObject) => JsonObject = same,
): unknown {
  if (body instanceof Uint8Array && endpoint.consumes !== undefined && endpoint.consumes !== jsonMediaType) {
    return endpoint.consumes === formMediaType ? readForm(endpoint, body) : body;
  }
  const json = translated(body.length === 0 ? nothing : jsonOf(body));
  if (endpoint.input !== undefined) return parseInput(endpoint.input, json);
  if (Object.keys(json).length > 0) throw fail('unknown-field', { detail: 'This operation takes no fields.' });
  return undefined;
}

const nothing: JsonObject = {};
const same = (document: JsonObject): JsonObject => document;

function jsonOf(body: Uint8Array | ReadBody): JsonObject {
  if (body instanceof Uint8Array) return parseJsonObject(body);
  if (body.json.status === 'rejected') throw body.json.reason;
  return body.json.value.value;
}

/** Names as sent; of a repeated name the last value counts. */
function readForm(endpoint: AnyEndpoint, body: Uint8Array): unknown {
  const text = decodeUtf8(body);
  if (text === undefined) throw fail('invalid-value', { detail: 'The form must be UTF-8.' });
  const fields = Object.fromEntries(new URLSearchParams(text));
  return endpoint.input === undefined ? fields : parseTranslated(endpoint.input, { kind: 'value' }, fields);
}
