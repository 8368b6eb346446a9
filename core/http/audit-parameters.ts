// The input of a request in its audit record: allowed fields by value, payloads and secrets as {"bytes": n}.
import { hash } from 'node:crypto';
import { disclosureOf } from '../der/public-texts.ts';
import { isJsonObject } from '../wire/json.ts';
import { formatValue, type Shape } from '../wire/schema.ts';
import { payloadInBase64 } from './request/spellings.ts';
import type { AuditField } from './routes.ts';

/** Longer texts and lists are recorded by size and digest. */
const longestShownText = 256;
/** Limit of public texts, with room for a certificate on RSA-4096 and its issuer. Of callers without a token it is that of others. */
const longestShownPublicText = 4_096;

/** Parameters of a record, as they were sent, but for payloads, which are base64; undefined without any. `isAuthenticated`: the sender has a token. `brief`: what becomes of long values. */
export function requestParameters(
  fields: readonly AuditField[],
  input: unknown,
  isAuthenticated: boolean,
  brief: (value: unknown, longestPublic: number) => unknown = shortened,
): Record<string, unknown> | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  let parameters: Record<string, unknown> | undefined;
  const given = input as Readonly<Record<string, unknown>>;
  for (const { camel, wire, shape, sizeOnly, isPayload } of fields) {
    const value = isPayload && !sizeOnly ? payloadInBase64(given[camel], given['base64Encoded']) : given[camel];
    if (value === undefined) continue;
    (parameters ??= {})[wire] = sizeOnly
      ? sizeOf(value)
      : brief(formatValue(shape, value), isAuthenticated ? longestShownPublicText : longestShownText);
  }
  return parameters;
}

/** A payload or secret, by size. */
export function sizeOf(value: unknown): { readonly bytes: number } | { readonly items: number } {
  if (typeof value === 'string') return { bytes: Buffer.byteLength(value) };
  if (value instanceof Uint8Array) return { bytes: value.length };
  return { items: Array.isArray(value) ? value.length : 1 };
}

/** Reduces parts of a body that do not match the shape to their size: a secret in the wrong place is still a secret. */
export function inShape(shape: Shape | undefined, value: unknown): unknown {
  if (value === null || (shape?.kind === 'value' && typeof value !== 'object')) return value;
  if (shape?.kind === 'list' && Array.isArray(value)) return value.map((one) => inShape(shape.element, one));
  if ((shape?.kind === 'object' || shape?.kind === 'map') && isJsonObject(value)) {
    const below = (name: string): Shape | undefined => (shape.kind === 'map' ? shape.value : shape.byWire.get(name)?.shape);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inShape(below(name), one)]));
  }
  return { bytes: Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) };
}

/**
 * Replaces long texts and lists in a value (wire form) by size and digest, and of any length those that may have a private key: users paste them in
 * place of public ones. Certificates, requests and public keys stay, up to `longestPublic` characters. The digest is the SHA-256 of the text in UTF-8, or of the
 * JSON of the list without white space.
 */
export function shortened(value: unknown, longestPublic = longestShownPublicText): unknown {
  if (typeof value === 'string') {
    const disclosure = disclosureOf(value, longestPublic);
    return disclosure === 'doubtful' || (disclosure === undefined && value.length > longestShownText) ? withDigest(value) : value;
  }
  if (Array.isArray(value)) return value.length > longestShownText ? withDigest(value) : value.map((one) => shortened(one, longestPublic));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, longestPublic)]));
}

/** As shortened, but keeps texts and lists of any length. */
export function inWhole(value: unknown): unknown {
  if (typeof value === 'string') return disclosureOf(value, longestShownPublicText) === 'doubtful' ? withDigest(value) : value;
  if (Array.isArray(value)) return value.map(inWhole);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWhole(one)]));
}

/** Different values of fields (wire form) in the requests of a batch, in the order in which they come; payloads are base64. */
export function valuesInBatch(
  items: readonly Readonly<Record<string, unknown>>[],
  fields: readonly string[],
  payloads: ReadonlySet<string>,
): Record<string, unknown> {
  const valuesOf = (field: string): readonly unknown[] =>
    payloads.has(field) ? items.map((item) => payloadInBase64(item[field], item['base64-encoded'])) : items.map((item) => item[field]);
  const values = fields.map((field) => [field, [...new Set(valuesOf(field))].filter((value) => value !== undefined)] as const);
  return Object.fromEntries(values.flatMap(([field, found]) => (found.length === 0 ? [] : [[field, shortened(found)]])));
}

function withDigest(value: string | readonly unknown[]) {
  return { ...sizeOf(value), sha256: hash('sha256', typeof value === 'string' ? value : JSON.stringify(value), 'hex') };
}
