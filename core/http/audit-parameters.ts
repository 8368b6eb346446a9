// The input of a request in its audit record: allowed fields by value, payloads and secrets as {"bytes": n} (api 69).
import { formatOutput } from '../wire/schema.ts';
import type { AuditField } from './routes.ts';

/** Longer texts are recorded by size. */
const longestShownText = 256;

/** The parameters of a record, or undefined when there are none. */
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

/** A value in wire form with long texts by size, and every PEM too: users paste private keys where public ones belong. */
export function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > longestShownText || value.includes('-----BEGIN') ? sizeOf(value) : value;
  if (Array.isArray(value)) return value.length > longestShownText ? sizeOf(value) : value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}
