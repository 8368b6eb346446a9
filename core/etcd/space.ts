// Space of etcd for its data: compacts former revisions before the quota is full, and makes a full etcd usable again.
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import type { EtcdClient } from './client.ts';
import { revisionOf, type StatusAnswer } from './messages.ts';
import { EtcdError } from './outcome.ts';

/** Share of the quota in use above which former revisions are compacted: etcd compares the size of its file, which only grows. */
const mostInUse = 0.5;
const anyKey = Buffer.from('none');

/** Returns the measure that a server needs, from its status. */
export function spaceWanted({ errors, dbSizeInUse, dbSizeQuota }: StatusAnswer): 'nothing' | 'compaction' | 'room' {
  if (errors.some((error) => error.includes('NOSPACE'))) return 'room';
  const quota = Number(dbSizeQuota);
  // Versions before 3.6 do not report it.
  return quota > 0 && Number(dbSizeInUse) > mostInUse * quota ? 'compaction' : 'nothing';
}

/** Compacts all revisions but the present one. Followers behind it fetch the whole state. Rejects with EtcdError. */
export async function forgetFormerRevisions(client: EtcdClient): Promise<void> {
  const { header } = await client.range({ key: anyKey, keys_only: true });
  try {
    await client.compact(revisionOf(header.revision));
  } catch (error) {
    // Another appliance was quicker.
    if (!(error instanceof EtcdError && error.isCompacted)) throw error;
  }
}

/**
 * Restores an etcd that has reached its quota and refuses every change: compacts former revisions, shrinks the file of each server, and ends the
 * alarm. A server that does not answer is skipped. While it works on its file, a server does not answer. Rejects with EtcdError.
 */
export async function makeRoom(client: EtcdClient, log: Log): Promise<void> {
  log.error('etcd has reached its quota and refuses changes: former revisions are forgotten, and its files made smaller');
  await forgetFormerRevisions(client);
  for (const endpoint of client.endpoints) {
    try {
      await client.defragment(endpoint);
    } catch (error) {
      log.warn('the file of a member of etcd was not made smaller', { endpoint, reason: reasonOf(error) });
    }
  }
  await client.endNoSpaceAlarms();
  log.info('etcd takes changes again');
}
