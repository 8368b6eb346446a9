// The thread of json-reader.ts: parses one body after another by the rules of json.ts.
import { parentPort } from 'node:worker_threads';
import { ServiceError } from '../base/errors.ts';
import { parseJsonObject } from './json.ts';
import { parseAround, type LargeJson } from './json-large.ts';

/** A body to parse; the text of its `largeField` stays in its buffer. */
export type JsonOrder = { readonly id: number; readonly body: Uint8Array; readonly largeField: string | undefined };

/** Refusal of a body that cannot be parsed. */
export type JsonRefusal = { readonly code: string; readonly details: ServiceError['details'] };

/** The result. */
export type JsonReading = { readonly id: number } & (LargeJson | { readonly refusal: JsonRefusal });

parentPort?.on('message', ({ id, body, largeField }: JsonOrder) => {
  const reading = read(body, largeField);
  const text = 'text' in reading ? reading.text : undefined;
  if (text !== undefined) return parentPort?.postMessage({ id, ...reading } satisfies JsonReading, [text.buffer as ArrayBuffer]);
  // It may contain a plaintext.
  body.fill(0);
  parentPort?.postMessage({ id, ...reading } satisfies JsonReading, []);
});

function read(body: Uint8Array, largeField: string | undefined): LargeJson | { readonly refusal: JsonRefusal } {
  try {
    return largeField === undefined ? { value: parseJsonObject(body) } : parseAround(body, largeField);
  } catch (error) {
    if (error instanceof ServiceError) return { refusal: { code: error.code, details: error.details } };
    throw error;
  }
}
