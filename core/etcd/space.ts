// The space that etcd has for its data: what it keeps of former revisions is forgotten before its quota is full, and a full one is made usable again.
import type { Log } from '../base/context.ts';
import { reasonOf } from '../base/errors.ts';
import type { EtcdClient } from './client.ts';
import { revisionOf, type StatusAnswer } from './messages.ts';
import { EtcdError } from './outcome.ts';

/** Etcd looks at the size of its file, which only grows: with half of the quota in use, former revisions go. */
const mostInUse = 0.5;
const anyKey = Buffer.from('none');

/** What a server needs, as it says of itself. */
export function spaceWanted({ errors, dbSizeInUse, dbSizeQuota }: StatusAnswer): 'nothing' | 'compaction' | 'room' {
  if (errors.some((error) => error.includes('NOSPACE'))) return 'room';
  const quota = Number(dbSizeQuota);
  // Before 3.6 it does not tell.
  return quota > 0 && Number(dbSizeInUse) > mostInUse * quota ? 'compaction' : 'nothing';
}

/** Forgets all revisions but the present one. Members that have not come so far fetch the whole state. Rejects with EtcdError. */
export async function forgetFormerRevisions(client: EtcdClient): Promise<void> {
  const { header } = await client.range({ key: anyKey, keys_only: true });
  try {
    await client.compact(revisionOf(header.revision));
  } catch (error) {
    // Another one was quicker.
    if (!(error instanceof EtcdError && error.isCompacted)) throw error;
  }
}

/**
 * After the quota was reached, when every change is refused: forgets former revisions, makes the file of each server smaller, and ends the
 * alarm. A server that does not answer is left as it is. While it works on its file, a server answers nothing. Rejects with EtcdError.
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
