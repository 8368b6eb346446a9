// Fetches the whole state of the shared store at one revision, page by page, into the replica.
import type { EtcdClient } from '../../etcd/client.ts';
import { loadDeadlineMs } from '../../etcd/client.ts';
import { revisionOf } from '../../etcd/messages.ts';
import { EtcdError } from '../../etcd/outcome.ts';
import { firstLevel } from '../../store/records/level.ts';
import { layout, placeOf, readEpoch } from '../layout.ts';
import type { PageRecord, ReplicaWriter } from './replica-writer.ts';

/** Records in a page: with records of 1 KiB, 1 MiB. */
const pageRecords = 1_000;
/** Number of tries: compaction may overtake a load, which then begins again. */
const mostTries = 5;

/** Loads the whole state. Resolves with the new revision of the replica. */
export async function loadReplica(client: EtcdClient, writer: ReplicaWriter, epoch: string): Promise<number> {
  for (let left = mostTries; ; left--) {
    try {
      return await loadOnce(client, writer, epoch);
    } catch (error) {
      if (left <= 1 || !(error instanceof EtcdError && error.isCompacted)) throw error;
    }
  }
}

async function loadOnce(client: EtcdClient, writer: ReplicaWriter, epoch: string): Promise<number> {
  await writer.beginFilling(epoch);
  let revision = 0;
  let after: string | undefined;
  for (let hasMore = true; hasMore;) {
    const { header, kvs, more } = await client.range({ ...rangeAfter(after), limit: pageRecords, revision }, loadDeadlineMs);
    if (revision === 0) revision = revisionOf(header.revision);
    const page = kvs.flatMap(({ key, value, mod_revision: modified }): PageRecord[] => {
      const place = placeOf(key);
      return place.kind === 'record' ? [{ text: place.text, sealed: value, revision: revisionOf(modified) }] : [];
    });
    hasMore = more;
    await writer.fillPage(page, after, !hasMore);
    after = page.at(-1)?.text;
  }
  const { kvs } = await client.range({ key: layout.epoch, revision }, loadDeadlineMs);
  const level = kvs[0] === undefined ? firstLevel : readEpoch(kvs[0].value).level;
  await writer.filled({ epoch, revision, level });
  return revision;
}

function rangeAfter(text: string | undefined): { readonly key: Uint8Array; readonly range_end: Uint8Array } {
  if (text === undefined) return layout.records;
  return { key: Buffer.concat([layout.record(text), Buffer.of(0)]), range_end: layout.records.range_end };
}
