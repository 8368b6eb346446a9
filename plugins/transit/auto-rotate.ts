// The job that rotates keys when rotate-after has passed. Deadlines of old versions need no job: version-rules.ts applies them at use.
import { randomUUID } from 'node:crypto';
import { refusalOf } from '../../core/audit/record.ts';
import type { Job } from '../../core/base/context.ts';
import { ServiceError } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { HsmError } from '../../hsm/api.ts';
import { requireRotatable } from './actions/rotate.ts';
import { putIndexed } from './records/indexes.ts';
import { instantOf, microseconds } from './instants.ts';
import { addVersion } from './versions/new-version.ts';
import { finishRemovals } from './versions/removal.ts';
import type { KeyRecord } from './records/records.ts';
import type { Transit } from './context.ts';

const everySeconds = 60;

type Due = { readonly rotatesAt: number; readonly tenantId: string; readonly name: string; readonly keyId: string };

/**
 * Rotates each key that is due once, however many intervals were missed while the appliance was off. Safe in several workers:
 * the commit checks again that the rotation is due. A key that cannot be rotated does not stop the others.
 */
export function autoRotateJob(transit: Transit): Job {
  let lastRun: number | undefined;
  return {
    name: 'transit-auto-rotate',
    everySeconds,
    run: async (signal) => {
      const now = microseconds(transit.clock.now());
      await transit.ledger.sweep();
      await finishRemovals(transit);
      if (lastRun === undefined || now < lastRun) await correctDueTimes(transit, now);
      lastRun = now;
      for (const due of dueAt(transit, now)) {
        if (signal.aborted || refusalOf(transit.audit) !== undefined || (await rotateDue(transit, due, now)) === 'token-away') return;
      }
    },
  };
}

// Entries up to now, oldest first. Collected first, because rotating changes the index.
function dueAt(transit: Transit, now: number): readonly Due[] {
  const due: Due[] = [];
  for (const [[rotatesAt, tenantId, name], keyId] of transit.tables.rotations.entries([])) {
    if ((rotatesAt as number) > now) break;
    due.push({ rotatesAt: rotatesAt as number, tenantId: tenantId as string, name: name as string, keyId });
  }
  return due;
}

async function rotateDue(transit: Transit, { tenantId, name, keyId }: Due, now: number): Promise<'done' | 'token-away'> {
  const stillDue = (record: KeyRecord): boolean => record.id === keyId && record.rotatesAt !== undefined && record.rotatesAt <= now;
  const log = transit.log.with('transit', tenantId);
  try {
    const version = await addVersion(transit, tenantId, name, now, requireRotatable, stillDue);
    if (version === undefined) return 'done';
    log.info('a transit key was rotated by its timer', { key: name, version });
    await transit.audit.write({
      kind: 'rotation',
      occurredAt: formatTimestamp(instantOf(now)),
      requestId: randomUUID(),
      tenantId,
      path: `/v1/state/keystore/transit-keys/${name}/rotate`,
      keyVersion: version,
    });
  } catch (error) {
    const code = error instanceof HsmError ? error.kind : error instanceof ServiceError ? error.code : 'internal-error';
    if (code === 'not-found') return 'done';
    log.warn('a transit key could not be rotated by its timer; it is tried again', { key: name, code });
    if (code === 'unavailable' || code === 'timeout' || code === 'pin-refused') return 'token-away';
  }
  return 'done';
}

// Corrects due times that are later than one interval from now, after a clock that was ahead is corrected: they count from now.
async function correctDueTimes(transit: Transit, now: number): Promise<void> {
  const { tables } = transit;
  for (const [[rotatesAt, tenantId, name]] of tables.rotations.entries([])) {
    const record = tables.keys.get([tenantId as string, name as string]);
    if (record?.timers === undefined || (rotatesAt as number) <= now + record.timers.rotate) continue;
    await transit.store.write((transaction) => {
      const current = transaction.get(tables.keys, [tenantId as string, name as string]);
      if (current?.timers === undefined || current.rotatesAt !== rotatesAt) return;
      const key = { tenantId: tenantId as string, name: name as string, record: current };
      putIndexed(transit, transaction, key, { ...current, rotatesAt: now + current.timers.rotate });
    });
  }
}
