// The thread of import-secret-key.ts: reads one private key block.
import { parentPort, workerData } from 'node:worker_threads';
import { defined } from '../../../core/base/defined.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { readSecretBlock, type SecretBlockKey, type SecretBlockOrder } from './secret-block.ts';

/** Refusal of a block that cannot be imported. */
export type SecretBlockRefusal = { readonly code: string; readonly details: ServiceError['details'] };

/** The result. */
export type SecretBlockReading = SecretBlockKey | { readonly refusal: SecretBlockRefusal };

async function read(): Promise<SecretBlockReading> {
  try {
    return await readSecretBlock(workerData as SecretBlockOrder);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { detail, items } = error.details;
    return { refusal: { code: error.code, details: { ...defined({ detail, items }) } } };
  }
}

const reading = await read();
parentPort?.postMessage(reading, []);
