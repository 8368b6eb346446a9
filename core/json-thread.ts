// The thread of json-reader.ts: reads one body after another with the rules of json.ts.
import { parentPort } from 'node:worker_threads';
import { ServiceError } from './errors.ts';
import { parseJsonObject, type JsonObject } from './json.ts';

/** A body to read. */
export type JsonOrder = { readonly id: number; readonly body: Uint8Array };

/** What became of it; `refusal` is the detail of an `invalid-json`. */
export type JsonReading = { readonly id: number } & ({ readonly value: JsonObject } | { readonly refusal: string | undefined });

parentPort?.on('message', ({ id, body }: JsonOrder) => {
  const reading: JsonReading = { id, ...read(body) };
  // It may have carried a plaintext.
  body.fill(0);
  parentPort?.postMessage(reading, []);
});

function read(body: Uint8Array): { readonly value: JsonObject } | { readonly refusal: string | undefined } {
  try {
    return { value: parseJsonObject(body) };
  } catch (error) {
    if (error instanceof ServiceError) return { refusal: error.details.detail };
    throw error;
  }
}
