// Records of a restoration: the backup, or the surviving appliance of a cluster, to whose state this appliance went back.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { voidApprovals } from '../../core/approvals/ending.ts';
import { forgetPublished, type TableKinds } from '../../core/store/records/table-kinds.ts';
import type { HeadEntry } from '../../core/audit/line.ts';
import type { Clock } from '../../core/base/context.ts';
import { fail } from '../../core/base/errors.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import type { OpenStore } from '../../core/store/open.ts';
import type { Store, Table } from '../../core/store/store.ts';
import { noteFinding } from '../findings/findings.ts';
import { paths } from '../data-directory/paths.ts';

/** Facts about the source when the store is put in place. Absent fields are unknown: those of a backup of format 1, for instance. */
const source = z.object({
  /** when that was done */
  at: z.string(),
  /** `replica`: the replica of the survivor of a cluster */
  from: z.enum(['backup', 'replica']),
  madeAt: z.string().exactOptional(),
  /** first host name of the appliance that made the backup, and the version of its program */
  madeBy: z.string().exactOptional(),
  version: z.string().exactOptional(),
  /** SHA-256 of the file and of its manifest, hexadecimal */
  digest: z.string().exactOptional(),
  manifest: z.string().exactOptional(),
  /** proof of who made it, and the audit key that signed it */
  origin: z.enum(['proven', 'unproven', 'unsigned']).exactOptional(),
  keyId: z.string().exactOptional(),
  /** of the survivor: its former identity, and up to which revision it had the shared store */
  appliance: z.string().exactOptional(),
  revision: z.int().exactOptional(),
});
export type RestorationSource = z.output<typeof source>;

/** `heads`: of the former audit trail, as the store remembers them. `isInTrail`: the new one begins with it. */
type Restoration = RestorationSource & { readonly heads: readonly HeadEntry[]; readonly isInTrail?: true };

/** ['latest'] */
const table = (store: Store): Table<Restoration> => store.table<Restoration>('restorations');
const key = ['latest'];
/** That the store went back in time concerns everybody who has it. */
export const restorationTableKinds: TableKinds = { restorations: { of: 'all' } };

/** Exists in the directory of the trail from then on, until the first start. */
export function restoredMark(data: string): string {
  return join(paths.audit(data), 'restored');
}

export function formatMark(content: RestorationSource): string {
  return `${JSON.stringify(content)}\n`;
}

/** Undefined where there is no mark. Of one that an earlier version has written only the time of this start is known. */
export function readMark(data: string, clock: Clock): RestorationSource | undefined {
  const file = restoredMark(data);
  if (!existsSync(file)) return undefined;
  try {
    return source.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return { at: formatTimestamp(clock.now()), from: 'backup' };
  }
}

/** Notes it in the store, where it is a finding until somebody has answered it. The store may have published later records. */
export async function noteRestoration(
  store: OpenStore,
  { clock, kinds }: { readonly clock: Clock; readonly kinds: TableKinds },
  from: RestorationSource,
  heads: readonly HeadEntry[],
): Promise<void> {
  await forgetPublished(store, kinds);
  // One that was used after the backup would be good again.
  await voidApprovals(store, clock.now());
  const what =
    from.from === 'replica' ? 'what one appliance of its cluster had' : `a backup${from.madeAt === undefined ? '' : ` of ${from.madeAt}`}`;
  const message = `the appliance was restored from ${what}, so that what was revoked, ended or used up since then is good again`;
  await store.write((transaction) => {
    // An interrupted start has noted them, and dropped them from their former place.
    const before = transaction.get(table(store), key);
    transaction.put(table(store), key, { ...from, heads: before?.at === from.at && heads.length === 0 ? before.heads : heads });
    noteFinding(transaction, store, clock, { name: 'restored', message });
  });
}

/** First record for the new audit trail; undefined if it is already written, or nothing was restored. */
export function noteForTrail(store: Store): object | undefined {
  store.refresh();
  const restoration = table(store).get(key);
  if (restoration === undefined || restoration.isInTrail === true) return undefined;
  const { at, ...fields } = restoration;
  return { kind: 'trail', occurredAt: at, event: 'restored', ...fields };
}

export async function markInTrail(store: Store): Promise<void> {
  await store.write((transaction) => {
    const present = transaction.get(table(store), key);
    if (present !== undefined) transaction.put(table(store), key, { ...present, isInTrail: true });
  });
}

/**
 * Start of the time in which the restored appliance made everything: a clock that is behind the backup must not hide its entries. Throws
 * `operation-refused`.
 */
export function requireRestoration(store: Store): Temporal.Instant {
  store.refresh();
  const found = table(store).get(key);
  if (found === undefined) throw fail('operation-refused', { detail: 'This appliance was not restored.' });
  const [at, madeAt] = [Temporal.Instant.from(found.at), Temporal.Instant.from(found.madeAt ?? found.at)];
  return Temporal.Instant.compare(at, madeAt) < 0 ? madeAt : at;
}
