// A lane: a worker thread of the host with its own sessions and loaded keys, for jobs that would block the host's main thread.
import { parentPort, workerData } from 'node:worker_threads';
import { Engine, LoginNeeded, type EngineOptions } from '../engine/engine.ts';
import { HsmError } from '../api.ts';
import { asHsmError, encodeError } from '../protocol/error-coding.ts';
import { performAll } from './perform.ts';
import type { KeyIdentity } from '../protocol/key-encoding.ts';
import { withStartLock } from '../files/start-lock.ts';
import { CKR_SESSION_COUNT, TokenError } from '../pkcs11/return-values.ts';
import { findTokenFiles } from '../files/softhsm.ts';
import {
  decodeMessage,
  encodeMessages,
  json,
  resultError,
  resultLoginNeeded,
  resultModuleBroken,
  resultNoSession,
  type Message,
  type ReceivedMessage,
} from '../protocol/wire.ts';

/** Message from a lane: one result, and the number of keys it has loaded. */
export type LaneAnswer = { readonly result: Uint8Array; readonly loadedKeys: number };

/** Message to a lane: one job, or a key to drop. */
export type LaneOrder = { readonly job: Uint8Array } | { readonly forget: KeyIdentity };

Error.stackTraceLimit = 0;

let engine: Engine | undefined;

parentPort?.on('message', (order: LaneOrder) => {
  if ('forget' in order) {
    engine?.forgetKey(order.forget);
    return;
  }
  const result = encodeMessages([run(decodeMessage(order.job))]);
  parentPort?.postMessage({ result, loadedKeys: engine?.loadedKeys ?? 0 } satisfies LaneAnswer, [result.buffer]);
});

function run(job: ReceivedMessage): Message {
  try {
    const options = workerData as EngineOptions;
    // Reading the token's file while another process rewrites it would lose the token for the whole process.
    engine ??= withStartLock(options.token, () => new Engine(options));
  } catch (error) {
    if (error instanceof TokenError && error.rv === CKR_SESSION_COUNT)
      return { id: job.id, code: resultNoSession, flags: 0, micros: 0, parts: [] };
    // Without the token's files only the keys that other threads have loaded still work, so the host continues.
    const damage = findTokenFiles((workerData as EngineOptions).token)?.damage();
    if (damage !== undefined) return failed(job, new HsmError('unavailable', damage));
    const code = error instanceof LoginNeeded ? resultLoginNeeded : resultModuleBroken;
    return { id: job.id, code, flags: 0, micros: 0, parts: [json({ message: asHsmError(error).message })] };
  }
  return performAll(engine, [job])[0] as Message;
}

function failed(job: ReceivedMessage, error: HsmError): Message {
  return { id: job.id, code: resultError, flags: 0, micros: 0, parts: [encodeError(error)] };
}
