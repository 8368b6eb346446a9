// Makes the shared store of a cluster from the store of its first appliance.
import { randomUUID } from 'node:crypto';
import { keyBytes } from '../store/keys.ts';
import { sealedPart } from '../store/replica.ts';
import { loadDeadlineMs, type EtcdClient } from '../etcd/client.ts';
import { type Compare, noneOf, type Operation, put, read, remove, revisionOf, unchangedSince } from '../etcd/messages.ts';
import { type Epoch, epochValue, layout, readEpoch } from './layout.ts';
import type { ReplicaWriter } from './replica/replica-writer.ts';
import { batchLimits } from './transaction.ts';

/** Description of a shared store: its epoch (a random text), the level of its records, and its wrapped keys, which this floor cannot read. */
export type SharedStoreSeen = Epoch & { readonly wrappedKeys: Uint8Array };

/** Finds the shared store; undefined while none exists. */
export async function findSharedStore(client: EtcdClient): Promise<SharedStoreSeen | undefined> {
  const { responses } = await client.readTxn({
    compare: [],
    success: [read({ key: layout.epoch }), read({ key: layout.wrappedKeys })],
    failure: [],
  });
  const [epoch, wrappedKeys] = responses.map((one) => one.response_range?.kvs[0]?.value);
  if (epoch === undefined) return undefined;
  if (wrappedKeys === undefined) throw new Error('the shared store in etcd has lost its wrapped keys: restore a backup');
  return { ...readEpoch(epoch), wrappedKeys };
}

/**
 * Puts every record of a store into an etcd without a shared store, and last of all epoch and wrapped keys, which make it one. After an
 * interruption it begins again. If two appliances bootstrap at the same time, the later one continues and the other rejects, because each
 * transaction compares the founder. `level`: that of this program, because the records of a single appliance have it.
 */
export async function bootstrapSharedStore(
  client: EtcdClient,
  writer: ReplicaWriter,
  { wrappedKeys, level }: Omit<SharedStoreSeen, 'epoch'>,
): Promise<SharedStoreSeen> {
  const epoch = randomUUID();
  const mine = await commit(client, [noneOf({ key: layout.epoch })], [put(layout.bootstrap, keyBytes(epoch)), remove(layout.records)]);
  const isMine: Compare[] = [unchangedSince(layout.bootstrap, mine)];
  for (const batch of batchesOf(writer)) await commit(client, isMine, batch);
  // After an interruption behind the epoch, the next start must know that the shared store was made of the local records.
  await writer.beginBootstrap(epoch);
  const last = [put(layout.epoch, epochValue({ epoch, level })), put(layout.wrappedKeys, wrappedKeys)];
  await commit(client, [...isMine, noneOf({ key: layout.epoch })], last);
  return { epoch, level, wrappedKeys };
}

/**
 * Commits a transaction of the bootstrap. An unknown outcome ends it: the next one begins again, and late transactions compare the
 * former founder.
 */
async function commit(client: EtcdClient, compare: readonly Compare[], success: readonly Operation[]): Promise<number> {
  const { succeeded, header } = await client.txn({ compare, success, failure: [] }, loadDeadlineMs);
  if (!succeeded) throw new Error('another appliance makes the shared store at this moment, or has made it: start this one again');
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
