// Makes the shared store of a cluster from the store of its first appliance.
import { randomUUID } from 'node:crypto';
import { keyBytes } from '../store/keys.ts';
import { sealedPart } from '../store/replica.ts';
import { loadDeadlineMs, type EtcdClient } from '../etcd/client.ts';
import { type Compare, noneOf, type Operation, put, remove, revisionOf, unchangedSince } from '../etcd/messages.ts';
import { layout } from './layout.ts';
import type { ReplicaWriter } from './replica-writer.ts';
import { batchLimits } from './transaction.ts';

/** The random text that names the shared store; undefined while there is none. */
export async function findEpoch(client: EtcdClient): Promise<string | undefined> {
  const { kvs } = await client.range({ key: layout.epoch });
  return kvs[0]?.value.toString('utf8');
}

/**
 * Puts every record of a store into an etcd that has no shared store, and last of all the epoch, which makes it one. Cut off, it begins
 * again. Of two appliances that found at the same time, the later one goes on and the other rejects, because each transaction compares
 * who it is that founds. Resolves with the epoch.
 */
export async function foundSharedStore(client: EtcdClient, writer: ReplicaWriter): Promise<string> {
  const epoch = randomUUID();
  const mine = await commit(client, [noneOf({ key: layout.epoch })], [put(layout.founding, keyBytes(epoch)), remove(layout.records)]);
  const isMine: Compare[] = [unchangedSince(layout.founding, mine)];
  for (const batch of batchesOf(writer)) await commit(client, isMine, batch);
  // Cut off after the epoch, the next start must know that what it finds in etcd was made of the records that are here.
  await writer.beginFounding(epoch);
  await commit(client, [...isMine, noneOf({ key: layout.epoch })], [put(layout.epoch, keyBytes(epoch))]);
  return epoch;
}

/** Unknown outcomes end the founding: the next one begins again, and what is still on its way compares a founder that is no more. */
async function commit(client: EtcdClient, compare: readonly Compare[], success: readonly Operation[]): Promise<number> {
  const { succeeded, header } = await client.txn({ compare, success, failure: [] }, loadDeadlineMs);
  if (!succeeded) throw new Error('another appliance makes the shared store at this moment, or has made it');
  return revisionOf(header.revision);
}

function* batchesOf(writer: ReplicaWriter): Iterable<Operation[]> {
  let batch: Operation[] = [];
  let bytes = 0;
  for (const { text, sealed } of writer.records()) {
    if (batch.length > 0 && (batch.length >= batchLimits.operations || bytes + sealed.length > batchLimits.bytes)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(put(layout.record(text), sealedPart(sealed)));
    bytes += sealed.length;
  }
  if (batch.length > 0) yield batch;
}
