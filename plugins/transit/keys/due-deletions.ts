// The job that deletes keys whose delete-after has passed.
import { randomUUID } from 'node:crypto';
import { refusalOf } from '../../../core/audit/record.ts';
import type { Job } from '../../../core/base/context.ts';
import { ServiceError } from '../../../core/base/errors.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { Transit } from '../context.ts';
import { rememberMaterial } from '../custody/past-material.ts';
import { instantOf, microseconds } from '../instants.ts';
import type { Key } from '../records/keyring.ts';
import type { KeyRecord } from '../records/records.ts';
import { requireRemovable } from '../versions/attached.ts';
import { finishRemoval } from '../versions/removal.ts';
import { removeKeyParts } from './resource.ts';

const everySeconds = 60;

type Due = { readonly tenantId: string; readonly name: string; readonly keyId: string };

/** Deletes each key that is due, with its versions, as a DELETE does. The commit checks again that nobody has taken the deletion back. */
export function dueDeletionsJob(transit: Transit): Job {
  return {
    name: 'transit-due-deletions',
    everySeconds,
    run: async (signal) => {
      transit.store.refresh();
      const now = microseconds(transit.clock.now());
      for (const due of dueAt(transit, now)) {
        if (signal.aborted || refusalOf(transit.audit) !== undefined) return;
        await deleteDue(transit, due, now);
      }
    },
  };
}

function dueAt({ tables }: Transit, now: number): readonly Due[] {
  const due: Due[] = [];
  for (const [[deletesAt, tenantId, name], keyId] of tables.deletions.entries([])) {
    if ((deletesAt as number) > now) break;
    due.push({ tenantId: tenantId as string, name: name as string, keyId });
  }
  return due;
}

async function deleteDue(transit: Transit, { tenantId, name, keyId }: Due, now: number): Promise<void> {
  const { store, tables } = transit;
  const isDue = (record: KeyRecord | undefined): record is KeyRecord => record?.id === keyId && (record.deletesAt ?? Infinity) <= now;
  const log = transit.log.with('transit', tenantId);
  try {
    const key = transit.keyring.find(tenantId, name);
    if (key === undefined || !isDue(key.record)) return;
    await rememberMaterial(transit, key);
    const removed = await store.write((transaction) => {
      const record = transaction.get(tables.keys, [tenantId, name]);
      if (!isDue(record)) return undefined;
      const present: Key = { tenantId, name, record };
      requireRemovable(transit, present, transaction);
      transaction.delete(tables.keys, [tenantId, name]);
      return removeKeyParts(transit, transaction, present);
    });
    if (removed === undefined) return;
    await finishRemoval(transit, { tenantId, record: { id: keyId } }, removed);
    log.info('a transit key was deleted after its delete-after', { key: name });
    await transit.audit.write({
      kind: 'deletion',
      occurredAt: formatTimestamp(instantOf(now)),
      requestId: randomUUID(),
      tenantId,
      path: `/v1/config/keystore/transit-keys/${name}`,
    });
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'internal-error';
    log.warn('a transit key could not be deleted after its delete-after; it is tried again', { key: name, code });
  }
}
