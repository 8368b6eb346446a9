// The input of a request in its audit record: allowed fields by value, payloads and secrets as {"bytes": n} (api 69).
import { hash } from 'node:crypto';
import { isJsonObject } from '../wire/json.ts';
import { formatOutput, type Shape } from '../wire/schema.ts';
import type { AuditField } from './routes.ts';

/** Longer texts and lists are recorded by size and digest. */
const longestShownText = 256;

/** Parameters of a record; undefined without any. */
export function requestParameters(fields: readonly AuditField[], input: unknown): Record<string, unknown> | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  let parameters: Record<string, unknown> | undefined;
  for (const { camel, wire, sizeOnly } of fields) {
    const value = (input as Record<string, unknown>)[camel];
    if (value !== undefined) (parameters ??= {})[wire] = sizeOnly ? sizeOf(value) : shortened(formatOutput(value));
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
 * Replaces long texts and lists in a value (wire form) by size and digest, and every PEM too: users paste private keys in place of public ones. The
 * digest is the SHA-256 of the text in UTF-8, or of the JSON of the list without white space.
 */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longestShownText || isPem(value) ? withDigest(value) : value;
  if (Array.isArray(value)) return value.length > longestShownText ? withDigest(value) : value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}

/** As shortened, but keeps texts and lists of any length. */
export function inWhole(value: unknown): unknown {
  if (typeof value === 'string') return isPem(value) ? withDigest(value) : value;
  if (Array.isArray(value)) return value.map(inWhole);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWhole(one)]));
}

/** Different values of fields (wire form) in the requests of a batch, in the order in which they come. */
export function valuesInBatch(items: readonly Readonly<Record<string, unknown>>[], fields: readonly string[]): Record<string, unknown> {
  const values = fields.map(
    (field) => [field, [...new Set(items.map((item) => item[field]))].filter((value) => value !== undefined)] as const,
  );
  return Object.fromEntries(values.flatMap(([field, found]) => (found.length === 0 ? [] : [[field, shortened(found)]])));
}

function isPem(text: string): boolean {
  return text.includes('-----BEGIN');
}

function withDigest(value: string | readonly unknown[]) {
  return { ...sizeOf(value), sha256: hash('sha256', typeof value === 'string' ? value : JSON.stringify(value), 'hex') };
}
