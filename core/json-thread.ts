// The thread of json-reader.ts: reads one body after another with the rules of json.ts and answers in the same order.
import { parentPort } from 'node:worker_threads';
import { ServiceError } from './errors.ts';
import { parseJsonObject, type JsonObject } from './json.ts';

/** What became of a body; `refusal` is the detail of an `invalid-json`. */
export type JsonReading = { readonly value: JsonObject } | { readonly refusal: string | undefined };

parentPort?.on('message', (body: Uint8Array) => {
  const reading = read(body);
  // It may have carried a plaintext.
  body.fill(0);
  parentPort?.postMessage(reading, []);
});

function read(body: Uint8Array): JsonReading {
  try {
    return { value: parseJsonObject(body) };
  } catch (error) {
    if (error instanceof ServiceError) return { refusal: error.details.detail };
    throw error;
  }
}
