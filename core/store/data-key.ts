// Checks that a data key is the one with which the store was created, before anything is read or written with it.
import { dirname } from 'node:path';
import { decodeUtf8, encodeUtf8 } from '../base/bytes.ts';
import { syncPath } from '../base/durable-files.ts';
import type { Environment } from './environment.ts';
import { StoreDamaged } from './files/store-damaged.ts';
import { keyBytes } from './keys.ts';
import type { Sealer } from './records/sealing.ts';
import { positionOf, sealedPart } from './replica.ts';

/** Text of the key of the proof: the only entry besides the records of tables that replicas have in common. */
export const proofText = '\u0002format';
const proofKey = keyBytes(proofText);
/** The text of the proof: the version of the store's format. */
const proof = 'keystored store 1';

/**
 * Seals a proof into a new store; for an existing store, rejects unless the proof opens and names this format. A replica takes over the proof of
 * the store it follows, so it is never new.
 */
export async function proveDataKey(environment: Environment, sealer: Sealer, directory: string): Promise<void> {
  if (environment.get(proofKey) === undefined) {
    if (positionOf(environment) !== undefined) throw new StoreDamaged(`the store in ${directory} is a replica that was not filled`);
    await environment.commit(() => {
      // Another process may have written it first.
      if (environment.get(proofKey) === undefined) environment.put(proofKey, sealer.seal(encodeUtf8(proof), proofKey));
    });
    await syncPath(directory);
    await syncPath(dirname(directory));
  }
  environment.refresh(proofKey, () => true);
  const opened = sealer.open(sealedPart(environment.get(proofKey) ?? new Uint8Array()), proofKey);
  if (opened === undefined) {
    throw new StoreDamaged(`the data key does not open the store in ${directory}: it belongs to another store, or the store was changed`);
  }
  if (decodeUtf8(opened) !== proof) {
    throw new StoreDamaged(`the store in ${directory} was written by a newer version: it says "${decodeUtf8(opened)}", not "${proof}"`);
  }
}
